// What sums on one GPU have in common whose points may be those of several ranks, come together there.
#pragma once

#include "sums/direct/cuda/on_one_gpu.cuh"

#include <array>
#include <cstdint>
#include <optional>

namespace farfield::cuda {

class WholeRowsSum : public OnOneGpu {
public:
    void expect_whole_rows(const WholeRows& rows) override { whole_rows_ = rows; }

protected:
    using OnOneGpu::OnOneGpu;

    /// The points of several ranks have come together here.
    [[nodiscard]] bool has_whole_rows() const { return whole_rows_.has_value(); }
    /// Of the targets, in the caller's order: those whose results it wants.
    [[nodiscard]] std::int64_t first_row() const { return whole_rows_ ? whole_rows_->first : 0; }
    [[nodiscard]] std::int64_t rows() const { return whole_rows_ ? whole_rows_->count : problem_.targets; }

    /// Sets `source_points_` and `target_points_`; the ranges of both.
    std::array<Extent, 3> take_rows(const ConstArrayView& sources, const ConstArrayView& targets) {
        if (whole_rows_) {
            source_points_ = static_cast<const double*>(sources.data);
            target_points_ = static_cast<const double*>(targets.data);
            return whole_rows_->ranges;
        }
        const auto ranges = read_both(sources, targets, problem_.dimension, sources_, targets_);
        source_points_ = sources_.data();
        target_points_ = targets_.data();
        return ranges;
    }

    const double *source_points_ = nullptr, *target_points_ = nullptr; ///< as they were given

private:
    std::optional<WholeRows> whole_rows_;   ///< none: points come from a caller, who wants all results
    DeviceArray<double> sources_, targets_; ///< copies of a caller's points
};

} // namespace farfield::cuda
