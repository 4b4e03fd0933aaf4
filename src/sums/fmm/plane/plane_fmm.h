// A fast multipole sum in the plane on a CPU, prepared for many strengths: tree, lists, near field, far
// field.
#pragma once

#include "backend/threads/work_watch.h"
#include "base/aligned.h"
#include "base/work_array.h"
#include "sums/direct/plane/plane_results.h"
#include "sums/fmm/common/near_blocks.h"
#include "sums/fmm/common/order_search.h"
#include "sums/fmm/common/own_points.h"
#include "sums/fmm/common/rank_share.h"
#include "sums/fmm/plane/plane_passes.h"
#include "sums/fmm/plane/plane_shape.h"
#include "sums/method/method.h"
#include "sums/points/prepared.h"

#include <array>
#include <cmath>
#include <optional>
#include <variant>

namespace farfield {

class PlaneFmm : public PreparedSum {
public:
    PlaneFmm(const SumProblem& problem, const SumOptions& options);

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override;
    void execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override;
    /// Takes a higher order, one that may bring `error` down to the tolerance. False if there is none, or if
    /// higher ones gained nothing.
    bool refine(double error) override;

private:
    using Columns = std::array<RawVector<double>, 2>;
    [[nodiscard]] std::array<Extent, 3> extents() const;
    void set_frame();
    void fit_shape();
    void prepare();
    template <class T>
    void set_near_points(PreparedPoints<T>& sources, PreparedPoints<T>& targets);
    /// Of this process' rows of the tree, multiplied by 2^exponent.
    [[nodiscard]] Columns bring_strengths(int exponent) const;
    [[nodiscard]] double sum_of_all_strengths(std::span<const double> column) const;
    template <class T>
    std::optional<MutualBlocks::Begun> near_field(PreparedPoints<T>& sources, PreparedPoints<T>& targets,
                                                  const Columns& strengths, const TileSums& sums,
                                                  SumReport& report, WorkWatch& watch);
    void compute(const Columns& strengths, const TileSums& sums, const SumHooks& hooks, SumReport& report);
    /// Returns the coincident pairs that were left out.
    std::int64_t write_or_repair(const PlaneSums& sums, const PlaneResults& results, int threads);
    void write(const PlaneSums& sums, const SumOutputs& outputs, SumReport& report);
    void fill(SumReport& report, int sets) const;

    SumProblem problem_;
    SumProblem own_;     ///< of the points that this process gives: all, or a rank's
    SumOptions options_; ///< ISA and threads resolved
    PlaneShape shape_;
    RawVector<double> sources_, targets_, strengths_; ///< the caller's, N×2 and M×2
    RawVector<double> source_points_, target_points_; ///< in the frame, N×3 and M×3
    Frame frame_;
    double sigma_ = 0.0; ///< in the frame
    std::optional<Octree> tree_;
    NearLists lists_;
    NearBlocks near_;
    RankShare share_;
    std::optional<OwnPoints> own_points_;                 ///< where each rank gives its own
    PreparedPoints<float> float_sources_, float_targets_; ///< by the precision one of the two is used
    PreparedPoints<double> double_sources_, double_targets_;
    std::optional<PlanePasses> far_; ///< none where all cells are neighbours
    OrderSearch orders_;
    WorkArray sums_, given_sums_, potential_, field_; ///< of the execution; their memory serves the next
};

} // namespace farfield
