#include "sums/treecode/cells.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"
#include "math/portable/functions.h"
#include "sums/expansions/cartesian.h"
#include "sums/treecode/cell_shares.h"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

constexpr int cells_tag = 220;

double distance(const double* a, const double* b) {
    double sum = 0.0;
    for (int axis = 0; axis < 3; ++axis) sum += (a[axis] - b[axis]) * (a[axis] - b[axis]);
    return std::sqrt(sum);
}

struct Signs {
    bool negative = false, positive = false;
};

Signs signs_of(std::span<const double> strengths) {
    Signs out;
    for (const double strength : strengths) {
        out.negative = out.negative || strength < 0.0;
        out.positive = out.positive || strength > 0.0;
    }
    return out;
}

} // namespace

void SourceCells::begin(const Octree& tree, const TreecodeShape& shape, bool have_dipoles) {
    tree_ = &tree;
    units_.clear();
    for (int level = 0; level < tree.levels(); ++level) units_.push_back(tree.width(level));
    local_ = shape.local && shape.order == 1;
    wide_ = shape.wide;
    have_dipoles_ = have_dipoles;
    moments_a_cell_ = static_cast<std::size_t>(monomials_below(shape.order + 1));
    numbers_a_cell_ = static_cast<std::size_t>(far_numbers(shape.order));
    const auto count = tree.cells().size();
    cells_.resize(count);
    moments_.resize(count * moments_a_cell_);
    if (wide_)
        doubles_.resize(count * numbers_a_cell_);
    else
        floats_.resize(count * numbers_a_cell_);
}

void SourceCells::make(const Octree& tree, const SourceRows& sources, const TreecodeShape& shape, int threads,
                       comm::Transport* ranks) {
    const auto signs = signs_of(sources.strengths);
    begin(tree, shape, signs.negative && signs.positive);
    constexpr std::size_t least_cells = 1000; // that save more time than an exchange takes
    if (ranks != nullptr && cells_.size() >= least_cells)
        return make_on_ranks(*ranks, CellShares(tree, ranks->size()), sources, shape, threads);
    for (int level = tree.levels() - 1; level >= 0; --level)
        make_level(level, sources, shape, threads, [](std::int32_t /*number*/) { return true; });
}

void SourceCells::make_of_ranks(const Octree& tree, const SourceRows& sources, const TreecodeShape& shape,
                                int threads, comm::Transport& ranks, std::span<const std::int32_t> cuts) {
    bool negative = false, positive = false;
    for (const auto& of : comm::all_values(ranks, signs_of(sources.strengths))) {
        negative = negative || of.negative;
        positive = positive || of.positive;
    }
    begin(tree, shape, negative && positive);
    make_on_ranks(ranks, CellShares(tree, cuts), sources, shape, threads);
}

template <class Wanted>
void SourceCells::make_level(int level, const SourceRows& sources, const TreecodeShape& shape, int threads,
                             const Wanted& wanted) {
    constexpr std::size_t cells_a_task = 64;
    const auto first = tree_->level_begin(level);
    parallel_parts(
        threads, static_cast<std::size_t>(tree_->level_begin(level + 1) - first),
        [&](std::size_t begin, std::size_t end) {
            for (auto k = begin; k < end; ++k)
                if (const auto number = first + static_cast<std::int32_t>(k); wanted(number))
                    make_cell(number, sources, shape);
        },
        cells_a_task);
}

// Each rank makes the cells that are its own alone, and all make the few that several have sources of, which
// need the moments of their children. Whoever makes a cell, its bits are the same.
void SourceCells::make_on_ranks(comm::Transport& ranks, const CellShares& shares, const SourceRows& sources,
                                const TreecodeShape& shape, int threads) {
    for (int level = tree_->levels() - 1; level >= 0; --level) {
        const auto own = shares.cells(ranks.rank(), level);
        make_level(level, sources, shape, threads, [&](std::int32_t number) {
            return (own.begin <= number && number < own.end) || tree_->cell(number).sources.size() == 0;
        });
    }
    std::vector<comm::ConstBytes> to;
    std::vector<comm::Bytes> from;
    for (int rank = 0; rank < ranks.size(); ++rank)
        for (int level = 0; level < shares.levels(); ++level) {
            const bool self = rank == ranks.rank();
            const auto mine = bytes_of_cells(shares.cells(ranks.rank(), level));
            const auto theirs = bytes_of_cells(shares.cells(rank, level));
            for (std::size_t k = 0; k < mine.size(); ++k) {
                to.push_back(self ? comm::ConstBytes() : mine[k]);
                from.push_back(self ? comm::Bytes() : theirs[k]);
            }
        }
    comm::exchange(ranks, to, from, cells_tag, 2 * static_cast<std::size_t>(shares.levels()));
    std::vector<double> moments;
    std::vector<std::int64_t> counts;
    counts.reserve(static_cast<std::size_t>(ranks.size()));
    const auto moments_of = [&](std::int32_t cell) {
        return std::span(moments_).subspan(static_cast<std::size_t>(cell) * moments_a_cell_, moments_a_cell_);
    };
    for (const auto cell : shares.below_shared(ranks.rank()))
        moments.insert(moments.end(), moments_of(cell).begin(), moments_of(cell).end());
    for (int rank = 0; rank < ranks.size(); ++rank)
        counts.push_back(std::ssize(shares.below_shared(rank)) * static_cast<std::int64_t>(moments_a_cell_));
    const auto all = comm::all_gathered(ranks, std::span<const double>(moments), counts);
    auto next = all.begin();
    for (int rank = 0; rank < ranks.size(); ++rank)
        for (const auto cell : shares.below_shared(rank)) {
            std::copy_n(next, moments_a_cell_, moments_of(cell).begin());
            next += static_cast<std::ptrdiff_t>(moments_a_cell_);
        }
    for (const auto cell : shares.shared()) make_cell(cell, sources, shape);
}

std::array<std::span<std::byte>, 2> SourceCells::bytes_of_cells(BlockRange cells) {
    const auto first = static_cast<std::size_t>(cells.begin), count = static_cast<std::size_t>(cells.size());
    const auto numbers = [&](auto& of) {
        return std::as_writable_bytes(
            std::span(of).subspan(first * numbers_a_cell_, count * numbers_a_cell_));
    };
    return {std::as_writable_bytes(std::span(cells_).subspan(first, count)),
            wide_ ? numbers(doubles_) : numbers(floats_)};
}

void SourceCells::make_cell(std::int32_t number, const SourceRows& sources, const TreecodeShape& shape) {
    const auto& from = tree_->cell(number);
    auto& cell = cells_[static_cast<std::size_t>(number)];
    cell = SourceCell{};
    cell.sources = from.sources;
    auto* const moments = moments_.data() + static_cast<std::size_t>(number) * moments_a_cell_;
    std::fill_n(moments, moments_a_cell_, 0.0);
    for (const auto child : from.children) {
        if (child == no_cell) continue;
        if (cell.children++ == 0) cell.first_child = child;
    }
    if (from.sources.size() == 0) return;
    const double unit = this->unit(number);
    if (from.leaf)
        add_points(from, sources, cell, moments, shape.order, unit);
    else
        add_children(number, cell, moments, shape.order);
    const auto place = static_cast<std::size_t>(number) * numbers_a_cell_;
    if (wide_)
        far_numbers_of(shape.order, moments, doubles_.data() + place);
    else
        far_numbers_of(shape.order, moments, floats_.data() + place);
    if (shape.accuracy <= 0.0) return;
    // Σ|q| |y|^(p+1) is at most this
    double next = cell.second / shape.accuracy;
    for (int k = 1; k < shape.order; ++k) next *= cell.radius;
    const double field_power = 1.0 / (shape.order + 3);
    const double potential_power = 1.0 / (shape.order + 2);
    cell.field_reach = portable::pow(next * (shape.order + 2), field_power);
    cell.potential_reach = portable::pow(next, potential_power);
}

// P2M.
void SourceCells::add_points(const TreeCell& from, const SourceRows& sources, SourceCell& to, double* moments,
                             int order, double unit) const {
    const auto& x_of = sources.x;
    const auto& strengths = sources.strengths;
    const auto begin = static_cast<std::size_t>(from.sources.begin - sources.first);
    const auto end = static_cast<std::size_t>(from.sources.end - sources.first);
    const auto middle = tree_->centre(from);
    double weighted[3] = {0.0, 0.0, 0.0};
    for (auto i = begin; i < end; ++i) {
        const double weight = std::abs(strengths[i]);
        to.magnitude += weight;
        for (std::size_t axis = 0; axis < 3; ++axis)
            weighted[axis] += weight * (x_of[axis][i] - middle[axis]);
    }
    for (std::size_t axis = 0; axis < 3; ++axis)
        to.centre[axis] = middle[axis] + (to.magnitude > 0.0 ? weighted[axis] / to.magnitude : 0.0);
    constexpr std::size_t at_once = 64;
    double offsets[3][at_once];
    const double* const x[3] = {offsets[0], offsets[1], offsets[2]};
    double farthest = 0.0;
    for (auto first = begin; first < end; first += at_once) {
        const auto count = std::min(at_once, end - first);
        for (std::size_t i = 0; i < count; ++i) {
            double square = 0.0;
            for (std::size_t axis = 0; axis < 3; ++axis) {
                const double offset = x_of[axis][first + i] - to.centre[axis];
                square += offset * offset;
                offsets[axis][i] = offset / unit;
            }
            farthest = std::max(farthest, square);
            to.second += std::abs(strengths[first + i]) * square;
        }
        add_moments(order, x, strengths.data() + first, static_cast<int>(count), moments);
    }
    to.radius = std::sqrt(farthest);
}

// M2M.
void SourceCells::add_children(std::int32_t number, SourceCell& to, double* moments, int order) const {
    const double unit = this->unit(number);
    const auto each = [&](const auto& act) {
        for (auto child = to.first_child; child < to.first_child + to.children; ++child)
            act(cell(child), child);
    };
    const auto middle = tree_->centre(tree_->cell(number));
    double weighted[3] = {0.0, 0.0, 0.0};
    each([&](const SourceCell& child, std::int32_t /*number*/) {
        to.magnitude += child.magnitude;
        for (std::size_t axis = 0; axis < 3; ++axis)
            weighted[axis] += child.magnitude * (child.centre[axis] - middle[axis]);
    });
    for (std::size_t axis = 0; axis < 3; ++axis)
        to.centre[axis] = middle[axis] + (to.magnitude > 0.0 ? weighted[axis] / to.magnitude : 0.0);
    each([&](const SourceCell& child, std::int32_t child_number) {
        if (child.sources.size() == 0) return;
        const double apart = distance(child.centre, to.centre);
        to.radius = std::max(to.radius, apart + child.radius);
        to.second += child.second + child.magnitude * apart * apart;
        double shift[3];
        for (int axis = 0; axis < 3; ++axis) shift[axis] = (child.centre[axis] - to.centre[axis]) / unit;
        shift_moments(order, moments_.data() + static_cast<std::size_t>(child_number) * moments_a_cell_,
                      shift, 0.5, moments);
    });
    double corner = 0.0; // of the cell, that is farthest from the centre
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const double farthest = std::abs(to.centre[axis] - middle[axis]) + 0.5 * unit;
        corner += farthest * farthest;
    }
    // points may lie beside their cell by a rounding of the coordinates
    to.radius = std::min(to.radius, 1.000001 * std::sqrt(corner));
}

} // namespace farfield
