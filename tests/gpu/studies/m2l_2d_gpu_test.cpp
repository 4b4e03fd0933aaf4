// Every M2L kernel of `farfield reproduce m2l-2d` in all boxes against the formulas in double. Tolerance:
// inputs and operators rounded to float, 2⁻²⁴ = 6e-8 each, and sums of 27·p² terms that cancel in part. That
// gives 2.4e-7 with so few boxes as depth 2 has, 1.6e-7 with many. TF32 in two parts keeps 21 bits.
#include "gpu/needs_gpu.h"
#include "studies/m2l_2d/translations.h"

#include <gtest/gtest.h>

#include <numeric>

namespace farfield::m2l2d {
namespace {

struct Exact {
    std::vector<int> boxes;
    std::vector<Number> of_form[2];
};
Exact exact_of(const Problem& problem) {
    Exact exact;
    exact.boxes.resize(static_cast<std::size_t>(boxes_of_depth(problem.depth)));
    std::iota(exact.boxes.begin(), exact.boxes.end(), 0);
    for (const auto form : {Form::paper, Form::with_logarithm})
        for (const int box : exact.boxes) {
            const auto local = host_local(problem, form, box);
            auto& all = exact.of_form[static_cast<std::size_t>(form)];
            all.insert(all.end(), local.begin(), local.end());
        }
    return exact;
}

TEST(M2l2dGpu, EachKernelGivesWhatTheFormulasGive) {
    NEEDS_GPU();
    for (const int terms : terms_measured)
        for (const int depth :
             {2, 3, 5, 6}) { // less than a group of parents, one, many; rows longer than a warp
            if (terms == 16 && depth == 6) continue;
            const auto problem = make_problem(terms, depth, 0);
            const auto exact = exact_of(problem);
            TranslationRuns runs(problem);
            for (const auto& info : variant_table) {
                const auto error = [&] {
                    return error_of(problem, runs.fetch(), exact.boxes,
                                    exact.of_form[static_cast<std::size_t>(info.form)]);
                };
                constexpr double most = 5e-7;
                if (info.writes) {
                    runs.write_all(info.variant, 1);
                    EXPECT_LT(error(), most) << info.name << ", p = " << terms << ", depth " << depth;
                }
                if (info.fuses) {
                    runs.fused(info.variant, 1);
                    EXPECT_LT(error(), most) << info.name << " fused, p = " << terms << ", depth " << depth;
                }
            }
        }
}

TEST(M2l2dGpu, TheSameBitsFromRunToRun) {
    NEEDS_GPU();
    const auto problem = make_problem(12, 5, 0);
    TranslationRuns runs(problem);
    for (const auto variant :
         {Variant::shared_operator, Variant::rotations, Variant::staged, Variant::tensor}) {
        runs.fused(variant, 1);
        const auto first = runs.fetch();
        runs.fused(variant, 1);
        const auto second = runs.fetch();
        for (std::size_t i = 0; i < first.size(); ++i)
            ASSERT_TRUE(first[i].re == second[i].re && first[i].im == second[i].im) << info_of(variant).name;
    }
}

} // namespace
} // namespace farfield::m2l2d
