// Proofs that an update in place reads no neighbour that it writes: the cells that it reads, S shifted by an
// offset and folded back at the boundaries, are none of S. Red-black sweeps are such updates.
#include "base/text.h"
#include "stencil/analysis/analysis.h"
#include "stencil/analysis/wording.h"
#include "stencil/front_end/syntax/diagnostic_kinds.h"
#include "stencil/reads/accesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace farfield::stencil {
namespace {

using Cell = std::array<std::int64_t, 3>;

struct Meeting {
    Cell reader;
    Cell written; ///< read by `reader`
};

// The index that a read of index i stands for; none where it reads 0.
std::optional<std::int64_t> folded(std::int64_t i, std::int64_t cells, Boundary boundary) {
    if (i >= 0 && i < cells) return i;
    switch (boundary) {
    case Boundary::periodic:
        return (i % cells + cells) % cells;
    case Boundary::mirror:
        return i < 0 ? -1 - i : 2 * cells - 1 - i;
    case Boundary::clamp:
        return i < 0 ? 0 : cells - 1;
    default:
        return std::nullopt;
    }
}

// Cells of a set whose neighbour at an offset is another cell of the set.
class Neighbours {
public:
    Neighbours(const ir::CellSet& cells, const CellRead& read, const std::array<Boundary, 3>& boundary)
        : cells_(cells), offset_(read.offsets), boundary_(boundary) {}

    /// The first of them, row by row.
    std::optional<Meeting> first() const {
        for (std::int64_t row = 0; row < cells_.rows(); ++row) {
            if (cells_.row(row).empty()) continue;
            const auto y = row % cells_.shape()[1];
            const auto z = row / cells_.shape()[1];
            const auto there_y = folded(y + offset_[1], cells_.shape()[1], boundary_[1]);
            const auto there_z = folded(z + offset_[2], cells_.shape()[2], boundary_[2]);
            if (!there_y || !there_z) continue;
            if (auto found = in_row({0, y, z}, {0, *there_y, *there_z})) return found;
        }
        return std::nullopt;
    }

private:
    std::optional<Meeting> in_row(Cell here, Cell there) const {
        const bool same_row = here == there;
        if (same_row && offset_[0] == 0) return std::nullopt; // each cell reads itself
        const auto n = cells_.shape()[0];
        const auto meeting = [&](std::int64_t reader, std::int64_t written) {
            here[0] = reader;
            there[0] = written;
            return Meeting{here, there};
        };
        const auto others = cells_.row(there[1] + cells_.shape()[1] * there[2]);
        const auto* other = others.data();
        const auto* const end = other + others.size();
        std::optional<Meeting> within;
        const auto row = cells_.row(here[1] + cells_.shape()[1] * here[2]);
        for (const auto& interval : row) {
            const auto first = std::max<std::int64_t>(interval.first + offset_[0], 0);
            const auto last = std::min(interval.last + offset_[0], n);
            while (other != end && other->last <= first) ++other;
            if (first >= last || other == end || other->first >= last) continue;
            const auto written = std::max(first, other->first);
            within = meeting(written - offset_[0], written);
            break;
        }
        // The cells whose neighbour lies beyond the row are at one of its ends.
        const std::int64_t distance = offset_[0];
        const auto from = distance < 0 ? 0 : std::max<std::int64_t>(0, n - distance);
        const auto to = distance < 0 ? std::min(n, -distance) : n;
        for (auto x = from; distance != 0 && x < to; ++x) {
            if (within && within->reader[0] < x) break;
            const auto read = folded(x + distance, n, boundary_[0]);
            if (!read || (same_row && *read == x)) continue;
            if (cells_.contains({x, here[1], here[2]}) && cells_.contains({*read, there[1], there[2]}))
                return meeting(x, *read);
        }
        return within;
    }

    const ir::CellSet& cells_;
    const std::array<int, 3>& offset_;
    const std::array<Boundary, 3>& boundary_;
};

class InPlaceProver {
public:
    InPlaceProver(const Model& model, lang::Diagnostics& diagnostics)
        : model_(model), diagnostics_(diagnostics) {}

    void prove(const Update& update, const ir::CellSet& cells) {
        for (const auto& read : reads_of(update)) {
            if (read.kind != SymbolKind::field || !read.of_neighbour()) continue;
            const auto& field = model_.fields[static_cast<std::size_t>(read.index)];
            const bool written = std::any_of(update.operations.begin(), update.operations.end(),
                                             [&](const Operation& o) { return o.field == read.index; });
            if (!written || field.double_buffered) continue;
            if (const auto found = Neighbours(cells, read, field.boundary).first())
                report(update, field, read, *found);
        }
    }

private:
    void report(const Update& update, const Field& field, const CellRead& read, const Meeting& found) {
        const auto& grid = model_.grids[static_cast<std::size_t>(update.grid)];
        std::vector<std::string> axes;
        for (std::size_t a = 0; a < grid.axes.size(); ++a) axes.emplace_back(1, axis_letter(grid, a));
        auto& diagnostic = diagnostics_.report(
            kinds::reads_updated_neighbour, read.span,
            fmt::format("a neighbour of '{}' is read, which '{}' itself writes: it may hold the old value or "
                        "the new one",
                        field.name, update.name),
            fmt::format(
                "declare the field with two buffers: field {} … : double, double-buffered; or write it "
                "in another update; or in two updates of cells that are no such neighbours: on ({}) % "
                "2 == 0, then on ({}) % 2 == 1",
                field.name, joined(axes, " + "), joined(axes, " + ")));
        diagnostic.notes.push_back(
            {fmt::format("cell {} reads cell {}, and both are written", cell_text(grid, found.reader),
                         cell_text(grid, found.written)),
             std::nullopt});
    }

    const Model& model_;
    lang::Diagnostics& diagnostics_;
};

} // namespace

void prove_updates_in_place(const Model& model, const Domains& domains, lang::Diagnostics& diagnostics) {
    if (diagnostics.has_errors()) return;
    InPlaceProver prover(model, diagnostics);
    for (std::size_t i = 0; i < model.updates.size(); ++i)
        prover.prove(model.updates[i], *domains.updates[i]);
    for (std::size_t i = 0; i < model.sources.size(); ++i)
        prover.prove(model.sources[i].update, *domains.sources[i]);
}

} // namespace farfield::stencil
