// What the tables of `farfield reproduce m2l-2d` share: measurements, each made once.
#pragma once

#include "studies/cuda/ceilings.h"
#include "studies/m2l_2d/translations.h"
#include "studies/reproduce.h"
#include "studies/sass.h"
#include "studies/study_device.h"
#include "studies/study_table.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace farfield::m2l2d {

/// A variant in one of its two forms.
struct Kernel {
    Variant variant;
    bool is_fused = false;
    friend bool operator<(const Kernel& a, const Kernel& b) {
        return std::tie(a.variant, a.is_fused) < std::tie(b.variant, b.is_fused);
    }
};
/// All there are, those that write every expansion first.
std::vector<Kernel> all_kernels();
std::string name_of(const Kernel& kernel);

struct MeasuredTime {
    double kernel_seconds = 0, reduction_seconds = 0; ///< the latter of forms that write all
    double error = 0;                                 ///< of the local expansions of sampled boxes
};
struct MeasuredTransfers {
    double to_gpu_seconds = 0, to_host_seconds = 0;
};

class Measurements {
public:
    Measurements(const ReproduceOptions& options, const StudyDevice& device);

    [[nodiscard]] bool has_gpu() const { return device_.gpu.has_value(); }
    [[nodiscard]] StudyValue missing() const { return StudyValue::none(device_.missing); }
    /// 3 … 8, those whose translations are within `most_points`; 3 at least.
    [[nodiscard]] const std::vector<int>& depths() const { return depths_; }
    [[nodiscard]] int deepest() const { return depths_.back(); }

    /// @pre has_gpu(), of all below
    const MeasuredTime& time(const Kernel& kernel, int terms, int depth);
    MeasuredTransfers transfers(int terms, int depth);
    /// Bytes a second that memory takes when it is only written.
    double fill_rate(int terms);
    cuda::RungResources resources(const Kernel& kernel, int terms);
    /// Of the kernel's main loop, where cuobjdump is there to tell.
    std::optional<InstructionMix> mix(const Kernel& kernel, int terms);

    /// Measured: fused multiply-adds of floats a second.
    [[nodiscard]] double fma_rate() const { return ceilings_.fma_float; }
    /// By the data sheet: the same, and bytes a second of memory; shared memory by its width and the clock.
    [[nodiscard]] double rated_fma() const { return rated_fma_; }
    [[nodiscard]] double rated_double_fma() const { return rated_double_fma_; }
    [[nodiscard]] double rated_memory() const { return rated_memory_; }
    [[nodiscard]] double shared_memory_rate() const { return shared_rate_; }

private:
    struct Prepared {
        Problem problem;
        std::vector<int> boxes;
        std::map<Form, std::vector<Number>> exact;
        TranslationRuns runs;
    };
    Prepared& prepared(int terms, int depth);
    void tell(const std::string& what) const {
        if (options_.progress) options_.progress(what);
    }

    const ReproduceOptions& options_;
    const StudyDevice& device_;
    std::vector<int> depths_;
    cuda::Ceilings ceilings_;
    double rated_fma_ = 0, rated_double_fma_ = 0, rated_memory_ = 0, shared_rate_ = 0;
    std::optional<Prepared> current_; ///< the last one: expansions of all are not kept
    int current_terms_ = 0, current_depth_ = 0;
    std::map<std::tuple<Kernel, int, int>, MeasuredTime> times_;
    std::map<std::tuple<int, int>, MeasuredTransfers> transfers_;
    std::map<int, double> fill_rates_;
    std::map<std::tuple<Kernel, int>, cuda::RungResources> resources_;
    std::map<std::tuple<Kernel, int>, std::string> names_;
    std::optional<InstructionMixes> mixes_;
};

/// The paper's Tables 2 and 3 of p terms beside this machine.
StudyTable seed_table(Measurements& measured, int terms);
/// What each kernel takes of a multiprocessor, and its occupancy (the paper's equation 13).
StudyTable resources_table(Measurements& measured, int terms);
/// Operations and ceilings of each, at most translations.
StudyTable variants_table(Measurements& measured, int terms);

} // namespace farfield::m2l2d
