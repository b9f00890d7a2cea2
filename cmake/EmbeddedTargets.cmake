# sluice_embed_targets(VAR): a source file, made at build time, that holds the machine descriptions of
# targets/*.target as declared in src/target/embedded.h. The listed ones come first, in this order; further ones
# follow by name.
function(sluice_embed_targets variable)
  set(order trn1 trn2 generic generic-weak)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/targets/*.target)
  set(ordered "")
  foreach(name IN LISTS order)
    set(file ${PROJECT_SOURCE_DIR}/targets/${name}.target)
    if(file IN_LIST files)
      list(APPEND ordered ${file})
    endif()
  endforeach()
  list(APPEND ordered ${files})
  list(REMOVE_DUPLICATES ordered)

  set(script ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  set(output ${PROJECT_BINARY_DIR}/embedded_targets.c)
  add_custom_command(OUTPUT ${output} DEPENDS ${ordered} ${script} VERBATIM
                     COMMENT "Embedding the machine descriptions"
                     COMMAND ${CMAKE_COMMAND} "-DFILES=${ordered}" -DOUTPUT=${output} -P ${script})
  set(${variable} ${output} PARENT_SCOPE)
endfunction()
