// Whole fast multipole sums in the plane for `farfield reproduce m2l-2d`: what share of the time the passes
// have, and how many points a leaf are best.
#pragma once

#include "studies/reproduce.h"
#include "studies/study_device.h"
#include "studies/study_table.h"

#include <farfield/sum.h>

#include <cstdint>
#include <string>
#include <vector>

namespace farfield::m2l2d {

/// Velocities of vortices, evenly spread over a square, at the vortices, in double: the paper's w, without a
/// potential. Each sum is a public one (SumPlan) on the study's device. Points are set anew for each repeat,
/// times are medians.
class WholeSums {
public:
    WholeSums(const ReproduceOptions& options, const StudyDevice& device);

    /// Why the sums do not run on the study's GPU, but on the CPU; empty: they run there, or there is none.
    [[nodiscard]] const std::string& refusal() const { return refusal_; }
    /// Seconds of the passes and the shares of M2L and of near pairs, for 4 and 10 million vortices and 8, 12
    /// and 16 terms, beside the paper's shares. Numbers of vortices are cut to `most_points`.
    [[nodiscard]] StudyTable passes() const;
    /// Seconds of all passes against points a leaf, from 8 to 256, and the best of these. Sizes of leaves
    /// take turns, so that what else the machine does meets all of them.
    [[nodiscard]] StudyTable leaves() const;

private:
    struct Vortices;
    struct Timed;
    [[nodiscard]] Timed measured(const Vortices& vortices, int terms, int leaf, int repeats) const;
    [[nodiscard]] SumOptions sum_options(int terms, int leaf) const;
    [[nodiscard]] StudyRow passes_row(const Vortices& vortices, int terms) const;
    [[nodiscard]] StudyRow leaves_row(const Vortices& vortices, int terms) const;

    const ReproduceOptions& options_;
    DeviceChoice device_;
    std::string device_name_, refusal_;
    std::vector<std::int64_t> sizes_; ///< ascending
};

} // namespace farfield::m2l2d
