# The body of the test install.consumer: install, move the prefix, configure, build and run the consumer.
# The move proves that no installed file names the place it was installed to.
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
run(${CMAKE_COMMAND} --install ${BUILD} --config "${CONFIG}" --prefix ${SCRATCH}/first)
file(RENAME ${SCRATCH}/first ${SCRATCH}/prefix)
foreach(component Development Runtime)
  run(${CMAKE_COMMAND} --install ${BUILD} --config "${CONFIG}" --component ${component} --prefix ${SCRATCH}/${component})
endforeach()
if(EXISTS ${SCRATCH}/Runtime/include)
  message(FATAL_ERROR "the component Runtime installs headers")
endif()

set(flags)
if(SANITIZE)
  set(flags -DCMAKE_CXX_FLAGS=-fsanitize=${SANITIZE})
endif()
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${SCRATCH}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix
  -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=Release ${flags})
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
run(${SCRATCH}/build/consumer)
if(PROGRAM)
  run(${SCRATCH}/prefix/${PROGRAM} --version)
endif()
file(REMOVE_RECURSE ${SCRATCH})
