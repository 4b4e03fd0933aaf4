// Sources and targets of a sum on a GPU, each in an order of its own, or one set that is both.
#pragma once

#include "sums/direct/cuda/pass_timer.cuh"
#include "sums/gauss/cuda/sorted_points.cuh"

namespace farfield::cuda {

class GaussSets {
public:
    explicit GaussSets(bool self) : self_(self) {}

    /// N×d and M×d on the GPU, in the caller's units; targets are not looked at where they are the sources.
    void set(const double* sources, int source_count, const double* targets, int target_count) {
        sources_.set(sources, source_count);
        if (!self_) targets_.set(targets, target_count);
    }
    [[nodiscard]] bool self() const { return self_; }
    [[nodiscard]] const SortedGaussPoints& sources() const { return sources_; }
    [[nodiscard]] const SortedGaussPoints& targets() const { return self_ ? sources_ : targets_; }
    [[nodiscard]] double sort_seconds() const { return sort_seconds_; }
    [[nodiscard]] double order_seconds() const { return order_seconds_; }

    /// Calls sort(points, of_sources) for each set, and then place(points, of_sources). Waits for them.
    template <class Sort, class Place>
    void bring_into_order(const Sort& sort, const Place& place, cudaStream_t stream) {
        PassTimer timer(stream);
        sort(sources_, true);
        if (!self_) sort(targets_, false);
        timer.mark("sort", stream);
        place(sources_, true);
        if (!self_) place(targets_, false);
        timer.mark("order", stream);
        const auto passes = timer.seconds();
        sort_seconds_ = passes[0].seconds;
        order_seconds_ = passes[1].seconds;
    }

private:
    bool self_;
    SortedGaussPoints sources_, targets_;
    double sort_seconds_ = 0.0, order_seconds_ = 0.0;
};

/// One vector of strengths, as the caller gave them, and where its sums go: M and M×d numbers, or null.
struct GaussRunOnGpu {
    const double* strengths = nullptr;
    int exponent = 0; ///< of the strengths, as a power of two
    bool without_own = false;
    double *potential = nullptr, *gradient = nullptr;
    int* not_finite = nullptr;
};

} // namespace farfield::cuda
