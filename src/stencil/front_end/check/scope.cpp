// Names of a program.
#include "stencil/front_end/check/scope.h"

#include "base/text.h"
#include "stencil/front_end/syntax/diagnostic_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace farfield::stencil {
namespace {

constexpr std::size_t most_candidates = 1000; // a suggestion costs time for each

std::vector<Identifier> declared_by(const StatementNode& node) {
    return std::visit(lang::Overloaded{[](const Constants& n) {
                                           std::vector<Identifier> names;
                                           for (const auto& item : n.list) names.push_back(item.name);
                                           return names;
                                       },
                                       [](const FieldDecl& n) { return n.names; },
                                       [](const ProgramName&) { return std::vector<Identifier>(); },
                                       [](const TimeSettings&) { return std::vector<Identifier>(); },
                                       [](const BoundaryDecl&) { return std::vector<Identifier>(); },
                                       [](const StepDecl&) { return std::vector<Identifier>(); },
                                       [](const OutputDecl&) { return std::vector<Identifier>(); },
                                       [](const auto& n) { return std::vector<Identifier>{n.name}; }},
                      node);
}

} // namespace

Scope::Scope(const Program& program) : silent_(program.unread_names.begin(), program.unread_names.end()) {
    for (const auto& statement : program.statements)
        for (const auto& name : declared_by(statement.node)) ahead_.emplace(name.text, name.span);
}

Scope::Entry* Scope::find(std::string_view name) {
    const auto found = index_.find(std::string(name));
    return found == index_.end() ? nullptr : &entries_[found->second];
}

const Scope::Entry* Scope::declare(Entry entry) {
    const auto [place, fresh] = index_.emplace(entry.name, entries_.size());
    if (!fresh) return &entries_[place->second];
    entries_.push_back(std::move(entry));
    return nullptr;
}

void Scope::report_unknown(const std::string& name, Span span, const std::vector<std::string>& extra,
                           lang::Diagnostics& diagnostics) const {
    if (forgiven(name) || diagnostics.full()) return; // looking for resemblances takes time
    if (const auto later = ahead_.find(name); later != ahead_.end()) {
        auto& diagnostic = diagnostics.report(kinds::used_before, span,
                                              fmt::format("'{}' is used above its declaration", name),
                                              "move the declaration up, or this line down");
        diagnostic.notes.push_back({"it is declared here", later->second});
        return;
    }
    std::vector<std::string_view> candidates(extra.begin(), extra.end());
    for (const auto& entry : entries_)
        if (candidates.size() < most_candidates) candidates.push_back(entry.name);
    // One letter resembles every other one.
    const auto nearest = name.size() > 1 ? nearest_word(name, candidates) : std::string_view();
    diagnostics.report(kinds::unknown_name, span, fmt::format("there is no '{}'", name),
                       nearest.empty()
                           ? std::string("declare it above: a 'param', 'let', 'field' or 'subdomain', say")
                           : fmt::format("did you mean '{}'?", nearest));
}

std::string_view described(SymbolKind kind) {
    constexpr std::array<std::string_view, 11> names{"nothing",  "a constant",    "a grid",      "a field",
                                                     "an array", "a coefficient", "a subdomain", "an update",
                                                     "a source", "a record",      "a temporary"};
    const auto index = static_cast<std::size_t>(kind);
    return index < names.size() ? names[index] : std::string_view("a name of the language");
}

} // namespace farfield::stencil
