// What names mean: those of the language, temporaries, and those that the program declares.
#include "stencil/front_end/check/resolve_names.h"

#include "lang/check_types.h"
#include "lang/diagnostic_kinds.h"
#include "stencil/front_end/syntax/diagnostic_kinds.h"
#include "stencil/front_end/syntax/words.h"

#include <fmt/format.h>

#include <utility>

namespace farfield::stencil {
namespace {

using lang::Type;

// x, y, z: 0, 1, 2 also for X, Y, Z and dx, dy, dz; -1 for other names.
int coordinate_of(std::string_view name, char prefix) {
    if (prefix == 'd') return name.size() == 2 && name[0] == 'd' ? axis_of(name.substr(1)) : -1;
    if (prefix == 'X') return name.size() == 1 && name[0] >= 'X' && name[0] <= 'Z' ? name[0] - 'X' : -1;
    return axis_of(name);
}

class NameResolver : public lang::Names {
public:
    NameResolver(Checker& checker, const ExpressionContext& context) : checker_(checker), context_(context) {}

    Type name(lang::Name& node, Span span) override {
        if (const auto type = temporary(node)) return *type;
        if (const auto type = word(node, span)) return *type;
        auto* entry = checker_.scope().find(node.text);
        if (entry == nullptr) return unknown(node.text, span);
        entry->used = true;
        node.symbol = symbol_of(entry->kind, entry->index);
        return declared(*entry, span);
    }

    Type access(lang::Access& node, Span span) override {
        lang::Name plain{node.text};
        if (temporary(plain)) {
            report(kinds::wrong_kind, node.name_span,
                   fmt::format("'{}' is a temporary, which has a value in this cell only", node.text),
                   "read the neighbours of the fields it is made of");
            return Type::unknown;
        }
        if (axis_of(node.text) >= 0 || !reserved_because(node.text).empty()) {
            report(kinds::wrong_kind, node.name_span, fmt::format("'{}' has no neighbours", node.text),
                   "write x + 1 for the next coordinate; only fields, arrays and coefficients are read with "
                   "[ ]");
            return Type::unknown;
        }
        auto* entry = checker_.scope().find(node.text);
        if (entry == nullptr) return unknown(node.text, node.name_span);
        entry->used = true;
        node.symbol = symbol_of(entry->kind, entry->index);
        const bool values = entry->kind == SymbolKind::field || entry->kind == SymbolKind::array ||
                            entry->kind == SymbolKind::coefficient;
        if (!values) {
            report(kinds::wrong_kind, node.name_span,
                   fmt::format("'{}' is {}, which has no neighbours", node.text, described(entry->kind)),
                   "only fields, arrays and coefficients are read with [ ]");
            return Type::unknown;
        }
        const auto type = declared(*entry, span);
        if (type != Type::unknown && !context_.cells)
            return not_here(span, fmt::format("{} is made of values of the cell itself", context_.what),
                            "neighbours are read in updates, sources and records");
        return type != Type::unknown && offsets(node, *entry, span) ? type : Type::unknown;
    }

    std::optional<Type> call(lang::Call& node, Span span) override {
        if (node.text != "image" && node.text != "data") return std::nullopt;
        const bool image = node.text == "image";
        node.function = image ? lang::Function::image : lang::Function::data;
        if (!context_.files) {
            return not_here(
                span,
                fmt::format("'{}' reads a value for each cell before the run, which {} cannot use", node.text,
                            context_.what),
                "read the file into a field: field f on g : double, read-only = data(\"f.npy\")");
        }
        const auto* file =
            node.arguments.size() == 1 ? std::get_if<lang::TextLiteral>(&node.arguments[0]->node) : nullptr;
        const std::string_view ending = image ? ".png" : ".npy";
        if (file == nullptr || !file->value.ends_with(ending) || file->value.size() == ending.size()) {
            report(kinds::bad_file, span,
                   fmt::format("'{}' takes the name of a {} file in quotes, and nothing else", node.text,
                               ending),
                   fmt::format("write: {}(\"shape{}\")", node.text, ending));
            return Type::unknown;
        }
        node.arguments[0]->type = Type::text;
        return Type::real;
    }

private:
    std::optional<Type> temporary(lang::Name& node) {
        if (context_.temporaries == nullptr) return std::nullopt;
        const auto& list = *context_.temporaries;
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (list[i].field >= 0 || list[i].temporary != node.text) continue;
            node.symbol = symbol_of(SymbolKind::temporary, static_cast<int>(i));
            return list[i].value->type;
        }
        return std::nullopt;
    }

    // The names that the language itself has.
    std::optional<Type> word(lang::Name& node, Span span) {
        if (const int i = coordinate_of(node.text, 'x'); i >= 0)
            return coordinate(node, i, span, Type::integer);
        if (const int i = coordinate_of(node.text, 'X'); i >= 0) return coordinate(node, i, span, Type::real);
        if (const int i = coordinate_of(node.text, 'd'); i >= 0) return spacing(node, i, span);
        if (node.text == "pi") return found(node, SymbolKind::pi, Type::real);
        if (node.text == "dt") {
            checker_.note_time_step(span);
            return found(node, SymbolKind::time_step, Type::real);
        }
        if (node.text == "t" || node.text == "step") {
            const bool step = node.text == "step";
            if (context_.time)
                return found(node, step ? SymbolKind::step : SymbolKind::time,
                             step ? Type::integer : Type::real);
            return not_here(span,
                            fmt::format("'{}' changes during the run, and {} is fixed before it", node.text,
                                        context_.what),
                            "use it in updates, sources and records");
        }
        if (node.text == "everywhere" && context_.subdomains)
            return found(node, SymbolKind::everywhere, Type::boolean);
        if (node.text == "interior" && context_.interior)
            return found(node, SymbolKind::interior, Type::boolean);
        if (node.text == "interior" || node.text == "everywhere")
            return not_here(span, fmt::format("'{}' has no meaning in {}", node.text, context_.what),
                            "it stands behind 'on' of an update: update u on interior:");
        return std::nullopt;
    }

    Type found(lang::Name& node, SymbolKind kind, Type type, int index = 0) {
        node.symbol = symbol_of(kind, index);
        return type;
    }

    Type coordinate(lang::Name& node, int i, Span span, Type type) {
        const auto c = static_cast<std::size_t>(i);
        if (context_.grid < 0)
            return not_here(
                span,
                fmt::format("'{}' is different in every cell, and {} is one value", node.text, context_.what),
                "use it in subdomains, initial values, coefficients and updates");
        const auto& grid = grid_here();
        if (grid.axis_of(i) < 0)
            return not_here(span, fmt::format("the grid '{}' has no axis {}", grid.name, "xyz"[c]), {});
        if (!context_.coordinates[c])
            return not_here(span,
                            fmt::format("'{}' is not among the coordinates of {}", node.text, context_.what),
                            context_.coordinates_remedy);
        if (type == Type::integer) return found(node, SymbolKind::cell_index, type, i);
        if (!context_.shift[c])
            return not_here(
                span,
                fmt::format("'{}' is ambiguous: the fields of this update sit at different places",
                            node.text),
                "use it in the equations, where it belongs to the field on the left");
        node.shift = *context_.shift[c];
        return found(node, SymbolKind::position, type, i);
    }

    Type spacing(lang::Name& node, int i, Span span) {
        const auto& grids = checker_.model().grids;
        const auto index = context_.grid >= 0 ? context_.grid : grids.size() == 1 ? 0 : -1;
        if (index < 0)
            return not_here(
                span,
                fmt::format("'{}' is the width of a cell, and {}", node.text,
                            grids.empty() ? "no grid is declared yet" : "there are several grids"),
                grids.empty() ? "declare the grid above this line" : "write the number of the grid meant");
        const int axis = grids[static_cast<std::size_t>(index)].axis_of(i);
        if (axis < 0)
            return not_here(span,
                            fmt::format("the grid '{}' has no axis {}",
                                        grids[static_cast<std::size_t>(index)].name, "xyz"[i]),
                            {});
        return found(node, SymbolKind::spacing, Type::real, 3 * index + axis);
    }

    Type declared(const Scope::Entry& entry, Span span) {
        switch (entry.kind) {
        case SymbolKind::constant:
            return checker_.type_of_constant(entry.index);
        case SymbolKind::field:
            if (!context_.cells && !(context_.read_only_fields && read_only(entry)))
                return varies(entry, span);
            return on_grid(entry, checker_.model().fields[static_cast<std::size_t>(entry.index)].grid, span);
        case SymbolKind::coefficient:
            if (!context_.cells) return varies(entry, span);
            return on_grid(entry, checker_.model().coefficients[static_cast<std::size_t>(entry.index)].grid,
                           span);
        case SymbolKind::array:
            if (!context_.arrays) return varies(entry, span);
            return on_grid(entry, checker_.model().arrays[static_cast<std::size_t>(entry.index)].grid, span);
        case SymbolKind::subdomain:
            if (!context_.subdomains) return varies(entry, span);
            return on_grid(entry, checker_.model().subdomains[static_cast<std::size_t>(entry.index)].grid,
                           span) == Type::unknown
                       ? Type::unknown
                       : Type::boolean;
        default:
            report(kinds::wrong_kind, span,
                   fmt::format("'{}' is {}, which has no value", entry.name, described(entry.kind)), {});
            return Type::unknown;
        }
    }

    bool read_only(const Scope::Entry& entry) const {
        return checker_.model().fields[static_cast<std::size_t>(entry.index)].read_only;
    }

    Type varies(const Scope::Entry& entry, Span span) {
        return not_here(span,
                        fmt::format("'{}' is {} with a value for each cell, which {} cannot use", entry.name,
                                    described(entry.kind), context_.what),
                        entry.kind == SymbolKind::field ? "fields are read in updates, sources and records"
                                                        : "");
    }

    Type on_grid(const Scope::Entry& entry, int grid, Span span) {
        if (context_.grid < 0 || grid == context_.grid) return Type::real;
        const auto& grids = checker_.model().grids;
        report(kinds::wrong_grid, span,
               fmt::format("'{}' is on the grid '{}', and {} is on '{}'", entry.name,
                           grids[static_cast<std::size_t>(grid)].name, context_.what, grid_here().name),
               "only things on one grid can be combined");
        return Type::unknown;
    }

    bool offsets(lang::Access& node, const Scope::Entry& entry, Span span) {
        const auto& grid = grid_here();
        std::array<bool, 3> given = {};
        if (node.indices.empty()) {
            report(kinds::bad_access, span, "no neighbour is named", fmt::format("write {}[x+1]", node.text));
            return false;
        }
        for (auto& index : node.indices) {
            const auto shifted = checker_.shifted(*index, kinds::bad_access, node.text);
            if (!shifted) return false;
            const int axis = grid.axis_of(shifted->coordinate);
            const bool along = entry.kind != SymbolKind::array ||
                               checker_.model().arrays[static_cast<std::size_t>(entry.index)].axis == axis;
            if (axis < 0 || !along) {
                report(kinds::bad_access, index->span,
                       fmt::format("'{}' has no axis {}", node.text,
                                   "xyz"[static_cast<std::size_t>(shifted->coordinate)]),
                       {});
                return false;
            }
            if (std::exchange(given[static_cast<std::size_t>(axis)], true)) {
                report(kinds::bad_access, index->span,
                       fmt::format("the axis {} is given twice",
                                   "xyz"[static_cast<std::size_t>(shifted->coordinate)]),
                       "an axis that is not mentioned stays at this cell");
                return false;
            }
            node.offsets[static_cast<std::size_t>(axis)] = static_cast<int>(shifted->shift);
        }
        return true;
    }

    const Grid& grid_here() const { return checker_.model().grids[static_cast<std::size_t>(context_.grid)]; }

    Type unknown(const std::string& name, Span span) {
        std::vector<std::string> extra{"pi", "dt"};
        if (context_.time) extra.insert(extra.end(), {"t", "step"});
        if (context_.interior) extra.emplace_back("interior");
        if (context_.temporaries != nullptr)
            for (const auto& operation : *context_.temporaries) extra.push_back(operation.temporary);
        checker_.scope().report_unknown(name, span, extra, checker_.diagnostics());
        return Type::unknown;
    }

    Type not_here(Span span, std::string message, std::string remedy) {
        report(context_.grid < 0 ? lang::kinds::not_constant : kinds::not_here, span, std::move(message),
               std::move(remedy));
        return Type::unknown;
    }
    void report(const lang::DiagnosticKind& kind, Span span, std::string message, std::string remedy) {
        checker_.diagnostics().report(kind, span, std::move(message), std::move(remedy));
    }

    Checker& checker_;
    const ExpressionContext& context_;
};

} // namespace

lang::Symbol symbol_of(SymbolKind kind, int index) { return {static_cast<int>(kind), index}; }

lang::Type resolve(lang::Expr& expr, Checker& checker, const ExpressionContext& context) {
    NameResolver names(checker, context);
    return lang::check_types(expr, names, checker.diagnostics());
}

} // namespace farfield::stencil
