# farfield_gpu_program(NAME FILES…): a program for a GPU machine. It links the library statically, so that of the shared
# libraries only those remain that it really uses; tools/device_bundle.sh takes these along.
function(farfield_gpu_program name)
  add_executable(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/gpu)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests
    ${PROJECT_SOURCE_DIR}/tests/gpu/direct)
  target_link_libraries(${name} PRIVATE farfield farfield_flags CUDA::cudart_static)
  target_link_options(${name} PRIVATE -Wl,--as-needed)
endfunction()
