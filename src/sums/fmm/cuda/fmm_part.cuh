// What one GPU does of a fast multipole sum: tree, lists and passes for all targets or for a share of them.
#pragma once

#include "backend/cuda/row_array.h"
#include "sums/direct/cuda/pass_timer.cuh"
#include "sums/fmm/cuda/device_passes.cuh"
#include "sums/fmm/shape.h"

#include <cstddef>
#include <vector>

namespace farfield::cuda {

/// Points on the GPU, as the caller gave them, and how they are to be summed.
struct FmmTask {
    const double *sources = nullptr, *targets = nullptr; ///< N×3, M×3; no targets: they are the sources
    int n = 0, m = 0;                                    ///< m is that of targets, whatever they are
    Frame frame;
    TreeCube cube;
    FmmShape shape;
    double softening = 0.0;                        ///< in the frame
    bool with_far_images = true;                   ///< TreeBox, of a periodic tree
    bool mends = false, shares_multipoles = false; ///< DevicePasses::prepare
    int threads = 1;                               ///< of the host, for operators that are not there yet
};

/// Made, and used, with its GPU current.
class FmmPart {
public:
    explicit FmmPart(TreeShare share = {}) : tree_(3, false, true, share) {}

    /// The tree and all that does not depend on strengths. Waits for the tree's counts.
    void prepare(const FmmTask& task, cudaStream_t stream);

    [[nodiscard]] bool has_far_field() {
        return task_.shape.wide ? wide_.passes.has_far_field() : narrow_.passes.has_far_field();
    }
    /// Queues the placing of sources.
    void place(const GivenSources& given, cudaStream_t stream);
    /// Queues the sums of the targets of the share, in two steps. @param wanted  of LoopOutputs
    void form(int wanted, cudaStream_t stream);
    void finish(int wanted, cudaStream_t stream);
    /// Between them: copies the multipoles that `other`, another share of the same tree, forms. Its first
    /// step is queued.
    void take_multipoles(FmmPart& other);
    /// Arrays of multipoles, a row for each cell, and where they are formed and used. @pre has_far_field()
    [[nodiscard]] std::vector<RowArray> multipoles();
    [[nodiscard]] cudaStream_t far_stream();

    /// Sums of one type of number, a row for each target, in the order of the tree.
    template <class Real>
    struct Sums {
        DevicePasses<Real> passes;
        DeviceArray<Vec4<Real>> near;
    };
    /// Calls use(sums) with those of the type of number that computes.
    template <class Use>
    decltype(auto) with_sums(const Use& use) {
        return task_.shape.wide ? use(wide_) : use(narrow_);
    }
    [[nodiscard]] const Vec4<double>* far() const { return far_.data(); }
    [[nodiscard]] const double* near_hessians() const { return near_hessians_.data(); }
    [[nodiscard]] const double* far_hessians() const { return far_hessians_.data(); }
    /// Arrays of sums.
    [[nodiscard]] std::vector<RowArray> near_sums(int wanted);
    [[nodiscard]] std::vector<RowArray> far_sums(int wanted);
    /// What is queued on `stream` from now on waits until the far field is whole. @pre has_far_field()
    void hold_for_far_field(cudaStream_t stream) {
        with_sums([&](auto& sums) { sums.passes.hold_for_far_field(stream); });
    }

    /// Copies what `other` computes of its targets to their places here: the near field in the order of
    /// `stream`, a stream of the other's GPU, the far field as soon as it is there, on `early`, which
    /// `stream` then waits for. Both steps of the other are queued, with the same outputs.
    void take(FmmPart& other, int wanted, cudaStream_t early, cudaStream_t stream);

    [[nodiscard]] const DeviceTree& tree() const { return tree_; }
    /// Sets where the caller's targets are in the tree. @pre they are the sources
    void find_sources(cudaStream_t stream) { tree_.find_sources(stream); }
    /// Of translations, whatever the share.
    [[nodiscard]] double multiply_adds() const { return multiply_adds_; }
    [[nodiscard]] PassTimer& tree_timer() { return tree_timer_; }
    [[nodiscard]] PassTimer& timer() { return timer_; } ///< begins with `place`

private:
    template <class Real>
    void prepare_sums(Sums<Real>& sums, cudaStream_t stream);
    template <class Real>
    void form_sums(Sums<Real>& sums, int wanted, cudaStream_t stream);
    template <class Real>
    [[nodiscard]] PassSums<Real> places_of(Sums<Real>& sums) {
        return {sums.near.data(), far_.data(), near_hessians_.data(), far_hessians_.data()};
    }
    [[nodiscard]] PassDone marking() {
        return [this](std::string_view name, cudaStream_t stream) { timer_.mark(name, stream); };
    }

    FmmTask task_;
    DeviceTree tree_; ///< its sources are set with their strengths
    Sums<float> narrow_;
    Sums<double> wide_;
    DeviceArray<Vec4<double>> far_;
    DeviceArray<double> near_hessians_, far_hessians_;
    double multiply_adds_ = 0.0;
    PassTimer tree_timer_, timer_;
    Signal far_taken_;
};

} // namespace farfield::cuda
