// A lattice sum as methods prepare it: made for a goal of errors, and made again where that fell short.
#pragma once

#include "sums/direct/cpu/direct.h"
#include "sums/lattice/lattice_goal.h"
#include "sums/lattice/lattice_sum.h"

#include <farfield/communicator.h>
#include <farfield/sum.h>

#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace farfield {

/// What a rank takes beside what it would take alone: its own targets and their sums, and those of all in the
/// order of cells.
inline double bytes_of_rank(const SumProblem& problem) {
    return 8.0 * (3.0 + 4.0 + 3.0) * static_cast<double>(problem.targets);
}

/// What HostSum asks for.
class LatticeOnCpu {
public:
    /// Null if nothing keeps the goal. Called by all ranks at the same time, each of which makes the same.
    using Make = std::function<std::unique_ptr<LatticeSum>(double goal, Isa isa, int threads)>;

    /// `seconds`: of one sum on one thread, by the cost table.
    LatticeOnCpu(std::string_view method, const SumProblem& problem, const SumOptions& options,
                 double seconds, Make make);

    void set_points(RawVector<double> sources, RawVector<double> targets);
    [[nodiscard]] int threads() const { return threads_; }
    void set_float_outputs(OutputSet /*outputs*/) {}
    void compute(std::span<const double> strengths, std::span<const double> dipoles,
                 const DirectResults& results, SumReport& report, const SumHooks& hooks);
    bool refine(double error);

private:
    [[nodiscard]] double near_field() const;

    std::string_view method_;
    SumProblem problem_;
    Communicator communicator_;
    Make make_;
    Isa isa_;
    int threads_;
    LatticeGoal goal_;
    std::unique_ptr<LatticeSum> sum_;
    RawVector<double> sources_, targets_;
};

} // namespace farfield
