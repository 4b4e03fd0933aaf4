// Every kernel of `farfield reproduce hermite` at all targets against the same series in long double.
// Tolerance: each rounded coordinate moves a Gaussian by 2⁻²⁴ = 6e-8, and the sizes of p² terms add up to 2.7
// of Σ|q| at most, over several clusters that cancel in part: 2e-6 of the greatest potential, as on the host.
#include "gpu/needs_gpu.h"
#include "studies/hermite/evaluations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace farfield::hermite {
namespace {

TEST(HermiteGpu, EachKernelGivesTheSeries) {
    NEEDS_GPU();
    for (const int terms : terms_measured)
        // one target; less than a box; boxes with a rest; two and four targets a thread of ours, with a rest
        for (const std::int64_t targets : {1, 1000, 25601, 70001, 270001}) {
            const auto problem = make_problem(terms, targets, 0);
            const auto truth = truth_of(problem, targets > 100000 ? 30000 : 100000, 0);
            EvaluationRuns runs(problem);
            for (const auto& info : variant_table) {
                EXPECT_GT(runs.milliseconds(info.variant, 1), 0);
                EXPECT_LT(error_of(truth, runs.fetch()), 2e-6)
                    << info.name << ", p = " << terms << ", N = " << targets;
            }
        }
}

// The last targets, which a block of threads may hold in part, among them: samples above leave some out.
TEST(HermiteGpu, TheLastTargetsAreEvaluated) {
    NEEDS_GPU();
    for (const std::int64_t targets : {1023, 1025, 66049, 262657}) {
        const auto problem = make_problem(5, targets, 0);
        Truth last;
        for (auto target = targets - 600; target < targets; ++target) {
            last.targets.push_back(target);
            last.potentials.push_back(exact_potential(problem, target));
            last.greatest = std::max(last.greatest, std::abs(last.potentials.back()));
        }
        EvaluationRuns runs(problem);
        for (const auto& info : variant_table) {
            runs.milliseconds(info.variant, 1);
            EXPECT_LT(error_of(last, runs.fetch()), 2e-6) << info.name << ", N = " << targets;
        }
    }
}

TEST(HermiteGpu, TheSameBitsFromRunToRunAndFromFactorialsReadOrMade) {
    NEEDS_GPU();
    const auto problem = make_problem(12, 30000, 0);
    EvaluationRuns runs(problem);
    const auto potentials = [&](Variant variant) {
        runs.milliseconds(variant, 1);
        return runs.fetch();
    };
    for (const auto& info : variant_table)
        EXPECT_EQ(potentials(info.variant), potentials(info.variant)) << info.name;
    EXPECT_EQ(potentials(Variant::balanced), potentials(Variant::loaded_factorials));
    EXPECT_EQ(potentials(Variant::balanced), potentials(Variant::unrolled));
}

TEST(HermiteGpu, KernelsTakeWhatTheyShould) {
    NEEDS_GPU();
    for (const int terms : terms_measured) {
        const EvaluationRuns runs(make_problem(terms, 25600, 0));
        for (const auto& info : variant_table) {
            const auto takes = runs.resources(info.variant);
            EXPECT_GT(takes.blocks, 0) << info.name;
            EXPECT_EQ(takes.local_bytes, 0) << info.name;
            EXPECT_LE(takes.shared_bytes, paper_shared_bytes) << info.name;
            EXPECT_NE(runs.kernel_name(info.variant).find("kernel"), std::string::npos);
        }
    }
}

} // namespace
} // namespace farfield::hermite
