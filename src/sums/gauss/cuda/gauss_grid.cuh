// A sum of Gaussians by way of a grid on a GPU, in numbers of one type: points, grid and passes.
#pragma once

#include "sums/gauss/cuda/gauss_sets.cuh"
#include "sums/gauss/cuda/sparse.cuh"
#include "sums/gauss/gpu_shape.h"
#include "sums/gauss/grid/paired_window.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace farfield::cuda {

template <class Real>
class GaussGridOnGpu {
public:
    /// `shape.sparse` becomes false where points lie so unevenly that a few warps would be at work for long,
    /// and on a GPU with little shared memory.
    void prepare(GpuGaussShape& shape, const GridPlacing& placing, GaussSets& sets, cudaStream_t stream) {
        rule_ = shape.rule;
        window_.emplace(*rule_, beyond_width<Real>);
        placing_ = placing;
        const auto numbers = room_for_rows(placing_);
        make_room(first_, numbers);
        make_room(second_, numbers);
        make_room(sources_, static_cast<std::size_t>(sets.sources().count()));
        if (!sets.self()) make_room(targets_, static_cast<std::size_t>(sets.targets().count()));
        shape.sparse =
            shape.sparse && has_room_for_columns<Real>(rule_->width) && prepare_columns(sets, stream);
        sparse_ = shape.sparse;
        if (!sparse_) prepare_cells(sets, stream);
    }

    /// One vector of strengths. @param scale  the power of two of the frame
    void run(const GaussRunOnGpu& task, const GaussSets& sets, int scale, PassTimer& timer,
             cudaStream_t stream) {
        const StrengthsOnGpu strengths{task.strengths, sets.sources().from(), task.exponent};
        const int n = sets.sources().count();
        // |Σ q| < 2^bits, and a sum of whole multiples stays below 2^62
        const int unit = 62 - static_cast<int>(std::bit_width(static_cast<unsigned>(n)));
        const SpreadTask<Real> spreading{.sources = {sources_.data(), n},
                                         .strengths = strengths,
                                         .window = &*window_,
                                         .placing = placing_,
                                         .exponent = unit,
                                         .grid = spread_.data(),
                                         .copies = copies_};
        if (sparse_)
            collect(strengths, n, stream);
        else
            spread_points(spreading, stream);
        timer.mark("spread", stream);
        const FoldTask<Real> fold{
            .placing = placing_, .rule = rule_, .first = first_.data(), .second = second_.data()};
        RowsOfGrid<Real> folded;
        if (sparse_)
            folded.numbers = fold_numbers(fold, stream);
        else
            folded = fold_grid(fold, spreading, stream);
        timer.mark("fold", stream);
        const auto& points = sets.self() ? sources_ : targets_;
        const ValueTask<Real> values{.targets = {points.data(), sets.targets().count()},
                                     .from = sets.targets().from(),
                                     .own = task.without_own ? strengths : StrengthsOnGpu{},
                                     .window = &*window_,
                                     .placing = placing_,
                                     .grid = folded,
                                     .potential_factor = PowerOfTwo(-task.exponent),
                                     .gradient_factor = PowerOfTwo(scale - task.exponent),
                                     .potential = task.potential,
                                     .gradient = task.gradient,
                                     .not_finite = task.not_finite,
                                     .spent = sparse_ ? nullptr : spread_.data(),
                                     .spent_numbers = sparse_ ? 0 : copies_ * placing_.numbers()};
        if (sparse_)
            take_values_of_columns(
                values,
                PointsInColumns<Real>{points.data(), (sets.self() ? source_starts_ : target_starts_).data(),
                                      columns_},
                stream);
        else
            take_values(values, stream);
        timer.mark("values", stream);
    }

private:
    void prepare_cells(GaussSets& sets, cudaStream_t stream) {
        prepare_spread(stream);
        sets.bring_into_order(
            [&](SortedGaussPoints& points, bool /*of_sources*/) { points.sort_by_cells(placing_, stream); },
            [&](const SortedGaussPoints& points, bool of_sources) {
                points.place(placing_, (of_sources ? sources_ : targets_).data(), stream);
            },
            stream);
    }

    /// Few numbers have copies, so that fewer thread blocks add to the same ones. Taking values leaves
    /// them at 0.
    void prepare_spread(cudaStream_t stream) {
        constexpr std::int64_t most_copied = 8192;
        constexpr std::int64_t most_copies = 4; // a thread that folds adds them up
        copies_ =
            static_cast<int>(std::clamp(most_copied / placing_.numbers(), std::int64_t{1}, most_copies));
        const auto numbers = static_cast<std::size_t>(copies_ * placing_.numbers());
        make_room(spread_, numbers);
        check(cudaMemsetAsync(spread_.data(), 0, numbers * sizeof(unsigned long long), stream),
              "clearing a grid");
    }

    /// False where some walk meets too many points.
    bool prepare_columns(GaussSets& sets, cudaStream_t stream) {
        constexpr int most_points = 8192;
        columns_ = GridColumns(placing_);
        make_room(most_, 1);
        bool even = true;
        sets.bring_into_order(
            [&](SortedGaussPoints& points, bool of_sources) {
                auto& starts = of_sources ? source_starts_ : target_starts_;
                make_room(starts, static_cast<std::size_t>(columns_.total()) + 1);
                points.sort_by_columns(placing_, stream);
                find_plane_starts(points.keys(), points.count(), columns_, starts.data(), stream);
                even = even && most_of_a_walk(starts.data(), columns_, most_.data(), stream) <= most_points;
            },
            [&](const SortedGaussPoints& points, bool of_sources) {
                points.place_in_columns(placing_, (of_sources ? sources_ : targets_).data(), stream);
            },
            stream);
        return even;
    }

    /// Each column looks at the points about it: their strengths are brought into order before.
    void collect(const StrengthsOnGpu& strengths, int n, cudaStream_t stream) {
        make_room(strengths_, static_cast<std::size_t>(n));
        order_strengths(strengths.numbers, strengths.from, n, strengths.exponent, strengths_.data(), stream);
        collect_points(CollectTask<Real>{.sources = {sources_.data(), source_starts_.data(), columns_},
                                         .strengths = strengths_.data(),
                                         .window = &*window_,
                                         .placing = placing_,
                                         .grid = first_.data()},
                       stream);
    }

    const GridRule* rule_ = nullptr;
    std::optional<GridWindow> window_;
    GridPlacing placing_;
    bool sparse_ = false;
    int copies_ = 1; ///< of the grid that is spread onto
    GridColumns columns_;
    DeviceArray<std::int32_t> source_starts_, target_starts_, most_; ///< of planes of the columns; one number
    DeviceArray<GridPoint<Real>> sources_, targets_;
    DeviceArray<Real> strengths_, first_, second_;
    DeviceArray<unsigned long long> spread_;
};

} // namespace farfield::cuda
