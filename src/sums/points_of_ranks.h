// Points, strengths and results of ranks that each have their own. Either all of them come together before a
// sum, and each rank takes its rows of the results; or the method takes each rank's (MethodInfo).
#pragma once

#include "backend/comm/transport.h"
#include "sums/method/problem.h"
#include "sums/points/rows_of_ranks.h"

#include <farfield/sum.h>

#include <cstdint>
#include <vector>

namespace farfield {

/// The points of all ranks, or how many each has.
struct PointsOfRanks {
    /// Checks each rank's own and counts them. `targets`: null where they are the sources.
    /// @throws InvalidArgument on all ranks for a mistake of one.
    PointsOfRanks(comm::Transport& ranks, const ConstArrayView& sources, const ConstArrayView* targets);
    /// All ranks get the points of all.
    void gather(comm::Transport& ranks, const ConstArrayView& own_sources, const ConstArrayView* own_targets);

    int dimension;
    RowsOfRanks source_rows, target_rows; ///< the same where targets are the sources
    std::vector<double> sources, targets; ///< of all, once they are gathered

    /// The problem of this rank's rows alone.
    [[nodiscard]] SumProblem own(SumProblem problem) const;
    /// This rank's points as contiguous doubles on the host: those of the view, or a `copy`.
    /// @throws InvalidArgument on all ranks where one has a number that is not finite
    [[nodiscard]] ConstArrayView own_sources(comm::Transport& ranks, const ConstArrayView& view, int threads,
                                             std::vector<double>& copy) const;
    [[nodiscard]] ConstArrayView own_targets(comm::Transport& ranks, const ConstArrayView& view, int threads,
                                             std::vector<double>& copy) const;
    /// Of all rows; without numbers before they are gathered.
    [[nodiscard]] ConstArrayView source_view() const;
    [[nodiscard]] ConstArrayView target_view() const;
};

/// What one execution gets and gives, of all ranks.
class ExecutionOfRanks {
public:
    /// @param problem  of all ranks' points
    /// @throws InvalidArgument on all ranks for a mistake of one
    ExecutionOfRanks(comm::Transport& ranks, const PointsOfRanks& points, const SumProblem& problem,
                     const SumStrengths& strengths, const SumOutputs& outputs);

    [[nodiscard]] const SumStrengths& strengths() const { return all_strengths_; }
    [[nodiscard]] const SumOutputs& outputs() const { return all_outputs_; }
    /// Writes this rank's rows into its outputs.
    void keep_own() const;

private:
    const PointsOfRanks& points_;
    SumOutputs own_outputs_;
    std::vector<double> charges_, dipoles_;
    std::vector<std::vector<double>> values_;
    SumStrengths all_strengths_;
    SumOutputs all_outputs_;
};

/// The same of this rank's rows alone, where the method takes these: with the strengths and outputs that any
/// rank has.
class OwnExecution {
public:
    /// @param anywhere  arrays may lie on GPUs, and who sums looks for numbers that are not finite
    /// @throws InvalidArgument on all ranks for a mistake of one
    OwnExecution(comm::Transport& ranks, const PointsOfRanks& points, const SumProblem& problem, int threads,
                 const SumStrengths& strengths, const SumOutputs& outputs, bool anywhere);

    [[nodiscard]] const SumStrengths& strengths() const { return strengths_; }
    [[nodiscard]] const SumOutputs& outputs() const { return outputs_; }

private:
    std::vector<double> charges_, dipoles_;   ///< copies, where they are needed
    std::vector<std::vector<double>> values_; ///< of outputs that only others want, and of no rows
    SumStrengths strengths_;
    SumOutputs outputs_;
};

} // namespace farfield
