// The names of a program: what each stands for, and what to say about one that stands for nothing.
#pragma once

#include "lang/diagnostics.h"
#include "stencil/front_end/model/model.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace farfield::stencil {

class Scope {
public:
    struct Entry {
        std::string name;
        SymbolKind kind = SymbolKind::none;
        int index = -1;
        Span span;
        bool used = false;
    };

    /// Finds all declarations ahead, so that a name above its own is told from an unknown one.
    explicit Scope(const Program& program);

    /// Null where the name is not declared yet.
    Entry* find(std::string_view name);
    /// The one that was first; null: the name was free and is declared now.
    const Entry* declare(Entry entry);
    /// Its declaration was wrong: uses of the name are not reported.
    void forgive(const std::string& name) { silent_.insert(name); }

    /// Reports a name that `find` does not find; `extra` are names that would do besides those declared.
    void report_unknown(const std::string& name, Span span, const std::vector<std::string>& extra,
                        lang::Diagnostics& diagnostics) const;
    /// Whether report_unknown would stay silent.
    bool forgiven(const std::string& name) const { return silent_.contains(name); }

    const std::vector<Entry>& entries() const { return entries_; }

private:
    std::vector<Entry> entries_;
    std::unordered_map<std::string, std::size_t> index_;
    std::unordered_map<std::string, Span> ahead_;
    std::unordered_set<std::string> silent_;
};

/// "a field", "a subdomain": for messages.
std::string_view described(SymbolKind kind);

} // namespace farfield::stencil
