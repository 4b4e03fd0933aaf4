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
#include <utility>
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
    double extent = 0.0, gap = 0.0; ///< of the slab, and between slabs

    Stack(const VerifyTask& task, SumProblem& problem) : axis(odd_axis(problem, true)) {
        constexpr double periods = 6.0; // between slabs: e^(−2π·6) = 4e-17
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (const auto points : {task.sources, task.targets})
            for (std::size_t i = axis; i < points.size(); i += 3) {
                low = std::min(low, points[i]);
                high = std::max(high, points[i]);
            }
        const double longest = *std::max_element(problem.period.begin(), problem.period.end());
        extent = high - low;
        gap = periods * longest;
        problem.period[axis] = extent + gap;
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

/// What the other slabs of a stack do beside that because they are softened. Of charges h apart the mean over
/// the slab acts as −(2π/A) √(h²+ε²), so they do
///   −(2π/A) (Σ_{m≠0} g(h + mL) − (1/L) ∫ g),  g(u) = √(u²+ε²) − |u|,
/// with Euler's and Maclaurin's first term for the ends of the sum: a smooth function, interpolated.
class SoftStack {
public:
    /// @param reach  the largest |h|
    SoftStack(double softening, double length, double reach)
        : soft_(softening), length_(length), reach_(reach) {
        // the first singularity lies at h = L
        const double nearest = length / reach;
        const double ratio = nearest + std::sqrt(nearest * nearest - 1.0);
        const int n = 2 + static_cast<int>(std::ceil(-std::log(1e-17) / std::log(ratio)));
        std::vector<std::array<double, 2>> values(static_cast<std::size_t>(n));
        for (int i = 0; i < n; ++i)
            values[static_cast<std::size_t>(i)] = value(reach * std::cos(std::numbers::pi * (i + 0.5) / n));
        for (int k = 0; k < n; ++k) {
            std::array<double, 2> sum{};
            for (int i = 0; i < n; ++i)
                for (std::size_t j = 0; j < 2; ++j)
                    sum[j] += (k == 0 ? 1.0 : 2.0) / n * std::cos(std::numbers::pi * k * (i + 0.5) / n) *
                              values[static_cast<std::size_t>(i)][j];
            series_.push_back(sum);
        }
    }

    /// The function in brackets and its derivative, by Clenshaw's recurrence.
    [[nodiscard]] std::array<double, 2> at(double h) const {
        const double x = h / reach_;
        std::array<double, 2> b{}, before{};
        for (auto k = series_.size() - 1; k > 0; --k)
            for (std::size_t j = 0; j < 2; ++j)
                before[j] = std::exchange(b[j], 2.0 * x * b[j] - before[j] + series_[k][j]);
        return {x * b[0] - before[0] + series_[0][0], x * b[1] - before[1] + series_[0][1]};
    }

private:
    using Real = long double;
    [[nodiscard]] Real height(Real u) const { return std::hypot(u, soft_); }
    [[nodiscard]] Real rest(Real u) const { return soft_ * soft_ / (height(u) + std::abs(u)); }
    [[nodiscard]] Real slope(Real u) const { return (u < 0 ? 1 : -1) * rest(u) / height(u); }
    [[nodiscard]] Real curve(Real u) const { return soft_ * soft_ / (height(u) * height(u) * height(u)); }
    [[nodiscard]] Real integral(Real u) const {
        return 0.5L * (u * rest(u) + soft_ * soft_ * std::asinh(u / soft_));
    }
    [[nodiscard]] std::array<double, 2> value(Real h) const {
        constexpr double images = 2000.0, most = 1e6;
        const auto last =
            static_cast<int>(std::min(most, images * std::max(1.0, static_cast<double>(soft_ / length_))));
        const Real low = h - (last + 0.5L) * length_, high = h + (last + 0.5L) * length_;
        Real sum = (integral(low) - integral(high)) / length_ + length_ / 24 * (slope(high) - slope(low));
        Real change = (rest(low) - rest(high)) / length_ + length_ / 24 * (curve(high) - curve(low));
        for (int m = 1; m <= last; ++m)
            for (const Real u : {h - m * length_, h + m * length_}) {
                sum += rest(u);
                change += slope(u);
            }
        return {static_cast<double>(sum), static_cast<double>(change)};
    }

    Real soft_, length_;
    double reach_;
    std::vector<std::array<double, 2>> series_;
};

void take_away_softening(const VerifyTask& task, const SumProblem& stack, const Stack& of,
                         std::span<const double> targets, std::vector<double>& potential,
                         std::vector<double>& field) {
    const auto axis = of.axis;
    const SoftStack function(stack.softening, stack.period[axis], std::max(of.extent, 0.1 * of.gap));
    const double factor = 2.0 * std::numbers::pi * stack.kernel->sign /
                          (stack.period[(axis + 1) % 3] * stack.period[(axis + 2) % 3]);
    parallel_for(task.threads, static_cast<std::int64_t>(potential.size()), [&](std::int64_t row) {
        const auto i = static_cast<std::size_t>(row);
        long double value = 0.0L, change = 0.0L;
        for (std::size_t j = 0; j < task.strengths.size(); ++j) {
            const auto pair = function.at(targets[3 * i + axis] - task.sources[3 * j + axis]);
            value += task.strengths[j] * pair[0];
            change += task.strengths[j] * pair[1];
        }
        potential[i] += factor * static_cast<double>(value);
        field[3 * i + axis] -= factor * static_cast<double>(change);
    });
}

} // namespace

namespace {

/// What a row's image takes, in pairs of sums at all points: rows lie in cells of their own, so that images
/// are gathered for each, and those of few rows, which reach far, fill no cache.
constexpr double pairs_an_image = 2.5, pairs_a_far_image = 8.0;
constexpr std::int64_t few_rows = 16;

} // namespace

bool is_periodic_along_line(const SumProblem& problem) { return open_axes(problem) == 2; }

std::optional<double> rough_goal(const VerifyTask& task) {
    constexpr std::int64_t few_sources = 8000;
    const auto& problem = *task.problem;
    // of softened charges errors lie further below the tolerance
    const double goal = (problem.softening > 0.0 ? 1e-5 : 3e-4) * problem.tolerance;
    if (!problem.is_periodic() || is_periodic_along_line(problem)) return std::nullopt;
    if (problem.sources < few_sources) return std::nullopt;
    if (goal < 1e5 * precise_goal) return std::nullopt;
    return goal;
}

void compute_periodic_rows(const VerifyTask& task, ExactRows& rows, double goal) {
    auto problem = *task.problem;
    if (is_periodic_along_line(problem)) return compute_rows_on_line(task, rows);
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
    auto rates = ewald_rates(shipped_cost_table());
    if (goal > precise_goal) rates.pair *= m <= few_rows ? pairs_a_far_image : pairs_an_image;
    EwaldSum sum(problem, ewald_cutoffs(problem, goal, rates), resolve_isa(Isa::automatic), task.threads,
                 task.sharing);
    sum.set_points(task.sources, targets, own);
    std::vector<double> potential(rows.size()), field(3 * rows.size());
    SumReport report;
    sum.compute(task.strengths, {potential.data(), field.data()}, {}, report);
    if (stack) stack->take_away(problem, targets, potential, field);
    if (stack && problem.softening > 0.0)
        take_away_softening(task, problem, *stack, targets, potential, field);
    std::size_t at = 0;
    for (auto& [row, values] : rows) {
        values.assign(static_cast<std::size_t>(problem.kernel->width(problem.dimension)), 0.0);
        values[0] = potential[at];
        for (std::size_t k = 0; k < 3; ++k) values[1 + k] = field[3 * at + k];
        ++at;
    }
}

} // namespace farfield
