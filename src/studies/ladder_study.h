// What the tables of `farfield reproduce ladder` share.
#pragma once

#include "studies/cuda/ceilings.h"
#include "studies/ladder_model.h"
#include "studies/seed_tables.h"
#include "studies/study_device.h"
#include "studies/study_timer.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace farfield {

/// Measures for the tables. Sizes are cut to `most_points`; a single GPU thread gets 4096 bodies at most,
/// rungs with atomics 65,536.
class Ladder {
public:
    /// With a GPU, measures its ceilings.
    Ladder(StudyTimer& timer, const StudyDevice& device, std::int64_t most_points);

    [[nodiscard]] std::int64_t cut(std::int64_t n) const;
    [[nodiscard]] std::int64_t cut(std::int64_t n, cuda::Rung rung) const;
    [[nodiscard]] std::string column(std::int64_t n) const { return fmt::format("here, N={}", cut(n)); }
    [[nodiscard]] bool has_gpu() const { return timer_.has_gpu(); }
    [[nodiscard]] StudyValue missing() const { return StudyValue::none(device_.missing); }
    [[nodiscard]] const Lanes& lanes() const { return lanes_; } ///< all 0 without a GPU, as the ceilings are
    [[nodiscard]] const cuda::Ceilings& ceilings() const { return ceilings_; }

    /// The sum of the field alone.
    Timed gpu(std::int64_t n, cuda::Rung rung, Precision precision = Precision::float32);
    Timed cpu(std::int64_t n, Variant variant);
    /// Whole leapfrog steps in float.
    StepTime steps(std::int64_t n, cuda::Rung rung, int count = 1);
    /// Seconds of whole leapfrog steps in double, as `farfield run` takes them.
    StudyValue simulation(std::int64_t n, int steps, bool on_gpu);

private:
    StudyTimer& timer_;
    const StudyDevice& device_;
    std::int64_t most_points_;
    cuda::Ceilings ceilings_;
    Lanes lanes_;
};

inline StudyRow of_cards(std::string what, std::string_view slide, const seeds::OfCards& values) {
    StudyRow row{std::move(what), fmt::format("Slides, {}", slide), {}};
    for (const double value : values) row.values.push_back(StudyValue::given(value));
    return row;
}

inline std::vector<std::string> card_columns() { return {seeds::cards.begin(), seeds::cards.end()}; }

/// A step of each rung, and the share of the sum in it.
StudyTable whole_steps_table(Ladder& ladder);
/// Registers, shared memory and blocks of each rung.
StudyTable resources_table(const Ladder& ladder);
/// The link to the host beside the memory of the GPU.
StudyTable link_table(const Ladder& ladder);

} // namespace farfield
