# farfield_gpu_program(NAME FILES…): a program for a GPU machine that may be bare: all but the C library is linked
# statically, so that the file alone can be carried there (tools/device_bundle.sh).
find_library(FARFIELD_FMT_STATIC libfmt.a)

function(farfield_gpu_program name)
  add_executable(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/gpu)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_BINARY_DIR}/include ${PROJECT_SOURCE_DIR}/tests/gpu/direct)
  add_dependencies(${name} farfield)
  # the archive itself, not the target: what the program does not use (HDF5, libpng) stays off its link line
  target_link_libraries(${name} PRIVATE farfield_flags $<TARGET_FILE:farfield> ${FARFIELD_FMT_STATIC} CUDA::cudart_static)
  target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc -Wl,--as-needed)
endfunction()
