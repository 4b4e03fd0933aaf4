# Builds with sanitizers: what computes little is not optimised, and takes half the time to compile.
set(FARFIELD_PLAIN_SOURCES "/src/(lang|io|run|stencil/(api|codegen|front_end|run)|dynamics/(case_file|run))/[^ ]*\\.cpp$")

# Its sources become those of an object library with the settings of `farfield`, which takes the objects.
get_target_property(sources farfield SOURCES)
set(plain ${sources})
list(FILTER plain INCLUDE REGEX "^${PROJECT_SOURCE_DIR}${FARFIELD_PLAIN_SOURCES}")
list(FILTER plain EXCLUDE REGEX "/src/io/(picture/|png)") # every pixel of a picture is computed
list(REMOVE_ITEM sources ${plain})
set_target_properties(farfield PROPERTIES SOURCES "${sources}")
add_library(farfield_plain OBJECT ${plain})
foreach(setting INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_FEATURES LINK_LIBRARIES)
  get_target_property(value farfield ${setting})
  if(value)
    set_target_properties(farfield_plain PROPERTIES ${setting} "${value}")
  endif()
endforeach()
target_sources(farfield PRIVATE $<TARGET_OBJECTS:farfield_plain>)
farfield_unity(farfield_plain)

target_compile_options(farfield_plain PRIVATE -O0)
if(TARGET farfield_app)
  target_compile_options(farfield_app PRIVATE -O0)
endif()

# Tables and figures of papers, a fifth of the code. Of the tests that sanitizers run none asks them for long
# computations but for resonances.
if(TARGET farfield_studies AND NOT FARFIELD_SANITIZE_ALL)
  set_target_properties(farfield_studies PROPERTIES FARFIELD_UNWATCHED ON)
  target_compile_options(farfield_studies PRIVATE -O0)
  get_target_property(resonances farfield_studies SOURCES)
  list(FILTER resonances INCLUDE REGEX "/resonances/")
  set_source_files_properties(${resonances} TARGET_DIRECTORY farfield_studies PROPERTIES COMPILE_OPTIONS -O1
    SKIP_PRECOMPILE_HEADERS ON)
endif()

# Headers are compiled once for each of them. Elsewhere what GCC makes for users stays what its sources alone give.
foreach(target farfield farfield_plain farfield_studies)
  if(TARGET ${target})
    farfield_precompiled(${target} <algorithm> <array> <cmath> <cstdint> <filesystem> <fstream> <functional> <limits> <map>
      <memory> <optional> <span> <string> <string_view> <vector> <fmt/format.h>)
  endif()
endforeach()
