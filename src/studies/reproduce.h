// The sources' tables on this machine: what `farfield reproduce` does.
#pragma once

#include "studies/study_progress.h"
#include "studies/study_table.h"

#include <farfield/device.h>

#include <cstdint>
#include <limits>

namespace farfield {

struct ReproduceOptions {
    /// `automatic`: the GPU where there is one; `cpu`: GPU columns stay empty.
    DeviceChoice device{};
    int threads = 0; ///< of the multithreaded CPU columns; 0: all
    int repeats = 3; ///< ≥ 1
    std::int64_t most_points = std::numeric_limits<std::int64_t>::max(); ///< larger sizes are cut to this
    StudyProgress progress{};
};

/// The CUDA Handbook's timings: one sum of 4096, 8192 and 16384 bodies on one CPU thread, on all and on a
/// GPU; atomics against recomputing at 8192.
/// @throws BackendUnavailable where a GPU is asked for by name and cannot be used; InvalidArgument.
Study reproduce_handbook_timings(const ReproduceOptions& options);

/// The slides' ladder of optimisations, rung by rung, beside the speed-ups of their three cards. Throws
/// alike.
Study reproduce_ladder(const ReproduceOptions& options);

} // namespace farfield
