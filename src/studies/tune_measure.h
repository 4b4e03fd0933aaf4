// Measures the coefficients of the cost table that the direct sum has, on this machine. Only `farfield tune`
// does: what is computed elsewhere never waits for a measurement.
#pragma once

#include "studies/study_progress.h"
#include "sums/costs/cost_table.h"

#include <farfield/sum.h>

#include <cstdint>
#include <functional>
#include <string>

namespace farfield {

struct MeasureSettings {
    int threads = 0;             ///< of the CPU, 0: all
    int repeats = 3;             ///< the fastest counts
    std::int64_t points = 16384; ///< of the largest sum on the CPU, of the smallest long one on a GPU
    StudyProgress progress{};
    std::function<bool()> stop_requested{}; ///< asked after each run
};

/// Adds the CPU's coefficients to `costs`: of each ISA that this machine has, in each precision, a thread of
/// as many as measure together. @returns false where it was stopped.
bool measure_cpu(const MeasureSettings& settings, CostTable& costs);

/// Adds those of GPU `device` of this name. The start of CUDA is measured where the process has done nothing
/// with it but ask for devices, which took `seconds_to_ask`. @returns false where it was stopped.
/// @throws BackendUnavailable, DeviceError.
bool measure_gpu(const MeasureSettings& settings, int device, const std::string& name, double seconds_to_ask,
                 CostTable& costs);

bool is_to_stop(const MeasureSettings& settings);
/// Tells what is measured next. @returns true where nothing is to be measured any more.
bool ends_before(const MeasureSettings& settings, const std::string& what);

/// Seconds of one call by the clock.
double seconds_of(const std::function<void()>& work);

} // namespace farfield
