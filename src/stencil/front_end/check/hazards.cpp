// The order of reads and writes within one update. Right-hand sides read the values from before the update.
// In one buffer that holds for the cell itself, computed first and written then. A neighbour may be
// written already, everywhere; of an update on some cells the analysis knows.
#include "stencil/front_end/check/checker.h"
#include "stencil/front_end/syntax/diagnostic_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace farfield::stencil {
namespace {

struct Read {
    int field = -1;
    bool neighbour = false;
    Span span;
};

std::vector<Read> reads_in(const lang::Expr& expr) {
    std::vector<Read> out;
    lang::for_each_node(expr, [&](const lang::Expr& node) {
        if (const auto* name = std::get_if<lang::Name>(&node.node)) {
            if (kind_of(name->symbol) == SymbolKind::field)
                out.push_back({name->symbol.index, false, node.span});
        } else if (const auto* access = std::get_if<lang::Access>(&node.node)) {
            const bool away =
                std::any_of(access->offsets.begin(), access->offsets.end(), [](int o) { return o != 0; });
            if (kind_of(access->symbol) == SymbolKind::field)
                out.push_back({access->symbol.index, away, node.span});
        }
    });
    return out;
}

} // namespace

// A temporary that no later line reads is most likely a misspelling.
void Checker::warn_of_unused_temporaries(const Update& update) {
    std::set<int> read;
    for (const auto& operation : update.operations)
        lang::for_each_node(*operation.value, [&](const lang::Expr& node) {
            const auto* name = std::get_if<lang::Name>(&node.node);
            if (name != nullptr && kind_of(name->symbol) == SymbolKind::temporary)
                read.insert(name->symbol.index);
        });
    for (std::size_t i = 0; i < update.operations.size(); ++i) {
        const auto& operation = update.operations[i];
        if (operation.field == -1 && !read.contains(static_cast<int>(i)))
            report(kinds::unused, operation.span,
                   fmt::format("'{}' is computed, and nothing in '{}' uses it", operation.temporary,
                               update.name),
                   "remove it, or check the spelling where it is meant");
    }
}

void Checker::hazards(const Update& update, bool everywhere) {
    std::set<int> all;
    for (const auto& operation : update.operations) all.insert(operation.field);
    std::map<int, Span> written;
    for (const auto& operation : update.operations) {
        for (const auto& read : reads_in(*operation.value)) {
            const auto& field = model_.fields[static_cast<std::size_t>(read.field)];
            field_read_[static_cast<std::size_t>(read.field)] = true;
            if (field.double_buffered) continue;
            if (everywhere && read.neighbour && all.contains(read.field)) {
                report(kinds::reads_updated_neighbour, read.span,
                       fmt::format(
                           "a neighbour of '{}' is read, which '{}' itself writes: it may hold the old value "
                           "or the new one",
                           field.name, update.name),
                       fmt::format(
                           "declare the field with two buffers: field {} … : double, double-buffered; or "
                           "write it in another update",
                           field.name));
            } else if (!read.neighbour && written.contains(read.field)) {
                report(kinds::reads_updated_cell, read.span,
                       fmt::format(
                           "'{}' is read below the equation that writes it: this is the value from before "
                           "the update",
                           field.name),
                       "move this equation up if that is meant; for the new value, write another update");
            }
        }
        if (operation.field < 0) continue;
        if (!written.emplace(operation.field, operation.span).second) {
            report(kinds::written_twice, operation.span,
                   fmt::format("'{}' is written by two equations of '{}'",
                               model_.fields[static_cast<std::size_t>(operation.field)].name, update.name),
                   "join them in one equation, or write two updates");
        }
    }
}

} // namespace farfield::stencil
