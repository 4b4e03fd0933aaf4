// Every strategy of M2L on the GPU against the host's loops, in all boxes. Tolerance: sums of some ten
// thousand products that partly cancel, in another order: measured on the host 1e-15 for another order in
// double; 1e-12 leaves room for cancellation, 2e-4 for the same in float (2⁻²⁴ is 5e8 times 2⁻⁵³).
#include "gpu/needs_gpu.h"
#include "studies/fmm_strategies/memory_kinds.h"
#include "studies/fmm_strategies/sparse_runs.h"
#include "studies/fmm_strategies/strategies.h"

#include <gtest/gtest.h>

#include <string>

namespace farfield::strategies {
namespace {

TEST(FmmStrategiesGpu, EachGivesWhatTheHostGives) {
    NEEDS_GPU();
    for (const int order : {1, 3, 6, 10, 18}) // all widths of groups, of tiles and of rotated targets
        for (const int depth : {2, 3}) {
            if (order == 18 && depth == 3) continue;
            const auto problem = make_problem(uniform_charges(4000), order, depth, 0);
            std::vector<LevelBox> all;
            for (int level = first_level; level <= depth; ++level)
                for (int box = 0; box < boxes_of_level(level); ++box) all.push_back({level, box});
            const auto exact = host_mu(problem, all, 0);
            for (const bool is_double : {true, false}) {
                StrategyRuns runs(problem, is_double);
                for (const auto& info : strategy_table)
                    for (int repeat = 0; repeat < 2; ++repeat) { // µ begins at 0 each time
                        runs.run(info.strategy);
                        EXPECT_LT(error_of(problem, runs.fetch(), all, exact), is_double ? 1e-12 : 2e-4)
                            << info.name << ", p = " << order << ", depth " << depth;
                    }
            }
        }
}

TEST(FmmStrategiesGpu, EveryKindOfMemoryGivesWhatTheHostGives) {
    NEEDS_GPU();
    const auto problem = make_problem(uniform_charges(4000), 4, 3, 0);
    const auto boxes = sample_boxes(3, 64);
    for (const auto& time : measure_memory_kinds(problem, 1))
        EXPECT_LT(error_of(problem, time.mu, boxes, host_mu(problem, boxes, 0)), 1e-12) << time.what;
}

TEST(FmmStrategiesGpu, ASparseTreeGivesWhatTheHostGives) {
    NEEDS_GPU();
    const auto problem = make_sparse(clustered_charges(3000), 5, 10, 0);
    std::vector<std::size_t> all(problem.boxes());
    for (std::size_t n = 0; n < all.size(); ++n) all[n] = n;
    EXPECT_LT(sparse_error(problem, run_sparse(problem, 1).mu, all, host_sparse(problem, all, 0)), 1e-12);
}

} // namespace
} // namespace farfield::strategies
