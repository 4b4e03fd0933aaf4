# The install target: headers, library, program, man page and completions where they exist, and a package that
# `find_package(farfield)` finds. Components: Development, Runtime, and python (the wheel takes only that one).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(farfield PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/farfield)

install(TARGETS farfield EXPORT farfield_targets COMPONENT Development
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Runtime NAMELINK_COMPONENT Development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Development)
if(TARGET farfield_mpi) # which the library loads from beside itself, or the program from the folder of libraries
  install(TARGETS farfield_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Runtime)
endif()
install(DIRECTORY include/farfield DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT Development
  FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/include/farfield/version.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/farfield COMPONENT Development)
install(EXPORT farfield_targets NAMESPACE farfield:: DESTINATION ${package_dir} COMPONENT Development)

get_target_property(library_type farfield TYPE)
set(FARFIELD_IS_STATIC OFF)
if(library_type STREQUAL "STATIC_LIBRARY")
  set(FARFIELD_IS_STATIC ON)
endif()
configure_package_config_file(cmake/farfieldConfig.cmake.in ${PROJECT_BINARY_DIR}/farfieldConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a new minor version may change the API.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/farfieldConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/farfieldConfig.cmake ${PROJECT_BINARY_DIR}/farfieldConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT Development)

if(TARGET farfield_app)
  file(RELATIVE_PATH bin_to_lib /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(farfield_app PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_lib}")
  install(TARGETS farfield_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT Runtime)
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT Development)
