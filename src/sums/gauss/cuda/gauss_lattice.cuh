// A sum of Gaussians over pairs up to a cut-off on a GPU: points in boxes, and the pass.
#pragma once

#include "sums/gauss/cuda/cell_pairs.cuh"
#include "sums/gauss/cuda/gauss_sets.cuh"
#include "sums/gauss/gpu_shape.h"

namespace farfield::cuda {

class GaussLatticeOnGpu {
public:
    void prepare(const GpuGaussShape& shape, const LatticeOnGpu& lattice, GaussSets& sets,
                 cudaStream_t stream) {
        shape_ = shape;
        lattice_ = lattice;
        make_room(count_, 1);
        const auto columns = static_cast<std::size_t>(boxed_columns(lattice.dimension));
        make_room(sources_, columns * static_cast<std::size_t>(sets.sources().count()));
        if (!sets.self()) make_room(targets_, columns * static_cast<std::size_t>(sets.targets().count()));
        sets.bring_into_order(
            [&](SortedGaussPoints& points, bool /*of_sources*/) { points.sort_by_boxes(lattice_, stream); },
            [&](const SortedGaussPoints& points, bool of_sources) {
                points.place(lattice_, (of_sources ? sources_ : targets_).data(), stream);
            },
            stream);
        cells_ = count_keys(sets.targets().keys(), sets.targets().count(), count_.data(), stream);
    }

    /// One vector of strengths. `pairs()` is known once the stream was waited for.
    void run(const GaussRunOnGpu& task, const GaussSets& sets, const GaussFrame& frame, PassTimer& timer,
             cudaStream_t stream) {
        order_boxed_strengths(task.strengths, sets.sources().from(), sets.sources().count(), task.exponent,
                              lattice_.dimension, sources_.data(), stream);
        check(cudaMemsetAsync(count_.data(), 0, sizeof(unsigned long long), stream), "clearing a count");
        timer.mark("strengths", stream);
        const CellPairTask pairs{.lattice = lattice_,
                                 .sources = sources_.data(),
                                 .source_keys = sets.sources().keys(),
                                 .source_count = sets.sources().count(),
                                 .targets = (sets.self() ? sources_ : targets_).data(),
                                 .from = sets.targets().from(),
                                 .target_count = sets.targets().count(),
                                 .without_own = task.without_own,
                                 .cutoff = shape_.cutoff,
                                 .sigma = frame.sigma,
                                 .potential_exponent = -task.exponent,
                                 .gradient_exponent = frame.exponent - task.exponent,
                                 .potential = task.potential,
                                 .gradient = task.gradient,
                                 .not_finite = task.not_finite,
                                 .pairs = count_.data()};
        (shape_.wide ? add_cell_pairs<double> : add_cell_pairs<float>)(pairs, stream);
        timer.mark("pairs", stream);
        copy(&pairs_, count_.data(), 1, stream);
    }

    [[nodiscard]] std::int64_t cells() const { return cells_; } ///< with targets
    [[nodiscard]] std::int64_t pairs() const { return static_cast<std::int64_t>(pairs_); }

private:
    GpuGaussShape shape_;
    LatticeOnGpu lattice_;
    DeviceArray<double> sources_, targets_; ///< rows of `boxed_columns`
    DeviceArray<unsigned long long> count_;
    std::int64_t cells_ = 0;
    unsigned long long pairs_ = 0;
};

} // namespace farfield::cuda
