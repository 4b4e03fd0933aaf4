# farfield_gpu_program(NAME FILES…): a program for a GPU machine that may be bare: all but the C library is linked
# statically, so that the file alone can be carried there (tools/device_bundle.sh). It links the GPU code alone, not the
# library, which would bring HDF5 and libpng along.
if(NOT TARGET farfield_gpu_code)
  set(source ${PROJECT_SOURCE_DIR}/src)
  add_library(farfield_gpu_code STATIC EXCLUDE_FROM_ALL ${source}/backend/cuda/devices.cpp ${source}/sums/names.cpp
    ${source}/sums/direct/cuda/rungs.cpp ${source}/sums/direct/cuda/device_sum.cu ${source}/sums/direct/cuda/ladder.cu
    ${source}/sums/direct/cuda/register_tile.cu ${source}/sums/direct/cuda/symmetric.cu)
  target_include_directories(farfield_gpu_code PUBLIC ${source} ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_BINARY_DIR}/include ${PROJECT_SOURCE_DIR}/tests/gpu/direct)
  target_compile_features(farfield_gpu_code PUBLIC cxx_std_20)
  target_link_libraries(farfield_gpu_code PUBLIC farfield_flags CUDA::cudart_static)
endif()

function(farfield_gpu_program name)
  add_executable(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/gpu)
  target_link_libraries(${name} PRIVATE farfield_gpu_code)
  target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc -Wl,--as-needed)
endfunction()
