# The body of the test install.missing_packages: CMake finds none of the packages, and its one message names them
# all, each with the package of Debian that ./dev installs. With one package missing the message names that one.
function(configure result errors)
  file(REMOVE_RECURSE ${SCRATCH})
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${SCRATCH} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} ${ARGN}
    RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE text)
  file(REMOVE_RECURSE ${SCRATCH})
  set(${result} ${status} PARENT_SCOPE)
  set(${errors} "${text}" PARENT_SCOPE)
endfunction()

function(expect_one_message text)
  string(REGEX MATCHALL "CMake (Error|Warning)" messages "${text}")
  list(LENGTH messages count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "${count} messages instead of one:\n${text}")
  endif()
endfunction()

file(READ ${SOURCE}/cmake/farfield_dependencies.cmake listed)
string(REGEX MATCHALL "\n *farfield_package\\([A-Za-z0-9_]+" calls "${listed}")
list(LENGTH calls count)
if(count LESS 13)
  message(FATAL_ERROR "only ${count} packages are read from farfield_dependencies.cmake: ${calls}")
endif()
foreach(call ${calls})
  string(REGEX REPLACE ".*\\(" "" name "${call}")
  list(APPEND names ${name})
  list(APPEND disabled -DCMAKE_DISABLE_FIND_PACKAGE_${name}=ON)
endforeach()

configure(status text -DFARFIELD_BUILD_TESTS=ON -DFARFIELD_BUILD_PYTHON=ON ${disabled})
if(status EQUAL 0)
  message(FATAL_ERROR "CMake configures without any package")
endif()
expect_one_message("${text}")
foreach(name ${names})
  if(NOT text MATCHES "\n    ${name} +[(a-z]")
    message(FATAL_ERROR "${name} is not named:\n${text}")
  endif()
endforeach()

# What is named for Debian is what ./dev installs.
string(REGEX MATCH "apt-get install ([^\n]*)" line "${text}")
string(REPLACE " " ";" debian "${CMAKE_MATCH_1}")
file(READ ${SOURCE}/tools/dev/packages.sh installed)
foreach(package ${debian})
  # OpenMP comes with the compiler
  if(NOT package MATCHES "^libgomp1$|^libomp-dev$" AND NOT installed MATCHES "\n${package} ")
    message(FATAL_ERROR "${package} is not among the packages of tools/dev/packages.sh")
  endif()
endforeach()

configure(status text -DFARFIELD_BUILD_APPS=OFF -DCMAKE_DISABLE_FIND_PACKAGE_xsimd=ON)
expect_one_message("${text}")
if(status EQUAL 0 OR NOT text MATCHES "apt-get install libxsimd-dev\n.*conda-forge xsimd\n"
    OR text MATCHES "libfmt-dev")
  message(FATAL_ERROR "the message does not name xsimd alone:\n${text}")
endif()
