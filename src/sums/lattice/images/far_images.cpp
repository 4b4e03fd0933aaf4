#include "sums/lattice/images/far_images.h"

#include "backend/simd/isa.h"
#include "backend/threads/parallel.h"
#include "sums/direct/cpu/isa_function.h"
#include "sums/lattice/images/cell_formulas.h"
#include "sums/lattice/images/tin_foil.h"
#include "sums/lattice/share_results.h"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

constexpr std::int64_t line = 8; ///< doubles of a cache line
/// Points of a cell at a time.
constexpr std::int64_t points_of_a_part = 2048;

/// Points of a cell from `first` on, padded.
struct Part {
    AlignedVector<double> x[3], weight;
    std::int64_t count = 0, padded = 0;

    void set(const LatticePoints& from, std::int64_t first, std::int64_t n) {
        count = n;
        padded = (n + line - 1) / line * line;
        for (std::size_t k = 0; k < 3; ++k) {
            x[k].assign(static_cast<std::size_t>(padded), 0.0);
            std::copy_n(from[k].data() + first, n, x[k].data());
        }
        weight.assign(static_cast<std::size_t>(padded), 0.0);
    }
    [[nodiscard]] ExpansionPoints points() const { return {padded, {x[0].data(), x[1].data(), x[2].data()}}; }
};

/// Calls visit(pair, l, m) in the order in which the loops have pairs of functions.
template <class Visit>
void each_pair(int order, const Visit& visit) {
    int pair = 0;
    for (int m = 0; m <= order; ++m)
        for (int l = m; l <= order; ++l) visit(pair++, l, m);
}

} // namespace

// As of cells of a tree (fmm/shape.cpp); and (a/(3 − a))^p with a = √3/2, for corners that face each other.
int image_order(double goal, int separation) {
    const double digits = -std::log10(std::max(goal, least_image_goal));
    const double order = separation == 1 ? (digits - 1.5) / 0.31 : (digits - 0.5) / 0.39;
    return std::clamp(static_cast<int>(std::ceil(order)), 4, most_image_order);
}

FarImages::FarImages(const ImageGrid& grid, int order, Isa isa, int threads, comm::Transport* ranks,
                     bool own_targets)
    : grid_(grid), basis_(order, static_cast<int>(line)), scales_(order), table_(basis_),
      operator_(image_operator(grid, order, threads, ranks)), isa_(resolve_isa(isa)), threads_(threads),
      ranks_(ranks), own_targets_(own_targets) {}

FarImages::Cells FarImages::sorted(const LatticePoints& points) const {
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
        for (std::size_t k = 0; k < 3; ++k) out.x[k][place] = (points[k][i] - centre[k]) / grid_.width;
    }
    return out;
}

void FarImages::set_points(const LatticePoints& sources, const LatticePoints* targets) {
    self_ = targets == nullptr;
    sources_ = sorted(sources);
    targets_ = self_ ? Cells{} : sorted(*targets);
    if (grid_.period[0] == 0.0 || grid_.period[1] == 0.0 || grid_.period[2] == 0.0) return;
    source_points_ = sources;
    target_points_ = self_ ? LatticePoints{} : *targets;
}

double FarImages::work() const {
    const auto targets =
        4.0 * static_cast<double>((self_ ? sources_ : targets_).order.size()) * basis_.size();
    const auto sources = static_cast<double>(sources_.order.size()) * basis_.size();
    const double part = part_of_rank(ranks_);
    return part * (sources + operator_->work()) + (own_targets_ ? 1.0 : part) * targets;
}

ComplexExpansion FarImages::multipole_of(std::size_t cell, std::span<const double> strengths) const {
    const auto loop = table_.loop();
    const auto numbers = 2 * static_cast<std::size_t>(loop.pairs);
    AlignedVector<double> sums(numbers), scratch(numbers * static_cast<std::size_t>(line));
    ComplexExpansion out(basis_.order());
    Part part;
    const auto end = sources_.start[cell + 1];
    for (auto first = sources_.start[cell]; first < end; first += points_of_a_part) {
        part.set(sources_.x, first, std::min(points_of_a_part, end - first));
        for (std::int64_t i = 0; i < part.count; ++i)
            part.weight[static_cast<std::size_t>(i)] =
                strengths[static_cast<std::size_t>(sources_.order[static_cast<std::size_t>(first + i)])];
        const FormTask task{.functions = loop,
                            .points = part.points(),
                            .weight = part.weight.data(),
                            .sums = sums.data(),
                            .scratch = scratch.data()};
        FF_ISA_FUNCTION(ff_form, isa_)(&task);
        each_pair(basis_.order(), [&](int pair, int l, int m) {
            const double scale = std::sqrt(2.0) * scales_.of({l, m, false});
            const auto at = 2 * static_cast<std::size_t>(pair);
            out.real[ComplexExpansion::place(l, m)] += sums[at] / scale;
            if (m > 0) out.imag[ComplexExpansion::place(l, m)] += sums[at + 1] / scale;
        });
    }
    out.mirror(basis_.order());
    return out;
}

void FarImages::evaluate(std::size_t cell, const ComplexExpansion& local,
                         const LatticeResults& results) const {
    const auto& at = self_ ? sources_ : targets_;
    const int p = basis_.order();
    const auto loop = table_.loop();
    AlignedVector<double> coefficients(8 * static_cast<std::size_t>(loop.pairs), 0.0);
    const auto number = [&](int place) {
        struct {
            double x, y;
        } out{local.real[static_cast<std::size_t>(place)], local.imag[static_cast<std::size_t>(place)]};
        return out;
    };
    each_pair(p, [&](int pair, int l, int m) {
        const double scale = (m > 0 ? std::sqrt(2.0) : std::sqrt(0.5)) / scales_.of({l, m, false});
        double numbers[8];
        set_coefficients(p, l, m, scale, number, numbers);
        std::copy_n(numbers, 8, &coefficients[8 * static_cast<std::size_t>(pair)]);
    });
    Part part;
    AlignedVector<double> values[4];
    const double unit = 1.0 / grid_.width;
    const auto end = at.start[cell + 1];
    for (auto first = at.start[cell]; first < end; first += points_of_a_part) {
        part.set(at.x, first, std::min(points_of_a_part, end - first));
        EvaluateTask task{
            .functions = loop, .points = part.points(), .sets = 4, .coefficients = coefficients.data()};
        for (std::size_t k = 0; k < 4; ++k) {
            values[k].resize(static_cast<std::size_t>(part.padded));
            task.values[k] = values[k].data();
        }
        FF_ISA_FUNCTION(ff_evaluate, isa_)(&task);
        for (std::int64_t i = 0; i < part.count; ++i) {
            const auto row = at.order[static_cast<std::size_t>(first + i)];
            const auto from = static_cast<std::size_t>(i);
            if (results.potential != nullptr) results.potential[row] += unit * values[0][from];
            for (std::size_t k = 0; k < 3 && results.field != nullptr; ++k)
                results.field[3 * row + static_cast<std::int64_t>(k)] -= unit * unit * values[k + 1][from];
        }
    }
}

std::vector<ComplexExpansion>
FarImages::expansions_of_all(std::span<const std::int64_t> starts,
                             const std::function<ComplexExpansion(std::size_t)>& of, WorkWatch& watch) const {
    std::vector<ComplexExpansion> out(starts.size() - 1, ComplexExpansion(basis_.order()));
    const auto size = std::ssize(out.front().real);
    const auto numbers =
        share_cell_numbers(ranks_, threads_, starts, 2 * size, watch, [&](std::size_t c, double* at) {
            const auto one = of(c);
            std::copy(one.real.begin(), one.real.end(), at);
            std::copy(one.imag.begin(), one.imag.end(), at + size);
        });
    for (std::size_t c = 0; c < out.size(); ++c) {
        const double* const from = numbers.data() + 2 * size * static_cast<std::int64_t>(c);
        std::copy_n(from, size, out[c].real.begin());
        std::copy_n(from + size, size, out[c].imag.begin());
    }
    return out;
}

ComplexExpansion FarImages::local_of(std::size_t cell, const std::vector<ComplexExpansion>& multipoles,
                                     WorkWatch& watch) const {
    ComplexExpansion local(basis_.order());
    for (std::size_t source = 0; source < multipoles.size(); ++source)
        if (sources_.start[source + 1] > sources_.start[source])
            operator_->add(static_cast<int>(cell), static_cast<int>(source), multipoles[source], local);
    local.mirror(basis_.order());
    watch.done(operator_->work() / static_cast<double>(multipoles.size()));
    return local;
}

void FarImages::add(std::span<const double> strengths, const LatticeResults& results,
                    WorkWatch& watch) const {
    const auto multipoles = expansions_of_all(
        sources_.start,
        [&](std::size_t c) {
            watch.done(static_cast<double>(sources_.start[c + 1] - sources_.start[c]) * basis_.size());
            return multipole_of(c, strengths);
        },
        watch);
    const auto cells = std::ssize(multipoles);
    const auto& at = self_ ? sources_ : targets_;
    const auto evaluate_cell = [&](std::size_t c, const ComplexExpansion& local) {
        evaluate(c, local, results);
        watch.done(4.0 * static_cast<double>(at.start[c + 1] - at.start[c]) * basis_.size());
    };
    if (own_targets_) {
        const auto locals = expansions_of_all(
            each_alike(cells), [&](std::size_t c) { return local_of(c, multipoles, watch); }, watch);
        parallel_for(threads_, cells, [&](std::int64_t number) {
            const auto c = static_cast<std::size_t>(number);
            if (!watch.stopped()) evaluate_cell(c, locals[c]);
        });
    } else {
        share_cells(ranks_, {.start = at.start, .order = at.order},
                    {.target = 4.0 * basis_.size(), .cell = operator_->work() / static_cast<double>(cells)},
                    results, watch, [&](std::int64_t first, std::int64_t last) {
                        parallel_for(threads_, last - first, [&](std::int64_t number) {
                            const auto c = static_cast<std::size_t>(first + number);
                            if (at.start[c + 1] > at.start[c] && !watch.stopped())
                                evaluate_cell(c, local_of(c, multipoles, watch));
                        });
                    });
    }
    if (source_points_[0].empty() || watch.stopped()) return;
    add_tin_foil({.period = grid_.period, .low = grid_.low}, views_of(source_points_),
                 views_of(self_ ? source_points_ : target_points_), strengths, results, threads_);
}

RimImages rim_images(const ImageGrid& grid, const LatticePoints& points, std::int64_t first,
                     std::int64_t last) {
    RimImages out;
    const auto about = static_cast<std::size_t>((grid.copies() - 1.0) * static_cast<double>(last - first));
    out.points.reserve(3 * about);
    out.of.reserve(about);
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
        std::array<ImageGrid::Range, 3> near;
        for (std::size_t k = 0; k < 3; ++k) near[k] = grid.near(grid.cell_of(points[k][i], k), k);
        for (int z = near[2].first; z <= near[2].last; ++z)
            for (int y = near[1].first; y <= near[1].last; ++y)
                for (int x = near[0].first; x <= near[0].last; ++x) {
                    if (x == 0 && y == 0 && z == 0) continue;
                    const Whole n{x, y, z};
                    for (std::size_t k = 0; k < 3; ++k)
                        out.points.push_back(points[k][i] + n[k] * grid.period[k]);
                    out.of.push_back(static_cast<std::int64_t>(i));
                }
    }
    return out;
}

} // namespace farfield
