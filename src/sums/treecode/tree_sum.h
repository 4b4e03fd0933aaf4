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

    /// N×3 and M×3, checked; `targets` is empty where they are the sources.
    void set_points(RawVector<double> sources, RawVector<double> targets);
    [[nodiscard]] int threads() const { return options_.threads; }
    void set_float_outputs(OutputSet /*outputs*/) {}

    /// As FmmSum::compute, without dipoles.
    void compute(std::span<const double> strengths, std::span<const double> dipoles,
                 const DirectResults& results, SumReport& report, const SumHooks& hooks);

    /// Takes a higher order and a sharper estimate, or the latter alone. False if there is none.
    bool refine(double error);

private:
    void prepare();
    [[nodiscard]] TileSums cleared_sums(const DirectResults& results, int threads);
    template <class T>
    void compute_sums(PreparedPoints<T>& sources, PreparedPoints<T>& targets, const TileSums& sums,
                      SumReport& report, const SumHooks& hooks);
    template <class T>
    void sum_groups(const BlockSumTask& task, SumReport& report);

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
    RawVector<double> strengths_; ///< in the frame, in the order of the tree
    WorkArray sums_;              ///< potential and field, in the order of the tree
};

} // namespace farfield
