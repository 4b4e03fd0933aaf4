# install target and farfieldConfig.cmake
