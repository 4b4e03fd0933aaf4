// What a sum on several GPUs does not take, whatever divides it.
#pragma once

#include <farfield/sum.h>

#include <string>

namespace farfield::cuda {

/// @throws InvalidArgument for an array on a GPU.
void require_host_here(const ConstArrayView& view, const std::string& what);

/// @throws InvalidArgument for a stream of the caller.
void require_own_streams(const SumOptions& options);

} // namespace farfield::cuda
