# Headers that most sources read, compiled once for all of them: one set each for the library, for loops of an instruction
# set, and for tests. ccache needs to be told that it may take objects that were made with them (CMakeLists.txt).
option(FARFIELD_PRECOMPILE "Compile headers that most sources read once for all" ON)

# The headers of the target `owner`, which is compiled as the targets are that take them from it.
function(farfield_precompiled owner)
  if(NOT FARFIELD_PRECOMPILE)
    return()
  endif()
  target_precompile_headers(${owner} PRIVATE ${ARGN})
  farfield_cached_precompiled(${owner})
endfunction()

function(farfield_precompiled_from owner target)
  if(NOT FARFIELD_PRECOMPILE)
    return()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
  farfield_cached_precompiled(${target})
endfunction()

# What ccache asks of each compiler (its manual, "Precompiled headers").
function(farfield_cached_precompiled target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>
    "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()
