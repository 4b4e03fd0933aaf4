// The errors Farfield throws. The library never prints and never aborts: every failure is one of these.
// A message names the file, row or key, the value, what is allowed and the remedy.
#pragma once

#include <stdexcept>
#include <string>

namespace farfield {

/// Base of everything Farfield throws on purpose.
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The caller's mistake: a value, shape, type, key or file content that is not allowed.
class InvalidArgument : public Error {
public:
    using Error::Error;
};

/// The backend asked for (an ISA, CUDA, MPI) is not in this build or not on this machine.
class BackendUnavailable : public Error {
public:
    using Error::Error;
};

/// A device failed while in use: out of memory, lost, driver too old.
class DeviceError : public Error {
public:
    using Error::Error;
};

/// A program in one of Farfield's languages does not compile; the message shows line and caret.
class CompileError : public Error {
public:
    using Error::Error;
};

/// The machine failed to read or write: a missing file, no permission, a full disk, a truncated file.
class IoError : public Error {
public:
    using Error::Error;
};

/// A sum did not keep the tolerance it was given; the message names the error reached.
class ToleranceNotReached : public Error {
public:
    using Error::Error;
};

/// Whoever asked for the work has asked to give it up.
class Interrupted : public Error {
public:
    using Error::Error;
};

/// A defect of Farfield itself.
class InternalError : public Error {
public:
    using Error::Error;
};

} // namespace farfield
