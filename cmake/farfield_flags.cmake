# Flags of every target of ours: warnings, reproducible floating point, sanitizers. Link `farfield_flags` PRIVATE.
add_library(farfield_flags INTERFACE)
target_compile_options(farfield_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  -ffp-contract=off        # an FMA is written out where it is wanted; the compiler adds none, so bits do not move
  -fno-math-errno -fno-trapping-math>
  # GCC collects its own garbage twenty times a source by default, which takes 5 % of the time and saves 50 MB
  $<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<CXX_COMPILER_ID:GNU>>:--param=ggc-min-heapsize=1500000>
  # Clang's also warns of double to long double, which oracles need
  $<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<CXX_COMPILER_ID:GNU>>:-Wdouble-promotion>)
target_compile_options(farfield_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-ffp-contract=off -O3>)
set(FARFIELD_SANITIZE_EXCEPT "" CACHE STRING "Checks of these sanitizers that are left out, e.g. object-size")
option(FARFIELD_SANITIZE_ALL "Sanitizers watch the scalar forms of loops, and tests of accuracy (tests/oracle), as well" ON)
if(FARFIELD_SANITIZE)
  set(watched "$<NOT:$<BOOL:$<TARGET_PROPERTY:FARFIELD_UNWATCHED>>>")
  target_compile_options(farfield_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer>
    $<$<AND:$<COMPILE_LANGUAGE:C,CXX>,${watched}>:-fsanitize=${FARFIELD_SANITIZE} -fno-sanitize-recover=all>)
  if(FARFIELD_SANITIZE_EXCEPT)
    target_compile_options(farfield_flags INTERFACE $<$<AND:$<COMPILE_LANGUAGE:C,CXX>,${watched}>:-fno-sanitize=${FARFIELD_SANITIZE_EXCEPT}>)
  endif()
  target_link_options(farfield_flags INTERFACE -fsanitize=${FARFIELD_SANITIZE})
  find_program(FARFIELD_LLD ld.lld)
  if(FARFIELD_LLD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang") # in a fifth of the time
    target_link_options(farfield_flags INTERFACE -fuse-ld=lld)
  endif()
  if(FARFIELD_SANITIZE MATCHES "fuzzer") # which looks at how far it gets where files are read, and in no test
    target_compile_options(farfield_flags INTERFACE
      $<${watched}:$<IF:$<BOOL:$<TARGET_PROPERTY:FARFIELD_IS_TEST>>,-fno-sanitize=fuzzer-no-link,-fsanitize-coverage-allowlist=${CMAKE_CURRENT_LIST_DIR}/fuzzed_sources.txt>>)
  endif()
endif()
