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

  set(names "")
  foreach(file IN LISTS ordered)
    get_filename_component(name ${file} NAME_WE)
    list(APPEND names ${name})
  endforeach()
  sluice_embed(${PROJECT_BINARY_DIR}/embedded_targets.c target/embedded.h sl_embedded_target "${ordered}" "${names}")
  set(${variable} ${PROJECT_BINARY_DIR}/embedded_targets.c PARENT_SCOPE)
endfunction()

# sluice_embed_page(VAR): the same for the parts of the report's page, as declared in src/view/embedded.h.
function(sluice_embed_page variable)
  set(parts css html js)
  list(TRANSFORM parts PREPEND ${PROJECT_SOURCE_DIR}/src/view/page. OUTPUT_VARIABLE files)
  sluice_embed(${PROJECT_BINARY_DIR}/embedded_page.c view/embedded.h sl_embedded_page "${files}" "${parts}")
  set(${variable} ${PROJECT_BINARY_DIR}/embedded_page.c PARENT_SCOPE)
endfunction()

function(sluice_embed output header type files names)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  add_custom_command(OUTPUT ${output} DEPENDS ${files} ${script} VERBATIM
                     COMMENT "Embedding what ${header} declares"
                     COMMAND ${CMAKE_COMMAND} "-DFILES=${files}" "-DNAMES=${names}" -DHEADER=${header} -DTYPE=${type}
                             -DOUTPUT=${output} -P ${script})
endfunction()
