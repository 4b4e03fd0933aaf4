// Where a sum is computed: what the caller asked for, or, for `auto`, where the cost table says that it is
// faster.
#pragma once

#include "sums/costs/cost_table.h"
#include "sums/method/method.h"

#include <farfield/sum.h>

#include <functional>
#include <optional>
#include <string>

namespace farfield {

struct ChosenDevice {
    DeviceChoice device;    ///< never `automatic`; with `cuda` it names every GPU
    std::string cost_table; ///< hash of the table that chose; empty if nothing was left to choose
};

/// The CPU or the GPUs to compute on. `array_gpu`: the GPU on which the caller's points lie, if they do; the
/// sum then runs there.
///
/// `auto` takes the CPU for a method without GPU code, where an `isa`, a variant or an output of the CPU is
/// asked for, and the GPU for a variant of GPUs. Otherwise `faster_device` decides, with the table of this
/// process and the first GPU of this machine.
/// @throws BackendUnavailable without the GPU asked for, InvalidArgument where arrays and device contradict
/// each other, and what loading the user's cost table throws.
ChosenDevice choose_device(const MethodInfo& method, const SumProblem& problem, const SumOptions& options,
                           std::optional<int> array_gpu = std::nullopt);

/// Of the ranks of a host each takes its next GPU; a process alone the first.
DeviceChoice gpu_of_rank(const Communicator& communicator);

/// The name of the machine's first GPU, empty without one. Asking loads the driver, which takes a tenth of a
/// second.
using FirstGpu = std::function<std::string()>;

/// The CPU or the first GPU, by times that follow from `table`. The start of CUDA counts in full: a plan does
/// not know what else its process computes. A pure function of its arguments; `gpu` is asked only where the
/// answer matters.
DeviceChoice faster_device(const CostTable& table, const MethodInfo& method, const SumProblem& problem,
                           const SumOptions& options, const FirstGpu& gpu);

} // namespace farfield
