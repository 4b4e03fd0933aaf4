// A fast multipole sum on a CPU, prepared for many strengths: tree, lists, near field and far field.
#pragma once

#include "backend/threads/work_watch.h"
#include "base/aligned.h"
#include "base/work_array.h"
#include "sums/direct/cpu/direct.h"
#include "sums/direct/cpu/ordered_results.h"
#include "sums/direct/periodic/image_problem.h"
#include "sums/fmm/common/image_blocks.h"
#include "sums/fmm/common/near_blocks.h"
#include "sums/fmm/common/own_points.h"
#include "sums/fmm/common/rank_share.h"
#include "sums/fmm/passes.h"
#include "sums/fmm/shape.h"
#include "sums/fmm/target_bounds.h"
#include "sums/points/prepared.h"

#include <farfield/sum.h>

#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace farfield {

class FmmSum {
public:
    FmmSum(const SumProblem& problem, const SumOptions& options, const TreeBox& box = {});

    /// N×3 and M×3, checked, and in the box of a problem that has a periodic tree, whose sum over
    /// images is that over growing spheres in empty space; `targets` is empty where they are the sources.
    /// Ranks that do not give everything (MethodInfo::takes_own_points) give their own, and so with strengths
    /// and results.
    void set_points(RawVector<double> sources, RawVector<double> targets);
    [[nodiscard]] int threads() const { return options_.threads; }

    /// As DirectSum::compute; `dipoles` N×3, or empty. With `SumOptions::guaranteed` at orders whose bounds
    /// are within the tolerance, which the report tells. @throws ToleranceNotReached where none is
    void compute(std::span<const double> strengths, std::span<const double> dipoles,
                 const DirectResults& results, SumReport& report, const SumHooks& hooks);

    /// Of a periodic tree, after `compute`: otherwise points meet, and results where they do are not finite.
    /// Other sums find these and repair them.
    [[nodiscard]] bool is_finite() const { return is_finite_; }

    // Of this rank's own sources, as PreparedSum says.
    void number_sources(std::span<const std::int64_t> numbers) {
        if (own_points_) own_points_->number_sources(numbers);
    }
    [[nodiscard]] Homes homes() const { return own_points_ ? own_points_->sources().homes() : Homes(); }

    /// These outputs go into floats: what bounds are to count, too.
    void set_float_outputs(OutputSet outputs) { float_outputs_ = outputs; }

    /// Takes a higher order, one that may bring `error` down to the tolerance. False if there is none.
    bool refine(double error);

private:
    /// How far an output may be off, and from what.
    struct Guarantee {
        Output output = Output::potential;
        double relative = 0.0;   ///< error over the norm of the exact output, at most
        double truncation = 0.0; ///< of expansions; norms in the units of the caller
        double rounding = 0.0;
        double norm = 0.0; ///< of the computed output
    };
    void compute_at_order(std::span<const double> strengths, std::span<const double> dipoles,
                          const DirectResults& results, SumReport& report, const SumHooks& hooks);
    void compute_guaranteed(std::span<const double> strengths, std::span<const double> dipoles,
                            const DirectResults& results, SumReport& report, const SumHooks& hooks);
    [[nodiscard]] OutputBounds target_bounds(const DirectResults& results, int threads) const;
    [[nodiscard]] std::vector<Guarantee> guarantees(const DirectResults& results, int threads) const;
    bool raise_order(const std::vector<Guarantee>& found);
    [[noreturn]] void refuse_bound(const Guarantee& worst) const;
    void prepare();
    template <class T>
    void set_near_points(PreparedPoints<T>& sources, PreparedPoints<T>& targets, PreparedPoints<T>& images);
    /// The expansions of 1/r, and those of what softening makes of it; either may have nothing to do.
    template <class T>
    struct FarField {
        std::optional<FmmPasses<T>> harmonics, softened;

        void begin(std::span<const double> strengths, std::span<const double> dipoles, SumReport& report,
                   WorkWatch& watch);                           ///< P2M, M2M
        void translate(SumReport& report);                      ///< M2L, L2L
        void evaluate(const TileSums& sums, SumReport& report); ///< L2P
        void clear() {
            harmonics.reset();
            softened.reset();
        }
        [[nodiscard]] double work() const {
            return (harmonics ? harmonics->work() : 0.0) + (softened ? softened->work() : 0.0);
        }

    private:
        /// Null where there is none.
        [[nodiscard]] std::array<FmmPasses<T>*, 2> both() {
            return {harmonics ? &*harmonics : nullptr, softened ? &*softened : nullptr};
        }
        void add_pass(SumReport& report, const FmmPasses<T>& far, const char* name, double seconds) const;
    };
    [[nodiscard]] std::array<Extent, 3> extents() const;
    void fit_shape();
    void bring_strengths(std::span<const double> strengths, std::span<const double> dipoles, int exponent);
    template <class T>
    void make_far_field(FarField<T>& far);
    template <class T>
    std::optional<MutualBlocks::Begun> near_field(PreparedPoints<T>& sources, PreparedPoints<T>& targets,
                                                  const TileSums& sums, SumReport& report, WorkWatch& watch);
    /// What leaves across the faces of a periodic box do.
    template <class T>
    void add_near_images(const PreparedPoints<T>& sources, const PreparedPoints<T>& targets,
                         PreparedPoints<T>& images, const TileSums& sums, SumReport& report,
                         WorkWatch& watch);
    [[nodiscard]] BlockSumTask near_task(const TilePoints& targets, const TilePoints& sources,
                                         const TileSums& sums, int threads, WorkWatch& watch) const;
    void compute_sums(const TileSums& sums, SumReport& report, const SumHooks& hooks);
    /// Without what those of ranks and those of one process have apart.
    [[nodiscard]] OrderedSums sums_to_write(const TileSums& sums, const SumHooks& hooks) const;
    void write_results(const TileSums& sums, const DirectResults& results, SumReport& report,
                       const SumHooks& hooks);
    void write_own_results(const TileSums& sums, std::span<const double> strengths,
                           std::span<const double> dipoles, const DirectResults& results, SumReport& report,
                           const SumHooks& hooks);

    SumProblem problem_;
    SumOptions options_; ///< ISA resolved
    TreeBox box_;
    FmmShape shape_;
    RawVector<double> source_points_, target_points_; ///< in the frame, N×3 and M×3
    Frame frame_;
    double softening_ = 0.0; ///< in the frame
    std::optional<Octree> tree_;
    NearLists lists_;
    NearBlocks near_;
    ImageBlocks images_;                              ///< of a periodic tree
    std::int64_t image_pairs_ = 0, image_points_ = 0; ///< of all ranks
    RankShare share_;
    std::optional<OwnPoints> own_points_; ///< where each rank gives its own
    OrderSearch orders_;
    PreparedPoints<float> float_sources_, float_targets_, float_images_;
    PreparedPoints<double> double_sources_, double_targets_, double_images_;
    FarField<float> float_far_;
    FarField<double> double_far_;
    OutputSet float_outputs_;
    int strength_exponent_ = 0;   ///< of `strengths_`, as strength_exponent()
    RawVector<double> strengths_; ///< in the frame, in the order of the tree
    std::vector<double> dipoles_; ///< the same, N×3; empty: none
    WorkArray sums_;              ///< potential, field, Hessian, in the order of the tree
    bool is_finite_ = true;
    WorkArray given_sums_; ///< the same of the points that this rank gave
};

} // namespace farfield
