#include "sums/lattice/images/soft_images.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"
#include "sums/lattice/share_results.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace farfield {
namespace {

/// Points that are computed next to each other.
constexpr std::size_t lanes = 8;
using Lanes = std::array<double, lanes>;

/// Points of a cell that a task takes.
constexpr std::int64_t points_of_a_task = 8192;

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

/// Adds the moments of a block to those of its cell, axis by axis.
void add_up(const Powers& low, std::span<const double> block, const Powers& all, const BlockShifts& shift,
            std::span<double> cell) {
    const int t = low.degree(), d = all.degree();
    const auto n = static_cast<std::size_t>(d) + 1;
    std::vector<double> row(n), plane(n * n);
    for (int m = 0; m <= t; ++m) {
        std::fill(plane.begin(), plane.end(), 0.0); // y^b z^c of x^m
        for (int k = 0; k <= t - m; ++k) {
            const double* const from = &block[low.row(m, k)];
            for (int c = 0; c <= d; ++c) {
                double sum = 0.0;
                for (int o = 0; o <= std::min(c, t - m - k); ++o) sum += (*shift[2])(c, o) * from[o];
                row[static_cast<std::size_t>(c)] = sum;
            }
            for (int b = k; b <= d; ++b)
                for (int c = 0; c <= d - b; ++c)
                    plane[static_cast<std::size_t>(b) * n + static_cast<std::size_t>(c)] +=
                        (*shift[1])(b, k) * row[static_cast<std::size_t>(c)];
        }
        for (int a = m; a <= d; ++a) {
            const double factor = (*shift[0])(a, m);
            for (int b = 0; b <= d - a; ++b) {
                double* const to = &cell[all.row(a, b)];
                for (int c = 0; c <= d - a - b; ++c)
                    to[c] += factor * plane[static_cast<std::size_t>(b) * n + static_cast<std::size_t>(c)];
            }
        }
    }
}

/// The cell's polynomial as one of a block, up to its degree.
std::vector<double> about_block(const Powers& all, std::span<const double> cell, const BlockShifts& shift,
                                const Powers& low) {
    const int t = low.degree(), d = all.degree();
    const auto n = static_cast<std::size_t>(d) + 1;
    std::vector<double> out(low.size(), 0.0), plane(n * n), row(n);
    for (int m = 0; m <= t; ++m) {
        std::fill(plane.begin(), plane.end(), 0.0);
        for (int a = m; a <= d; ++a) {
            const double factor = (*shift[0])(a, m);
            for (int b = 0; b <= d - a; ++b) {
                const double* const from = &cell[all.row(a, b)];
                for (int c = 0; c <= d - a - b; ++c)
                    plane[static_cast<std::size_t>(b) * n + static_cast<std::size_t>(c)] += factor * from[c];
            }
        }
        for (int k = 0; k <= t - m; ++k) {
            std::fill(row.begin(), row.end(), 0.0);
            for (int b = k; b <= d - m; ++b)
                for (int c = 0; c <= d - m - b; ++c)
                    row[static_cast<std::size_t>(c)] +=
                        (*shift[1])(b, k) *
                        plane[static_cast<std::size_t>(b) * n + static_cast<std::size_t>(c)];
            double* const to = &out[low.row(m, k)];
            for (int o = 0; o <= t - m - k; ++o)
                for (int c = o; c <= d - m - k; ++c)
                    to[o] += (*shift[2])(c, o) * row[static_cast<std::size_t>(c)];
        }
    }
    return out;
}

/// Divides by a! b! c!.
void divide_by_factorials(const Powers& powers, std::vector<double>& values) {
    for (int a = 0; a <= powers.degree(); ++a)
        for (int b = 0; b <= powers.degree() - a; ++b)
            for (int c = 0; c <= powers.degree() - a - b; ++c)
                values[powers.row(a, b) + static_cast<std::size_t>(c)] /=
                    std::tgamma(a + 1.0) * std::tgamma(b + 1.0) * std::tgamma(c + 1.0);
}

} // namespace

BlockShift::BlockShift(double c, int degree, int block_degree) : width_(block_degree + 1) {
    for (int a = 0; a <= degree; ++a)
        for (int k = 0; k < width_; ++k) {
            double value = k <= a ? 1.0 : 0.0; // (a over k) c^(a − k)
            for (int i = 0; i < a - k; ++i) value *= c * (a - i) / (i + 1.0);
            values_.push_back(value);
        }
}

SoftImages::SoftImages(const ImageGrid& grid, const SoftKernel& kernel, const SoftGoal& goal, int threads,
                       comm::Transport* ranks, bool own_targets)
    : grid_(grid), operator_(soft_operator(grid, kernel, goal, threads, ranks)),
      digits_(digits_of(goal, grid, kernel)), threads_(threads), ranks_(ranks), own_targets_(own_targets) {}

// Blocks of about 64 points, in which polynomials of low degree do: a block is small beside its distance from
// far images. At least as many digits as the cell's polynomials keep, and one degree for the gradient.
SoftImages::Blocks SoftImages::blocks_for(std::int64_t points) const {
    constexpr double points_of_a_block = 64.0, most_across = 16.0, least_gain = 2.0;
    const int degree = operator_->powers().degree();
    const double across =
        std::clamp(std::round(std::cbrt(static_cast<double>(points) / grid_.count() / points_of_a_block)),
                   1.0, most_across);
    const double ratio = 0.5 * length_of(operator_->sides()) / (across * nearest_far_image(grid_));
    if (across == 1.0 || ratio > 0.5) return {.across = 1, .powers = operator_->powers()};
    const int low = std::max(1, 1 + static_cast<int>(std::ceil(digits_ * std::log(10.0) / -std::log(ratio))));
    if (low >= degree || soft_powers(degree) < least_gain * soft_powers(low))
        return {.across = 1, .powers = operator_->powers()};
    return {.across = static_cast<int>(across), .powers = Powers(low)};
}

// @param of_all  ranks together @param sign  of the blocks' middles: moments are those of −x
SoftImages::Cells SoftImages::sorted(const LatticePoints& points, std::int64_t of_all, double sign) const {
    const auto n = points[0].size();
    Cells out{.blocks = blocks_for(of_all)};
    for (std::size_t k = 0; k < 3; ++k)
        for (int i = 0; i < out.blocks.across; ++i)
            out.shifts[k].emplace_back(sign * middle_of(out.blocks, i, k), operator_->powers().degree(),
                                       out.blocks.powers.degree());
    const int across = out.blocks.across;
    const auto in_cell = static_cast<std::size_t>(across) * across * across;
    const auto count = static_cast<std::size_t>(grid_.count()) * in_cell;
    std::vector<std::int32_t> block(n);
    std::vector<std::int64_t> next(count + 1, 0);
    const auto place_of = [&](std::size_t i, std::size_t k) { // from the beginning of the box, in cells
        return (points[k][i] - grid_.low[k]) / grid_.side(k);
    };
    parallel_parts(threads_, n, [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) {
            Whole at{}, within{};
            for (std::size_t k = 0; k < 3; ++k) {
                at[k] = grid_.cell_of(points[k][i], k);
                const double part = grid_.side(k) > 0.0 ? place_of(i, k) - at[k] : 0.0;
                within[k] = std::clamp(static_cast<int>(part * across), 0, across - 1);
            }
            block[i] = static_cast<std::int32_t>(
                static_cast<std::size_t>(grid_.number_of(at)) * in_cell +
                static_cast<std::size_t>((within[2] * across + within[1]) * across + within[0]));
        }
    });
    for (std::size_t i = 0; i < n; ++i) ++next[static_cast<std::size_t>(block[i]) + 1];
    for (std::size_t c = 1; c < next.size(); ++c) next[c] += next[c - 1];
    out.start = next;
    out.order.resize(n);
    for (auto& axis : out.x) axis.resize(n);
    for (std::size_t i = 0; i < n; ++i)
        out.order[static_cast<std::size_t>(next[static_cast<std::size_t>(block[i])]++)] =
            static_cast<std::int64_t>(i);
    parallel_parts(threads_, count, [&](std::size_t begin, std::size_t end) {
        for (auto b = begin; b < end; ++b) {
            const auto cell = grid_.centre(grid_.cell_of(static_cast<int>(b / in_cell)));
            const auto within = out.blocks.place(b);
            for (auto place = static_cast<std::size_t>(out.start[b]);
                 place < static_cast<std::size_t>(out.start[b + 1]); ++place)
                for (std::size_t k = 0; k < 3; ++k) {
                    const auto row = static_cast<std::size_t>(out.order[place]);
                    out.x[k][place] = (points[k][row] - cell[k]) / operator_->sides()[k] -
                                      middle_of(out.blocks, within[k], k);
                }
        }
    });
    for (std::size_t b = 0; b < count; ++b) { // whole blocks of one cell
        if (out.start[b] == out.start[b + 1]) continue;
        const bool goes_on = !out.parts.empty() && out.first_block.back() / in_cell == b / in_cell &&
                             out.start[b + 1] - out.parts.back() <= points_of_a_task;
        if (goes_on) continue;
        out.parts.push_back(out.start[b]);
        out.first_block.push_back(b);
        out.cell_of_part.push_back(b / in_cell);
    }
    out.parts.push_back(static_cast<std::int64_t>(n));
    out.first_block.push_back(count);
    return out;
}

// From the middle of a cell, in units of its sides.
double SoftImages::middle_of(const Blocks& blocks, int within, std::size_t axis) const {
    return ((within + 0.5) / blocks.across - 0.5) * grid_.side(axis) / operator_->sides()[axis];
}

void SoftImages::set_points(const LatticePoints& sources, const LatticePoints* targets) {
    sources_ = sorted(sources, std::ssize(sources[0]), -1.0);
    targets_.reset();
    const auto& at = targets != nullptr ? *targets : sources;
    auto count = std::ssize(at[0]);
    if (own_targets_ && ranks_ != nullptr) count = comm::sum_of_ranks(*ranks_, count);
    targets_ = sorted(at, count, 1.0);
}

double SoftImages::work() const {
    const auto terms = [](const Cells& cells) {
        return static_cast<double>(cells.order.size() * cells.blocks.powers.size());
    };
    const double part = part_of_rank(ranks_);
    return part * (terms(sources_) + operator_->work()) +
           (own_targets_ ? 1.0 : part) * 4.0 * terms(*targets_);
}

std::vector<double> SoftImages::moments_of_part(std::size_t part, std::span<const double> strengths,
                                                WorkWatch& watch) const {
    const auto& all = operator_->powers();
    std::vector<double> out(all.size(), 0.0);
    const auto& blocks = sources_.blocks;
    for (auto b = sources_.first_block[part]; b < sources_.first_block[part + 1]; ++b) {
        if (sources_.start[b] == sources_.start[b + 1] || watch.stopped()) continue;
        const auto found = moments_of_block(b, strengths, watch);
        if (blocks.across == 1)
            std::transform(found.begin(), found.end(), out.begin(), out.begin(), std::plus<>());
        else
            add_up(blocks.powers, found, all, sources_.shifts_of(b), out);
        watch.done(static_cast<double>(sources_.start[b + 1] - sources_.start[b]) *
                   static_cast<double>(found.size()));
    }
    return out;
}

std::vector<double> SoftImages::moments_of_block(std::size_t block, std::span<const double> strengths,
                                                 const WorkWatch& watch) const {
    const auto& powers = sources_.blocks.powers;
    const int most = powers.degree();
    std::vector<Lanes> sums(powers.size(), Lanes{});
    const auto end = static_cast<std::size_t>(sources_.start[block + 1]);
    for (auto first = static_cast<std::size_t>(sources_.start[block]); first < end && !watch.stopped();
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
    }
    std::vector<double> out(powers.size(), 0.0);
    for (std::size_t k = 0; k < out.size(); ++k)
        for (const double value : sums[k]) out[k] += value;
    return out;
}

// Parts in their order, however ranks divide them.
std::vector<double> SoftImages::moments(std::span<const double> strengths, WorkWatch& watch) const {
    const auto size = operator_->powers().size();
    const auto of_parts = numbers_of_all(
        sources_.parts, [&](std::size_t part) { return moments_of_part(part, strengths, watch); }, watch);
    std::vector<double> out;
    for (std::size_t c = 0, part = 0; c < static_cast<std::size_t>(grid_.count()); ++c) {
        std::vector<double> sums(size, 0.0);
        for (; part < sources_.cell_of_part.size() && sources_.cell_of_part[part] == c; ++part)
            for (std::size_t k = 0; k < size; ++k) sums[k] += of_parts[part * size + k];
        divide_by_factorials(operator_->powers(), sums);
        out.insert(out.end(), sums.begin(), sums.end());
    }
    return out;
}

void SoftImages::evaluate(std::size_t part, std::span<const double> local, const LatticeResults& results,
                          WorkWatch& watch) const {
    const auto& at = *targets_;
    for (auto b = at.first_block[part]; b < at.first_block[part + 1]; ++b) {
        if (at.start[b] == at.start[b + 1] || watch.stopped()) continue;
        if (at.blocks.across == 1)
            evaluate_block(b, local, results, watch);
        else
            evaluate_block(b, about_block(operator_->powers(), local, at.shifts_of(b), at.blocks.powers),
                           results, watch);
        watch.done(4.0 * static_cast<double>(at.start[b + 1] - at.start[b]) *
                   static_cast<double>(at.blocks.powers.size()));
    }
}

void SoftImages::evaluate_block(std::size_t block, std::span<const double> local,
                                const LatticeResults& results, const WorkWatch& watch) const {
    const auto& at = *targets_;
    const auto& powers = at.blocks.powers;
    const int most = powers.degree();
    const auto& side = operator_->sides();
    const auto end = static_cast<std::size_t>(at.start[block + 1]);
    for (auto first = static_cast<std::size_t>(at.start[block]); first < end && !watch.stopped();
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
    }
}

std::vector<double> SoftImages::local_of(std::size_t cell, std::span<const double> moments,
                                         WorkWatch& watch) const {
    const auto size = operator_->powers().size(), cells = moments.size() / size;
    std::vector<double> local(size, 0.0);
    for (std::size_t source = 0; source < cells && !watch.stopped(); ++source) {
        const auto of_source = moments.subspan(source * size, size);
        if (std::all_of(of_source.begin(), of_source.end(), [](double moment) { return moment == 0.0; }))
            continue;
        operator_->add(static_cast<int>(cell), static_cast<int>(source), of_source, local);
        watch.done(soft_work_of_a_pair(operator_->powers().degree()));
    }
    divide_by_factorials(operator_->powers(), local);
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
    const auto size = operator_->powers().size();
    const auto sent = moments(strengths, watch);
    const auto locals = numbers_of_all(
        each_alike(grid_.count()), [&](std::size_t c) { return local_of(c, sent, watch); }, watch);
    const auto& at = *targets_;
    const auto evaluate_parts = [&](std::int64_t first, std::int64_t last) {
        parallel_for(threads_, last - first, [&](std::int64_t number) {
            const auto part = static_cast<std::size_t>(first + number);
            if (!watch.stopped())
                evaluate(part, std::span(locals).subspan(at.cell_of_part[part] * size, size), results, watch);
        });
    };
    if (own_targets_) return evaluate_parts(0, std::ssize(at.cell_of_part));
    share_cells(ranks_, {.start = at.parts, .order = at.order}, {.target = 1.0, .cell = 0.0}, results, watch,
                evaluate_parts);
}

} // namespace farfield
