// The table of targets: a name and what makes its executor.
#pragma once

#include "stencil/runtime/executor.h"

#include <farfield/communicator.h>

#include <memory>
#include <string_view>
#include <vector>

namespace farfield::stencil {

/// "interpreter" first, then what this build has.
std::vector<std::string_view> target_names();

/// Whether "cuda" can be used here, with a GPU for each of so many ranks: this build has CUDA, and this
/// machine the GPUs and NVRTC.
bool has_gpus(int count);

/// Gets a program ready on a target, with all fields at their initial values.
/// @throws InvalidArgument for a name or option that is not known, BackendUnavailable where this machine
/// lacks
///         what the target needs (a compiler, a GPU), DeviceError, IoError.
std::unique_ptr<Executor> make_executor(std::string_view target, std::shared_ptr<const ir::Program> program,
                                        const ExecutorOptions& options);
/// The same on several ranks, each of which gets an executor of its part; on one rank, the above. Ranks send
/// no messages here. With "cuda" the ranks of a host take its GPUs in turn, from `options.device` on.
std::unique_ptr<Executor> make_executor(std::string_view target, std::shared_ptr<const ir::Program> program,
                                        const ExecutorOptions& options, const Communicator& communicator);

} // namespace farfield::stencil
