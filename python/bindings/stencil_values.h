// Arguments of stencil programs and their runs that come as Python objects.
#pragma once

#include <farfield/stencil.h>

#include <nanobind/nanobind.h>

#include <string>

namespace farfield::python {

/// Values of parameters by name. @throws InvalidArgument for what is no number and no truth value.
StencilParameters parameters_of(const nanobind::dict& values);

/// @throws InvalidArgument for a name that is not known.
StencilMask mask_of(const std::string& name);
MpiGpu mpi_gpu_of(const std::string& name);

} // namespace farfield::python
