// A sum by a tree code on a CPU, prepared for many strengths: tree and groups of targets. What depends on
// strengths (expansions, walks) is made in each execution.
#pragma once

#include "backend/threads/work_watch.h"
#include "base/aligned.h"
#include "base/work_array.h"
#include "sums/direct/cpu/blocks/block_sum.h"
#include "sums/direct/cpu/direct.h"
#include "sums/direct/cpu/tiles.h"
#include "sums/method/problem.h"
#include "sums/points/prepared.h"
#include "sums/treecode/cells.h"
#include "sums/treecode/descent.h"
#include "sums/treecode/own_points.h"
#include "sums/treecode/shape.h"
#include "sums/treecode/target_tree.h"

#include <farfield/sum.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace farfield {

/// That it has no dipoles, or no second derivatives, and what has.
std::string why_no_tree_sum(bool dipoles);

class TreecodeSum {
public:
    TreecodeSum(const SumProblem& problem, const SumOptions& options);
    /// Groups of at most so many targets meet each cell themselves: what a GPU does.
    TreecodeSum(const SumProblem& problem, const SumOptions& options, std::int32_t group);

    /// N×3 and M×3, checked; `targets` is empty where they are the sources. Ranks that do not give everything
    /// (MethodInfo::takes_own_points) give their own, and so with strengths and results.
    void set_points(RawVector<double> sources, RawVector<double> targets);
    [[nodiscard]] int threads() const { return options_.threads; }
    void set_float_outputs(OutputSet /*outputs*/) {}

    // Of this rank's own sources, as PreparedSum says.
    void number_sources(std::span<const std::int64_t> numbers) {
        if (own_points_) own_points_->number_sources(numbers);
    }
    [[nodiscard]] Homes homes() const { return own_points_ ? own_points_->sources().homes() : Homes(); }

    /// As FmmSum::compute, without dipoles.
    void compute(std::span<const double> strengths, std::span<const double> dipoles,
                 const DirectResults& results, SumReport& report, const SumHooks& hooks);

    /// Takes a higher order and a sharper estimate, or the latter alone. False if there is none.
    bool refine(double error);

private:
    void prepare();
    void set_frame(const RawVector<double>& sources, const RawVector<double>& targets);
    template <class T>
    void prepare_points(PreparedPoints<T>& sources, PreparedPoints<T>& targets);
    [[nodiscard]] int set_strengths(std::span<const double> strengths, int threads);
    /// Of so many targets.
    [[nodiscard]] TileSums cleared_sums(WorkArray& memory, std::size_t rows, const DirectResults& results,
                                        int threads) const;
    template <class T>
    void compute_sums(PreparedPoints<T>& sources, PreparedPoints<T>& targets, const DirectResults& results,
                      SumReport& report, const SumHooks& hooks);
    /// Without points and sums.
    [[nodiscard]] BlockSumTask task_of(const DirectResults& results, const SumReport& report,
                                       WorkWatch& watch) const;
    template <class T>
    [[nodiscard]] DescentWork sum_own(PreparedPoints<T>& sources, PreparedPoints<T>& targets,
                                      const DirectResults& results, BlockSumTask task);
    static void take_sums(std::span<const std::vector<GroupSources>> groups, const TileSums& from,
                          std::int32_t own_begin, const TileSums& to);
    void report_work(const DescentWork& done, double seconds, SumReport& report) const;
    void write_results(std::span<const double> strengths, int exponent, const DirectResults& results,
                       SumReport& report, const SumHooks& hooks);

    SumProblem problem_;
    SumOptions options_; ///< ISA resolved
    TreecodeShape shape_;
    double sharper_ = 1.0;                            ///< than the tolerance: by executions that fell short
    RawVector<double> source_points_, target_points_; ///< in the frame, N×3 and M×3
    Frame frame_;
    double softening_ = 0.0; ///< in the frame
    double tree_seconds_ = 0.0;
    std::optional<Octree> tree_;
    std::vector<TargetNode> nodes_;
    std::int64_t group_count_ = 0;
    SourceCells cells_;
    PreparedPoints<float> float_sources_, float_targets_;
    PreparedPoints<double> double_sources_, double_targets_;
    RawVector<double> strengths_;              ///< in the frame, in the order of the tree
    std::optional<TreecodePoints> own_points_; ///< where each rank gives its own
    WorkArray memory_of_sums_, memory_of_given_;
    TileSums sums_; ///< in the order of the tree, or, where ranks give their own, of the given targets
};

} // namespace farfield
