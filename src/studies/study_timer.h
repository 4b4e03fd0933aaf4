// Times one sum of the field, on the CPU or on a GPU, with its error: the measurements that studies are made
// of.
#pragma once

#include "studies/bench_points.h"
#include "studies/study_progress.h"
#include "sums/direct/cuda/rungs.h"

#include <farfield/sum.h>

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace farfield {

struct Timed {
    std::int64_t n = 0;
    double seconds = 0.0; ///< median: of the pair loop on a CPU, of the kernels by events on a GPU
    double error = 0.0;   ///< relative L2 of the field

    [[nodiscard]] double pairs_per_second() const {
        return static_cast<double>(n) * static_cast<double>(n - 1) / seconds;
    }
};

/// Whole leapfrog steps on a GPU, in float.
struct StepTime {
    std::int64_t n = 0;
    double seconds = 0.0;              ///< median of all steps together, by events around them
    std::optional<double> sum_share{}; ///< of the sum in it, median; of single steps alone

    [[nodiscard]] double pairs_per_second(int steps = 1) const {
        return static_cast<double>(steps) * static_cast<double>(n) * static_cast<double>(n - 1) / seconds;
    }
};

class StudyTimer {
public:
    /// `gpu`: CUDA's number, or none to measure on the CPU alone. `threads` of the CPU, 0: all.
    StudyTimer(int repeats, std::optional<int> gpu, int threads, StudyProgress progress = {});

    [[nodiscard]] bool has_gpu() const { return gpu_.has_value(); }
    [[nodiscard]] int threads() const { return threads_; }
    [[nodiscard]] int repeats() const { return repeats_; }

    /// Measured once for the same arguments, as `gpu` is.
    Timed cpu(std::int64_t n, Variant variant, Isa isa, int threads,
              Precision precision = Precision::float32);
    /// With `steps` > 1 a measurement is that many sums one after the
    /// other, and `seconds` is their sum. @pre has_gpu().
    Timed gpu(std::int64_t n, cuda::Rung rung, Precision precision = Precision::float32, int steps = 1);

    /// `steps` steps whose sums are the rung's, bodies where they are. @pre has_gpu().
    StepTime gpu_steps(std::int64_t n, cuda::Rung rung, int steps = 1);

    /// Seconds of `steps` leapfrog steps of a Plummer sphere in double by the clock, bodies where they are;
    /// on the GPU, or on the CPU with all threads. @pre has_gpu() for `on_gpu`.
    [[nodiscard]] double simulation(std::int64_t n, int steps, bool on_gpu) const;

private:
    void tell(const std::string& what) const {
        if (progress_) progress_(what);
    }
    const BenchPoints& points(std::int64_t n);
    const SampledTruth& truth(std::int64_t n, bool rounded);

    int repeats_;
    std::optional<int> gpu_;
    int threads_;
    StudyProgress progress_;
    std::map<std::int64_t, BenchPoints> points_;
    std::map<std::pair<std::int64_t, bool>, SampledTruth> truths_;
    std::map<std::tuple<std::int64_t, Variant, Isa, int, Precision>, Timed> cpu_times_;
    std::map<std::tuple<std::int64_t, cuda::Rung, Precision, int>, Timed> gpu_times_;
    std::map<std::tuple<std::int64_t, cuda::Rung, int>, StepTime> step_times_;
};

} // namespace farfield
