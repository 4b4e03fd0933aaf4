// Proofs that what is read exists. A read of the neighbour at offset o along an axis of n cells exists in the
// cells 0 ≤ i + o < n; the bounds of the set of cells say whether all are such.
#include "stencil/analysis/analysis.h"
#include "stencil/analysis/wording.h"
#include "stencil/front_end/syntax/diagnostic_kinds.h"
#include "stencil/reads/accesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace farfield::stencil {
namespace {

// What reads: an update, a source or a record.
struct ReadingUpdate {
    std::string what;    // "the update 'electric'"
    std::string keyword; // "update electric"
    int grid = -1;
    const lang::Expr* where = nullptr;
    bool boxed = false; // at a place
    std::vector<CellRead> reads;
    CellSetPtr cells;
};

// A read that leaves the grid in some cells.
struct Escape {
    const CellRead* read = nullptr;
    std::size_t axis = 0;
};

const std::string& name_of(const Model& model, const CellRead& read) {
    const auto index = static_cast<std::size_t>(read.index);
    if (read.kind == SymbolKind::coefficient) return model.coefficients[index].name;
    return read.kind == SymbolKind::array ? model.arrays[index].name : model.fields[index].name;
}

class Prover {
public:
    Prover(const Model& model, lang::Diagnostics& diagnostics) : model_(model), diagnostics_(diagnostics) {}

    void prove(const ReadingUpdate& reader) {
        std::map<std::pair<SymbolKind, int>, std::vector<Escape>> escapes;
        for (const auto& read : reader.reads) {
            if (!read.of_neighbour()) continue;
            for (std::size_t axis = 0; axis < grid(reader).axes.size(); ++axis) {
                if (boundary_beyond(model_, read, axis) != Boundary::none) {
                    check_distance(reader, read, axis);
                } else if (!inside(*reader.cells, read.offsets[axis], axis)) {
                    escapes[{read.kind, read.index}].push_back({&read, axis});
                    break;
                }
            }
        }
        for (const auto& [symbol, list] : escapes) report(reader, list);
    }

private:
    const Grid& grid(const ReadingUpdate& reader) const {
        return model_.grids[static_cast<std::size_t>(reader.grid)];
    }

    static bool inside(const ir::CellSet& cells, std::int64_t offset, std::size_t axis) {
        const auto& bounds = cells.bounds();
        return cells.empty() ||
               (bounds.first[axis] + offset >= 0 && bounds.last[axis] + offset <= cells.shape()[axis]);
    }

    // Reflections and turns are defined for one width of the grid.
    void check_distance(const ReadingUpdate& reader, const CellRead& read, std::size_t axis) {
        const auto boundary = boundary_beyond(model_, read, axis);
        if (boundary != Boundary::periodic && boundary != Boundary::mirror) return;
        const auto cells = grid(reader).axes[axis].cells;
        if (std::abs(std::int64_t{read.offsets[axis]}) <= cells) return;
        const auto letter = axis_letter(grid(reader), axis);
        diagnostics_.report(kinds::too_far, read.span,
                            fmt::format("{} is {} cells away along {}, and the grid '{}' has {} there",
                                        quoted_text(diagnostics_.source(), read.span),
                                        std::abs(read.offsets[axis]), letter, grid(reader).name, cells),
                            fmt::format("a {} boundary reaches {} cells at most; make the grid larger",
                                        boundary == Boundary::periodic ? "periodic" : "mirror", cells));
    }

    // The cells in which the read leaves the grid.
    static ir::CellSet bad_cells(const ReadingUpdate& reader, const Escape& escape) {
        auto box = ir::whole(reader.cells->shape());
        const std::int64_t offset = escape.read->offsets[escape.axis];
        box.first[escape.axis] = std::max(box.first[escape.axis], -offset);
        box.last[escape.axis] = std::min(box.last[escape.axis], box.last[escape.axis] - offset);
        return difference(*reader.cells, ir::CellSet(reader.cells->shape(), box));
    }

    void report(const ReadingUpdate& reader, const std::vector<Escape>& escapes) {
        const auto& source = diagnostics_.source();
        const auto& first = escapes.front();
        const auto bad = bad_cells(reader, first);
        const auto cell = first_cell(bad);
        const auto letter = axis_letter(grid(reader), first.axis);
        const auto& name = name_of(model_, *first.read);
        auto& diagnostic = diagnostics_.report(
            kinds::outside_grid, first.read->span,
            fmt::format(
                "{} leaves the grid: in cell {} of {} it reads '{}' at {} = {}, and {} runs from 0 to {}",
                quoted_text(source, first.read->span), cell_text(grid(reader), cell), region(reader), name,
                letter, cell[first.axis] + first.read->offsets[first.axis], letter,
                grid(reader).axes[first.axis].cells - 1),
            remedy(reader, *first.read));
        diagnostic.notes.push_back(
            {fmt::format("{} applies to {}, of which {} {} no such neighbour", reader.what,
                         cells_text(reader.cells->count()), bad.count(), bad.count() == 1 ? "has" : "have"),
             std::nullopt});
        if (std::any_of(escapes.begin(), escapes.end(), [](const Escape& e) { return e.read->conditional; }))
            diagnostic.notes.push_back(
                {"both values of an 'if' are computed in every cell, also the one that is not chosen",
                 std::nullopt});
        constexpr std::size_t most_notes = 3;
        for (std::size_t i = 1; i < escapes.size() && i <= most_notes; ++i)
            diagnostic.notes.push_back({fmt::format("so does {}", quoted_text(source, escapes[i].read->span)),
                                        escapes[i].read->span});
        if (escapes.size() > most_notes + 1)
            diagnostic.notes.push_back(
                {fmt::format("and {} more of '{}'", escapes.size() - most_notes - 1, name), std::nullopt});
    }

    std::string region(const ReadingUpdate& reader) const {
        return reader.boxed ? "its place" : region_text(diagnostics_.source(), reader.where);
    }

    std::string remedy(const ReadingUpdate& reader, const CellRead& read) const {
        const auto text = reader.where == nullptr ? std::string("interior")
                                                  : fmt::format("{} and interior", bracketed(*reader.where));
        auto out = reader.boxed
                       ? std::string("move or shrink the place")
                       : fmt::format("apply it where the neighbours exist: {} on {}", reader.keyword, text);
        if (reader.where != nullptr) out += "; or make the subdomain smaller";
        if (read.kind != SymbolKind::field) return out;
        return out + fmt::format("; or say what lies beyond: boundary {}: zero (or periodic, mirror, clamp)",
                                 name_of(model_, read));
    }

    // The condition as an operand of `and`.
    std::string bracketed(const lang::Expr& where) const {
        const auto text = quoted_text(diagnostics_.source(), where.span);
        const auto* binary = std::get_if<lang::Binary>(&where.node);
        const bool loose = (binary != nullptr && binary->op == lang::BinaryOp::logical_or) ||
                           std::holds_alternative<lang::Select>(where.node);
        const auto plain = text.substr(1, text.size() - 2);
        return loose ? "(" + plain + ")" : plain;
    }

    const Model& model_;
    lang::Diagnostics& diagnostics_;
};

} // namespace

void prove_accesses(const Model& model, const Domains& domains, lang::Diagnostics& diagnostics) {
    Prover prover(model, diagnostics);
    for (std::size_t i = 0; i < model.updates.size(); ++i) {
        const auto& update = model.updates[i];
        prover.prove({fmt::format("the update '{}'", update.name), "update " + update.name, update.grid,
                      update.where, false, reads_of(update), domains.updates[i]});
    }
    for (std::size_t i = 0; i < model.sources.size(); ++i) {
        const auto& source = model.sources[i];
        prover.prove({fmt::format("the source '{}'", source.update.name), "source " + source.update.name,
                      source.update.grid, source.update.where, source.box.has_value(),
                      reads_of(source.update), domains.sources[i]});
    }
    for (std::size_t i = 0; i < model.records.size(); ++i) {
        const auto& record = model.records[i];
        prover.prove({fmt::format("the record '{}'", record.name), "record " + record.name + " = …",
                      record.grid, record.where, record.box.has_value(), reads_of(*record.value),
                      domains.records[i]});
    }
}

} // namespace farfield::stencil
