// A lattice sum on one GPU as methods prepare it: lattice_on_cpu.h and lattice_sum.h for points, strengths
// and sums there.
#pragma once

#include "sums/direct/cuda/on_one_gpu.cuh"
#include "sums/lattice/cuda/box_totals.cuh"
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

class LatticeOnGpu : public OnOneGpu {
public:
    /// Nothing where nothing keeps the goal.
    using Make = std::function<std::optional<LatticeDesign>(double goal, cudaStream_t stream)>;

    LatticeOnGpu(const SumProblem& problem, const SumOptions& options, int device, Make make);

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override;
    void execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override;
    bool refine(double error) override;

private:
    /// Null where nothing keeps the goal; the sum stays as it was then.
    bool make_sum();
    void place_points();
    void read_strengths(const ConstArrayView& view);
    void compute(const BoxTotals& totals, bool with_field, const SumHooks& hooks, SumReport& report);
    void leave(const BoxTotals& totals);

    Make make_;
    LatticeGoal goal_;
    PeriodicFrame frame_;
    std::optional<NearImages> near_;
    LatticeDesign design_;
    DeviceArray<double> source_rows_, target_rows_, strengths_; ///< as the caller gave them, in double
    DeviceArray<Vec4<double>> sources_, targets_;               ///< in the box
    DeviceArray<Vec4<double>> sums_;
    DeviceArray<double> potential_, field_; ///< where the caller's arrays are elsewhere, or strided
    double *potentials_at_ = nullptr, *fields_at_ = nullptr;
};

} // namespace farfield::cuda
