// The ranks that compute together, as Python gives them.
#pragma once

#include <farfield/communicator.h>

#include <nanobind/nanobind.h>

namespace farfield::python {

/// Of None, a farfield.Communicator, or a communicator of mpi4py.
/// @throws TypeError, BackendUnavailable
Communicator communicator_from(nanobind::handle value);

} // namespace farfield::python
