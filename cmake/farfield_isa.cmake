# Sources compiled once for each instruction set.
#
#   farfield_isa_sources(one_sided.cpp ENTRY ff_one_sided)
#
# compiles one_sided.cpp of the calling folder four times and adds the objects to the library:
#   scalar   FF_ISA_SCALAR   baseline flags, an ordinary source of the library
#   sse42    FF_ISA_SSE42    -msse4.2
#   avx2     FF_ISA_AVX2     -mavx2 -mfma
#   avx512   FF_ISA_AVX512   -mavx512{f,cd,dq,bw,vl} -mfma
# FF_ISA is the lower-case name. The source defines one function, extern "C" void FF_ISA_ENTRY(ff_one_sided)(…),
# which becomes ff_one_sided_<isa> (backend/simd/value.h): that symbol is the only one that the object shows. Whoever calls it has asked
# is_available() first.
#
# ISAS limits the list: farfield_isa_sources(plain_avx512.cpp ENTRY ff_plain ISAS avx512). TARGET names another library
# than farfield. PLAIN sources take no precompiled headers: theirs are few, and they may have flags of their own.
#
# Why the detour over ld -r and objcopy: an object with -mavx512f also contains inline functions and templates
# (std::min, std::vector, …) as COMDAT sections. The linker keeps one copy of each for the whole program, and if
# it is the AVX-512 one, code that runs on every machine stops with an illegal instruction. `ld -r
# --force-group-allocation` turns COMDAT sections into ordinary ones, `objcopy --keep-global-symbol` makes
# everything but the entry local; so nothing leaves the object.
# Finished objects lie at <build>/isa/ff_<what>_<isa>.o; their raw parts in object libraries
# ff_<what>_<isa>_raw. The check that no wide instruction is outside of them relies on those names.

set(FARFIELD_ISA_FLAGS_sse42 -msse4.2)
set(FARFIELD_ISA_FLAGS_avx2 -mavx2 -mfma)
set(FARFIELD_ISA_FLAGS_avx512 -mavx512f -mavx512cd -mavx512dq -mavx512bw -mavx512vl -mavx2 -mfma)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False alarms inside GCC 12's own intrinsics, which start from an undefined register on purpose (GCC bug 105593).
  list(APPEND FARFIELD_ISA_FLAGS_avx512 -Wno-uninitialized -Wno-maybe-uninitialized)
endif()

# Fewer where a build need not be fast: sanitizers see one text of a loop however many times it is compiled.
set(FARFIELD_LOOP_ISAS "sse42;avx2;avx512" CACHE STRING "Instruction sets beside scalar that the library's loops are compiled for")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(FARFIELD_ISAS sse42 avx2 avx512)
else()
  set(FARFIELD_ISAS "")
endif()
set(FARFIELD_ISAS_LEFT_OUT ${FARFIELD_ISAS})
list(REMOVE_ITEM FARFIELD_ISAS_LEFT_OUT ${FARFIELD_LOOP_ISAS})
foreach(isa ${FARFIELD_ISAS_LEFT_OUT})
  string(TOUPPER ${isa} macro)
  target_compile_definitions(farfield_flags INTERFACE FF_WITHOUT_${macro})
endforeach()

# With Clang, CMAKE_LINKER is lld where that is installed, which knows no --force-group-allocation.
find_program(FARFIELD_GNU_LD NAMES ld.bfd ld REQUIRED)

# An object library of sources for one instruction set.
function(farfield_isa_objects name isa)
  string(TOUPPER ${isa} macro)
  add_library(${name} OBJECT ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_compile_definitions(${name} PRIVATE FF_ISA_${macro} FF_ISA=${isa})
  target_compile_options(${name} PRIVATE ${FARFIELD_ISA_FLAGS_${isa}})
  target_link_libraries(${name} PRIVATE farfield_flags xsimd)
  set_target_properties(${name} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
  if(FARFIELD_SANITIZE) # loops are much code, which takes three quarters of the time without line numbers
    target_compile_options(${name} PRIVATE -g0)
    if(isa STREQUAL "scalar" AND NOT FARFIELD_SANITIZE_ALL)
      set_target_properties(${name} PROPERTIES FARFIELD_UNWATCHED ON)
      target_compile_options(${name} PRIVATE -O0) # few tests ask for these forms
    endif()
  endif()
endfunction()

# Headers that most loops read, compiled once for each instruction set: reading them took a third of all loops' time.
function(farfield_loop_headers isa)
  if(FARFIELD_PRECOMPILE AND NOT TARGET farfield_loop_headers_${isa})
    set(empty ${PROJECT_BINARY_DIR}/isa/headers.cpp)
    file(CONFIGURE OUTPUT ${empty} CONTENT "// The precompiled headers of loops need a source.\n")
    farfield_isa_objects(farfield_loop_headers_${isa} ${isa} ${empty})
    farfield_precompiled(farfield_loop_headers_${isa} <algorithm> <array> <cmath> <cstddef> <cstdint> <limits> <span> <string>
      <type_traits> <utility> <vector> <immintrin.h> <xsimd/xsimd.hpp>)
  endif()
endfunction()

function(farfield_isa_sources source)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PLAIN" "ENTRY;TARGET" "ISAS")
  if(NOT arg_TARGET)
    set(arg_TARGET farfield)
  endif()
  cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
  set(isas scalar ${FARFIELD_ISAS})
  if(arg_TARGET STREQUAL "farfield" AND FARFIELD_ISAS_LEFT_OUT)
    list(REMOVE_ITEM isas ${FARFIELD_ISAS_LEFT_OUT})
  endif()
  if(arg_ISAS)
    list(FILTER isas INCLUDE REGEX "^(${arg_ISAS})$")
  endif()
  # The scalar object has its own library too: one source file cannot have two sets of definitions in one target.
  foreach(isa ${isas})
    set(name ${arg_ENTRY}_${isa})
    farfield_isa_objects(${name}_raw ${isa} ${path})
    if(NOT arg_PLAIN)
      farfield_loop_headers(${isa})
      farfield_precompiled_from(farfield_loop_headers_${isa} ${name}_raw)
    endif()
    if(isa STREQUAL "scalar")
      target_sources(${arg_TARGET} PRIVATE $<TARGET_OBJECTS:${name}_raw>)
      continue()
    endif()
    set(object ${PROJECT_BINARY_DIR}/isa/${name}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/isa
      COMMAND ${FARFIELD_GNU_LD} -r --force-group-allocation -o ${object}.tmp $<TARGET_OBJECTS:${name}_raw>
      COMMAND ${CMAKE_OBJCOPY} --keep-global-symbol=${name} ${object}.tmp ${object}
      COMMAND ${CMAKE_COMMAND} -E rm ${object}.tmp
      DEPENDS ${name}_raw $<TARGET_OBJECTS:${name}_raw> COMMAND_EXPAND_LISTS VERBATIM
      COMMENT "Hiding everything but ${name}")
    add_custom_target(${name} DEPENDS ${object})
    add_dependencies(${arg_TARGET} ${name})
    set_source_files_properties(${object} TARGET_DIRECTORY ${arg_TARGET} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    target_sources(${arg_TARGET} PRIVATE ${object})
  endforeach()
endfunction()
