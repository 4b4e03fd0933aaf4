#include "sums/select/periodic_rows.h"

#include "backend/simd/isa.h"
#include "sums/costs/cost_table.h"
#include "sums/ewald/ewald_sum.h"

#include <cstddef>

namespace farfield {

void compute_periodic_rows(const VerifyTask& task, ExactRows& rows) {
    constexpr double goal = 1e-16;
    auto problem = *task.problem;
    const auto points = problem.self ? task.sources : task.targets;
    std::vector<double> targets;
    std::vector<std::int64_t> own;
    for (const auto& [row, values] : rows) {
        const auto first = points.begin() + 3 * row;
        targets.insert(targets.end(), first, first + 3);
        own.push_back(problem.self ? row : -1);
    }
    const auto m = static_cast<std::int64_t>(rows.size());
    problem.targets = m;
    problem.coincident = Coincident::skip; // the sum has looked for them
    EwaldSum sum(problem, ewald_cutoffs(problem, goal, shipped_cost_table()), resolve_isa(Isa::automatic),
                 task.threads);
    sum.set_points(task.sources, targets, own);
    std::vector<double> potential(rows.size()), field(3 * rows.size());
    SumReport report;
    sum.compute(task.strengths, {potential.data(), field.data()}, {}, report);
    std::size_t at = 0;
    for (auto& [row, values] : rows) {
        values.assign(static_cast<std::size_t>(problem.kernel->width(problem.dimension)), 0.0);
        values[0] = potential[at];
        for (std::size_t k = 0; k < 3; ++k) values[1 + k] = field[3 * at + k];
        ++at;
    }
}

} // namespace farfield
