# What `cmake --install` puts where: headers, both libraries, pkg-config and CMake packages, the tool with its man
# page and bash completion (both printed by the tool from its table of commands), and the licence.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Sluice)
install(DIRECTORY include/sluice TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(TARGETS sluice_shared EXPORT SluiceTargets)
install(TARGETS sluice_static)
install(EXPORT SluiceTargets NAMESPACE Sluice:: DESTINATION ${package_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(cmake/SluiceConfig.cmake.in ${PROJECT_BINARY_DIR}/SluiceConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SluiceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SluiceConfig.cmake ${PROJECT_BINARY_DIR}/SluiceConfigVersion.cmake
        DESTINATION ${package_dir})

# Relative to the .pc file, so that the installed tree can be moved.
file(RELATIVE_PATH pc_prefix /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
configure_file(cmake/sluice.pc.in ${PROJECT_BINARY_DIR}/sluice.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sluice.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET sluice)
  install(TARGETS sluice)
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/sluice.1 DEPENDS sluice VERBATIM
                     COMMAND sluice --man > ${PROJECT_BINARY_DIR}/sluice.1)
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/sluice.bash DEPENDS sluice VERBATIM
                     COMMAND sluice --completion > ${PROJECT_BINARY_DIR}/sluice.bash)
  add_custom_target(tool_documents ALL DEPENDS ${PROJECT_BINARY_DIR}/sluice.1 ${PROJECT_BINARY_DIR}/sluice.bash)
  install(FILES ${PROJECT_BINARY_DIR}/sluice.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${PROJECT_BINARY_DIR}/sluice.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME sluice)
endif()
