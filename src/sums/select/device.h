// Where a sum is computed: what the caller asked for, or, for `auto`, where a model with rates measured on
// this machine says that it is faster.
#pragma once

#include "sums/direct/device_model.h"

#include <farfield/sum.h>

#include <optional>

namespace farfield {

/// The CPU or the GPUs to compute on; the result is never `automatic`, and with `cuda` names every GPU.
/// `array_gpu`: the GPU on which the caller's points lie, if they do; the sum then runs there.
///
/// `auto` takes the CPU where an `isa` or a variant of the CPU is asked for, where there is no GPU, and for
/// sums shorter than the start of CUDA (a quarter of a second, once a process); a variant of GPUs takes the
/// GPU. Otherwise it measures: a few milliseconds on each side, once a process for each precision.
/// @throws BackendUnavailable without the GPU asked for, InvalidArgument where arrays and device contradict
/// each other.
DeviceChoice choose_device(const SumOptions& options, bool self, const SumCost& cost,
                           std::optional<int> array_gpu = std::nullopt);

/// Rates of this machine, measured at the first call for these options. `self`: targets are the sources.
CpuRates measured_cpu_rates(const SumOptions& options, bool self);

/// The same for a GPU; `start_seconds` is 0, because measuring starts it.
GpuRates measured_gpu_rates(Precision precision, int device);

} // namespace farfield
