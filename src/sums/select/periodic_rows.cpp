#include "sums/select/periodic_rows.h"

#include "backend/simd/isa.h"
#include "backend/threads/parallel.h"
#include "sums/costs/cost_table.h"
#include "sums/ewald/ewald_sum.h"
#include "sums/lattice/images/line_pair.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <optional>
#include <span>
#include <vector>

namespace farfield {

namespace {

/// The axis that is open, or periodic, of a slab or a line.
std::size_t odd_axis(const SumProblem& problem, bool is_open) {
    std::size_t axis = 0;
    for (std::size_t k = 0; k < 3; ++k)
        if ((problem.period[k] == 0.0) == is_open) axis = k;
    return axis;
}

int open_axes(const SumProblem& problem) {
    return static_cast<int>(std::count(problem.period.begin(), problem.period.end(), 0.0));
}

/// Every pair and its images, in closed form.
void compute_rows_on_line(const VerifyTask& task, ExactRows& rows) {
    const auto& problem = *task.problem;
    const auto axis = odd_axis(problem, false);
    const double length = problem.period[axis], soft = problem.softening * problem.softening;
    const auto points = problem.self ? task.sources : task.targets;
    std::vector<ExactRows::value_type*> list;
    for (auto& row : rows) list.push_back(&row);
    parallel_for(task.threads, static_cast<std::int64_t>(list.size()), [&](std::int64_t number) {
        auto& [row, values] = *list[static_cast<std::size_t>(number)];
        std::array<long double, 4> sums{};
        for (std::size_t j = 0; j < task.strengths.size(); ++j) {
            std::array<double, 3> d{};
            double square = soft;
            for (std::size_t k = 0; k < 3; ++k) {
                d[k] = points[3 * static_cast<std::size_t>(row) + k] - task.sources[3 * j + k];
                square += k == axis ? 0.0 : d[k] * d[k];
            }
            d[axis] -= length * std::round(d[axis] / length);
            const bool is_own = problem.self && static_cast<std::int64_t>(j) == row;
            const bool meets = square == 0.0 && d[axis] == 0.0; // a pair that was left out
            const auto pair = line_pair(d[axis], square, length, !is_own && !meets);
            sums[0] += task.strengths[j] * pair.potential;
            for (std::size_t k = 0; k < 3; ++k)
                sums[k + 1] += task.strengths[j] * (k == axis ? pair.along : pair.across * d[k]);
        }
        values.assign(static_cast<std::size_t>(problem.kernel->width(problem.dimension)), 0.0);
        for (std::size_t k = 0; k < 4; ++k) values[k] = problem.kernel->sign * static_cast<double>(sums[k]);
    });
}

/// A slab as one of a stack of slabs, so far apart that the others act by their dipole moment alone; what
/// that does is taken away (Yeh & Berkowitz, J. Chem. Phys. 111, 3155 (1999), who kept the field).
struct Stack {
    std::size_t axis = 0;
    double moment = 0.0, square = 0.0, middle = 0.0;

    Stack(const VerifyTask& task, SumProblem& problem) : axis(odd_axis(problem, true)) {
        constexpr double gap = 6.0; // periods: e^(−2π·6) = 4e-17
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (const auto points : {task.sources, task.targets})
            for (std::size_t i = axis; i < points.size(); i += 3) {
                low = std::min(low, points[i]);
                high = std::max(high, points[i]);
            }
        const double longest = *std::max_element(problem.period.begin(), problem.period.end());
        problem.period[axis] = high - low + gap * longest;
        middle = 0.5 * (low + high);
        long double first = 0.0L, second = 0.0L;
        for (std::size_t j = 0; j < task.strengths.size(); ++j) {
            const double z = task.sources[3 * j + axis] - middle;
            first += task.strengths[j] * z;
            second += task.strengths[j] * z * z;
        }
        moment = static_cast<double>(first);
        square = static_cast<double>(second);
    }

    /// −(2π/V) Σ q (z − z_j)² and its negative gradient.
    void take_away(const SumProblem& problem, std::span<const double> targets, std::vector<double>& potential,
                   std::vector<double>& field) const {
        const double factor = 4.0 * std::numbers::pi * problem.kernel->sign /
                              (problem.period[0] * problem.period[1] * problem.period[2]);
        for (std::size_t i = 0; i < potential.size(); ++i) {
            potential[i] -= factor * (0.5 * square - (targets[3 * i + axis] - middle) * moment);
            field[3 * i + axis] -= factor * moment;
        }
    }
};

} // namespace

void compute_periodic_rows(const VerifyTask& task, ExactRows& rows) {
    constexpr double goal = 1e-16;
    auto problem = *task.problem;
    if (open_axes(problem) == 2) return compute_rows_on_line(task, rows);
    std::optional<Stack> stack;
    if (open_axes(problem) == 1) stack.emplace(task, problem);
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
    if (stack) stack->take_away(problem, targets, potential, field);
    std::size_t at = 0;
    for (auto& [row, values] : rows) {
        values.assign(static_cast<std::size_t>(problem.kernel->width(problem.dimension)), 0.0);
        values[0] = potential[at];
        for (std::size_t k = 0; k < 3; ++k) values[1 + k] = field[3 * at + k];
        ++at;
    }
}

} // namespace farfield
