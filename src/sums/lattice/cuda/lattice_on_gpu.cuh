// A lattice sum on a GPU as methods prepare it: lattice_on_cpu.h and lattice_sum.h for points, strengths and
// sums there. Ranks with a GPU each share the targets: all have all points, and what is smooth, a mesh or the
// coefficients of waves, each makes whole.
#pragma once

#include "sums/direct/cuda/several/shared_rows.cuh"
#include "sums/direct/cuda/whole_rows_sum.cuh"
#include "sums/lattice/cuda/box_totals.cuh"
#include "sums/lattice/cuda/near_fields.cuh"
#include "sums/lattice/cuda/near_images.cuh"
#include "sums/lattice/cuda/smooth_on_gpu.cuh"
#include "sums/lattice/lattice_goal.h"

#include <functional>
#include <memory>
#include <optional>

namespace farfield::cuda {

/// What a method makes of a goal.
struct LatticeDesign {
    Splitting splitting;
    double near = 0.0; ///< where near images end
    std::unique_ptr<SmoothOnGpu> smooth;
};

class LatticeOnGpu : public WholeRowsSum {
public:
    /// Nothing where nothing keeps the goal. All ranks call it together.
    using Make = std::function<std::optional<LatticeDesign>(double goal, cudaStream_t stream)>;

    LatticeOnGpu(const SumProblem& problem, const SumOptions& options, int device, Make make);

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override;
    void execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override;
    bool refine(double error) override;

private:
    /// False where nothing keeps the goal; the sum stays as it was then.
    bool make_sum();
    void place_points();
    void read_strengths(const ConstArrayView& view);
    void compute(const BoxTotals& totals, bool with_field, const SumHooks& hooks, SumReport& report);
    [[nodiscard]] NearImages::Counts counts_of_ranks(const NearImages::Counts& own) const;
    void leave(const BoxTotals& totals);
    [[nodiscard]] BoxPoints sources() const { return {sources_.data(), static_cast<int>(problem_.sources)}; }
    /// Of all ranks.
    [[nodiscard]] BoxPoints targets() const {
        return problem_.self ? sources() : BoxPoints{targets_.data(), static_cast<int>(problem_.targets)};
    }

    Make make_;
    LatticeGoal goal_;
    PeriodicFrame frame_;
    NearFields near_fields_;
    std::optional<NearImages> near_;
    LatticeDesign design_;
    DeviceArray<double> strengths_;               ///< as the caller gave them, in double
    DeviceArray<Vec4<double>> sources_, targets_; ///< in the box
    DeviceArray<Vec4<double>> sums_;              ///< of all targets
    comm::Transport* ranks_;                      ///< null: there is one alone
    std::optional<SharedRows> shared_rows_;       ///< targets whose sums this rank computes
    DeviceArray<double> potential_, field_;       ///< where the caller's arrays are elsewhere, or strided
    double *potentials_at_ = nullptr, *fields_at_ = nullptr;
};

} // namespace farfield::cuda
