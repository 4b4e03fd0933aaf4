// What the tables of `farfield reproduce hermite` share: measurements, each made once.
#pragma once

#include "studies/cuda/ceilings.h"
#include "studies/hermite/cpu/loops.h"
#include "studies/hermite/evaluations.h"
#include "studies/reproduce.h"
#include "studies/sass.h"
#include "studies/study_device.h"
#include "studies/study_table.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace farfield::hermite {

/// At so many targets, and how wrong the worst of those sampled is (error_of).
struct MeasuredRate {
    double per_second = 0, error = 0;
};

class Measurements {
public:
    Measurements(const ReproduceOptions& options, const StudyDevice& device);
    ~Measurements();
    Measurements(const Measurements&) = delete;
    Measurements& operator=(const Measurements&) = delete;

    [[nodiscard]] bool has_gpu() const { return device_.gpu.has_value(); }
    [[nodiscard]] StudyValue missing() const { return StudyValue::none(device_.missing); }
    /// Numbers of targets, ascending: the paper's up to `most_points`, or that alone; the two least of
    /// `quick`.
    [[nodiscard]] const std::vector<std::int64_t>& sizes() const { return sizes_; }
    /// Threads that the CPU's columns may have.
    [[nodiscard]] int threads() const { return threads_; }

    /// None for more threads than there are, and for plain loops of so many targets that they take minutes:
    /// their rate does not depend on it.
    std::optional<MeasuredRate> cpu(CpuLoop loop, int terms, std::int64_t targets, int threads);
    /// @pre has_gpu(), of all below
    const MeasuredRate& gpu(Variant variant, int terms, std::int64_t targets);
    cuda::RungResources resources(Variant variant, int terms);
    /// Of the kernel's main loop, if cuobjdump is there to tell.
    std::optional<InstructionMix> mix(Variant variant, int terms);
    /// Fused multiply-adds of floats a second: measured, and by the data sheet.
    [[nodiscard]] double fma_rate() const { return ceilings_.fma_float; }
    [[nodiscard]] double rated_fma() const { return rated_fma_; }

private:
    struct Prepared;
    Prepared& prepared(int terms, std::int64_t targets);
    void tell(const std::string& what) const {
        if (options_.progress) options_.progress(what);
    }

    const ReproduceOptions& options_;
    const StudyDevice& device_;
    std::vector<std::int64_t> sizes_;
    int threads_ = 1;
    cuda::Ceilings ceilings_;
    double rated_fma_ = 0;
    std::unique_ptr<Prepared> current_; ///< the last one
    std::map<std::tuple<CpuLoop, int, std::int64_t, int>, MeasuredRate> cpu_rates_;
    std::map<std::tuple<Variant, int, std::int64_t>, MeasuredRate> gpu_rates_;
    std::map<std::tuple<Variant, int>, std::string> names_;
    std::optional<InstructionMixes> mixes_;
};

/// The paper's Tables 4 and 5 of p terms beside this machine.
StudyTable seed_table(Measurements& measured, int terms);
/// Every kernel at most targets.
StudyTable variants_table(Measurements& measured, int terms);
/// What each kernel takes of a multiprocessor.
StudyTable resources_table(Measurements& measured, int terms);
/// How many times as fast GPUs are as cores: by the paper's tables, by its text, and here.
StudyTable ratios_table(Measurements& measured);

} // namespace farfield::hermite
