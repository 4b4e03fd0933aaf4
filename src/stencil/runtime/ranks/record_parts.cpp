#include "stencil/runtime/ranks/record_parts.h"

#include "stencil/ir/reduction.h"

#include <algorithm>
#include <cmath>

namespace farfield::stencil::ranks {
namespace {

bool is_extremum(const ir::Record& record) {
    return record.reduction == Reduction::max || record.reduction == Reduction::min;
}

bool has(const ir::CellBox& block, const std::array<std::int64_t, 3>& cell) {
    for (std::size_t a = 0; a < 3; ++a)
        if (cell[a] < block.first[a] || cell[a] >= block.last[a]) return false;
    return true;
}

// Of a rank, of the rows' extrema: the value, whether there is one, and the first row that has it. Zeros of
// either sign are equal, and the first one counts.
struct Extremum {
    double value = 0;
    double any = 0;
    double row = 0;
};

void take(Extremum& best, const Extremum& next, bool least) {
    if (next.any == 0) return;
    const bool better = least ? next.value < best.value : next.value > best.value;
    const bool earlier = next.value == best.value && next.row < best.row;
    if (best.any != 0 && (std::isnan(best.value) || (!better && !earlier && !std::isnan(next.value)))) return;
    best = next;
}

constexpr std::int64_t numbers_of_extremum = 3;

} // namespace

RecordParts::RecordParts(const ir::Record& record, const Division& division)
    : record_(&record), counts_(division.blocks.size(), 0) {
    for (int rank = 0; rank < static_cast<int>(counts_.size()); ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        const auto& block = division.blocks[r];
        if (is_extremum(record)) {
            counts_[r] = numbers_of_extremum;
        } else if (record.reduction == Reduction::value) {
            const bool here = has(block, record.cells->bounds().first);
            counts_[r] = here ? 1 : 0;
            if (here) owner_ = rank;
        } else if (!block.empty()) {
            add_subtrees(rank, block);
        }
    }
    std::sort(subtrees_.begin(), subtrees_.end(),
              [](const Subtree& a, const Subtree& b) { return a.first < b.first; });
}

void RecordParts::add_subtrees(int rank, const ir::CellBox& block) {
    const auto& shape = record_->cells->shape();
    const auto in_row = ir::atoms_in_row(shape[0]);
    auto& count = counts_[static_cast<std::size_t>(rank)];
    const auto add = [&](std::int64_t first, std::int64_t last) {
        while (first < last) {
            int level = 0;
            while (first % (std::int64_t{2} << level) == 0 && first + (std::int64_t{2} << level) <= last)
                ++level;
            subtrees_.push_back({first, level, rank, count++});
            first += std::int64_t{1} << level;
        }
    };
    const auto left = block.first[0] / ir::atom_cells, right = ir::atoms_in_row(block.last[0]);
    const bool whole_rows = left == 0 && right == in_row;
    if (whole_rows && block.first[1] == 0 && block.last[1] == shape[1])
        return add(block.first[2] * shape[1] * in_row, block.last[2] * shape[1] * in_row);
    for (auto z = block.first[2]; z < block.last[2]; ++z) {
        const auto first = block.first[1] + shape[1] * z, last = block.last[1] + shape[1] * z;
        if (whole_rows)
            add(first * in_row, last * in_row);
        else
            for (auto row = first; row < last; ++row) add(row * in_row + left, row * in_row + right);
    }
}

void RecordParts::append(int rank, std::int64_t per_row, const std::vector<double>& rows,
                         std::vector<double>& out) const {
    if (is_extremum(*record_)) {
        Extremum best;
        for (std::size_t row = 0; 2 * row < rows.size(); ++row)
            take(best, {rows[2 * row], rows[2 * row + 1], static_cast<double>(row)},
                 record_->reduction == Reduction::min);
        out.insert(out.end(), {best.value, best.any, best.row});
    } else if (record_->reduction == Reduction::value) {
        if (count(rank) == 0) return;
        const auto& cell = record_->cells->bounds().first;
        out.push_back(
            rows[static_cast<std::size_t>((cell[1] + record_->cells->shape()[1] * cell[2]) * per_row)]);
    } else {
        const auto start = out.size();
        out.resize(start + static_cast<std::size_t>(count(rank)));
        for (const auto& subtree : subtrees_) {
            if (subtree.rank != rank) continue;
            ir::TreeSum sum;
            for (std::int64_t i = 0; i < std::int64_t{1} << subtree.level; ++i)
                sum.add(rows[static_cast<std::size_t>(subtree.first + i)]);
            out[start + static_cast<std::size_t>(subtree.place)] = sum.total();
        }
    }
}

void RecordParts::append_nothing(int rank, std::vector<double>& out) const {
    out.resize(out.size() + static_cast<std::size_t>(count(rank)), 0.0);
}

double RecordParts::sum(const std::vector<std::span<const double>>& parts) const {
    ir::TreeSum sum;
    for (const auto& subtree : subtrees_)
        sum.add_subtree(
            parts[static_cast<std::size_t>(subtree.rank)][static_cast<std::size_t>(subtree.place)],
            subtree.level);
    return sum.total();
}

double RecordParts::extremum(const std::vector<std::span<const double>>& parts) const {
    Extremum best;
    for (const auto& part : parts)
        take(best, {part[0], part[1], part[2]}, record_->reduction == Reduction::min);
    return best.any == 0 ? std::nan("") : best.value;
}

double RecordParts::value(const std::vector<std::span<const double>>& parts) const {
    switch (record_->reduction) {
    case Reduction::value:
        return parts[static_cast<std::size_t>(owner_)].front();
    case Reduction::max:
    case Reduction::min:
        return extremum(parts);
    case Reduction::mean:
        return sum(parts) / static_cast<double>(record_->cells->count());
    default:
        return sum(parts);
    }
}

} // namespace farfield::stencil::ranks
