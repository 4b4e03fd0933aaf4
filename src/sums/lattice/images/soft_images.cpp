#include "sums/lattice/images/soft_images.h"

#include "backend/threads/parallel.h"
#include "sums/lattice/share_results.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace farfield {
namespace {

/// Points that are computed next to each other.
constexpr std::size_t lanes = 8;
using Lanes = std::array<double, lanes>;

/// u^k of some points for k ≤ the degree; the last lanes stay 0 if there are fewer points.
class PowersOf {
public:
    PowersOf(const RawVector<double>& x, std::size_t first, std::size_t count, int degree, double sign)
        : values_(static_cast<std::size_t>(degree) + 1) {
        Lanes u{};
        for (std::size_t i = 0; i < count; ++i) u[i] = sign * x[first + i];
        values_[0].fill(1.0);
        for (std::size_t k = 1; k < values_.size(); ++k)
            for (std::size_t i = 0; i < lanes; ++i) values_[k][i] = values_[k - 1][i] * u[i];
    }
    const Lanes& operator[](int k) const { return values_[static_cast<std::size_t>(k)]; }

private:
    std::vector<Lanes> values_;
};

/// Divides by a! b! c!.
void divide_by_factorials(const Powers& powers, std::vector<double>& values) {
    for (int a = 0; a <= powers.degree(); ++a)
        for (int b = 0; b <= powers.degree() - a; ++b)
            for (int c = 0; c <= powers.degree() - a - b; ++c)
                values[powers.row(a, b) + static_cast<std::size_t>(c)] /=
                    std::tgamma(a + 1.0) * std::tgamma(b + 1.0) * std::tgamma(c + 1.0);
}

} // namespace

SoftImages::SoftImages(const ImageGrid& grid, double softening, const SoftGoal& goal, int threads,
                       comm::Transport* ranks, bool own_targets)
    : grid_(grid), operator_(soft_operator(grid, softening, goal, threads, ranks)), threads_(threads),
      ranks_(ranks), own_targets_(own_targets) {}

SoftImages::Cells SoftImages::sorted(const LatticePoints& points) const {
    const auto n = points[0].size();
    Cells out;
    std::vector<std::int32_t> cell(n);
    out.start.assign(static_cast<std::size_t>(grid_.count()) + 1, 0);
    for (std::size_t i = 0; i < n; ++i) {
        Whole at{};
        for (std::size_t k = 0; k < 3; ++k) at[k] = grid_.cell_of(points[k][i], k);
        cell[i] = grid_.number_of(at);
        ++out.start[static_cast<std::size_t>(cell[i]) + 1];
    }
    for (std::size_t c = 1; c < out.start.size(); ++c) out.start[c] += out.start[c - 1];
    auto next = out.start;
    out.order.resize(n);
    for (auto& axis : out.x) axis.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        const auto place = static_cast<std::size_t>(next[static_cast<std::size_t>(cell[i])]++);
        const auto centre = grid_.centre(grid_.cell_of(cell[i]));
        out.order[place] = static_cast<std::int64_t>(i);
        for (std::size_t k = 0; k < 3; ++k)
            out.x[k][place] = (points[k][i] - centre[k]) / operator_->sides()[k];
    }
    return out;
}

void SoftImages::set_points(const LatticePoints& sources, const LatticePoints* targets) {
    sources_ = sorted(sources);
    targets_.reset();
    if (targets != nullptr) targets_ = sorted(*targets);
}

double SoftImages::work() const {
    const auto size = static_cast<double>(operator_->powers().size());
    const auto sources = static_cast<double>(sources_.order.size()) * size;
    const auto at_targets = 4.0 * static_cast<double>(targets().order.size()) * size;
    const double part = part_of_rank(ranks_);
    return part * (sources + operator_->work()) + (own_targets_ ? 1.0 : part) * at_targets;
}

std::vector<double> SoftImages::moments_of(std::size_t cell, std::span<const double> strengths,
                                           WorkWatch& watch) const {
    const auto& powers = operator_->powers();
    const int most = powers.degree();
    std::vector<Lanes> sums(powers.size(), Lanes{});
    const auto end = static_cast<std::size_t>(sources_.start[cell + 1]);
    for (auto first = static_cast<std::size_t>(sources_.start[cell]); first < end && !watch.stopped();
         first += lanes) {
        const auto count = std::min(lanes, end - first);
        const PowersOf x(sources_.x[0], first, count, most, -1.0), y(sources_.x[1], first, count, most, -1.0),
            z(sources_.x[2], first, count, most, -1.0);
        Lanes q{};
        for (std::size_t i = 0; i < count; ++i)
            q[i] = strengths[static_cast<std::size_t>(sources_.order[first + i])];
        for (int a = 0; a <= most; ++a)
            for (int b = 0; b <= most - a; ++b) {
                Lanes w;
                for (std::size_t i = 0; i < lanes; ++i) w[i] = q[i] * x[a][i] * y[b][i];
                Lanes* const to = &sums[powers.row(a, b)];
                for (int c = 0; c <= most - a - b; ++c)
                    for (std::size_t i = 0; i < lanes; ++i) to[c][i] += w[i] * z[c][i];
            }
        watch.done(static_cast<double>(count * powers.size()));
    }
    std::vector<double> out(powers.size(), 0.0);
    for (std::size_t k = 0; k < out.size(); ++k)
        for (const double value : sums[k]) out[k] += value;
    divide_by_factorials(powers, out);
    return out;
}

void SoftImages::evaluate(std::size_t cell, std::vector<double> local, const LatticeResults& results,
                          WorkWatch& watch) const {
    const auto& powers = operator_->powers();
    const int most = powers.degree();
    divide_by_factorials(powers, local);
    const auto& at = targets();
    const auto& side = operator_->sides();
    const auto end = static_cast<std::size_t>(at.start[cell + 1]);
    for (auto first = static_cast<std::size_t>(at.start[cell]); first < end && !watch.stopped();
         first += lanes) {
        const auto count = std::min(lanes, end - first);
        const PowersOf x(at.x[0], first, count, most, 1.0), y(at.x[1], first, count, most, 1.0),
            z(at.x[2], first, count, most, 1.0);
        std::array<Lanes, 4> sums{}; // potential, and its derivatives
        for (int a = 0; a <= most; ++a)
            for (int b = 0; b <= most - a; ++b) {
                const double* const l = &local[powers.row(a, b)];
                Lanes value{}, slope{};
                for (int c = most - a - b; c >= 0; --c)
                    for (std::size_t i = 0; i < lanes; ++i) {
                        slope[i] = slope[i] * z[1][i] + value[i];
                        value[i] = value[i] * z[1][i] + l[c];
                    }
                for (std::size_t i = 0; i < lanes; ++i) {
                    sums[0][i] += x[a][i] * y[b][i] * value[i];
                    if (a > 0) sums[1][i] += a * x[a - 1][i] * y[b][i] * value[i];
                    if (b > 0) sums[2][i] += b * x[a][i] * y[b - 1][i] * value[i];
                    sums[3][i] += x[a][i] * y[b][i] * slope[i];
                }
            }
        for (std::size_t i = 0; i < count; ++i) {
            const auto row = at.order[first + i];
            if (results.potential != nullptr) results.potential[row] += sums[0][i];
            for (std::size_t k = 0; k < 3 && results.field != nullptr; ++k)
                results.field[3 * row + static_cast<std::int64_t>(k)] -= sums[k + 1][i] / side[k];
        }
        watch.done(4.0 * static_cast<double>(count * powers.size()));
    }
}

std::vector<double> SoftImages::local_of(std::size_t cell, std::span<const double> moments,
                                         WorkWatch& watch) const {
    const auto size = operator_->powers().size(), cells = moments.size() / size;
    std::vector<double> local(size, 0.0);
    for (std::size_t source = 0; source < cells && !watch.stopped(); ++source)
        if (sources_.start[source + 1] > sources_.start[source]) {
            operator_->add(static_cast<int>(cell), static_cast<int>(source),
                           moments.subspan(source * size, size), local);
            watch.done(soft_work_of_a_pair(operator_->powers().degree()));
        }
    return local;
}

std::vector<double> SoftImages::numbers_of_all(std::span<const std::int64_t> starts,
                                               const std::function<std::vector<double>(std::size_t)>& of,
                                               WorkWatch& watch) const {
    const auto size = static_cast<std::int64_t>(operator_->powers().size());
    return share_cell_numbers(ranks_, threads_, starts, size, watch, [&](std::size_t c, double* at) {
        const auto one = of(c);
        std::copy(one.begin(), one.end(), at);
    });
}

void SoftImages::add(std::span<const double> strengths, const LatticeResults& results,
                     WorkWatch& watch) const {
    const std::int64_t cells = grid_.count();
    const auto size = operator_->powers().size();
    const auto moments = numbers_of_all(
        sources_.start, [&](std::size_t c) { return moments_of(c, strengths, watch); }, watch);
    const auto& at = targets();
    if (own_targets_) {
        const auto locals = numbers_of_all(
            each_alike(cells), [&](std::size_t c) { return local_of(c, moments, watch); }, watch);
        return parallel_for(threads_, cells, [&](std::int64_t number) {
            const auto c = static_cast<std::size_t>(number);
            const auto* const local = locals.data() + c * size;
            if (!watch.stopped()) evaluate(c, {local, local + size}, results, watch);
        });
    }
    share_cells(
        ranks_, {.start = at.start, .order = at.order},
        {.target = 4.0 * static_cast<double>(size), .cell = operator_->work() / static_cast<double>(cells)},
        results, watch, [&](std::int64_t first, std::int64_t last) {
            parallel_for(threads_, last - first, [&](std::int64_t number) {
                const auto c = static_cast<std::size_t>(first + number);
                if (at.start[c + 1] == at.start[c]) return;
                auto local = local_of(c, moments, watch);
                if (!watch.stopped()) evaluate(c, std::move(local), results, watch);
            });
        });
}

} // namespace farfield
