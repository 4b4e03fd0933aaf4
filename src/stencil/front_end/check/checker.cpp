// The order of the check, names, and what is said about the program as a whole.
#include "stencil/front_end/check/checker.h"

#include "base/text.h"
#include "lang/check_types.h"
#include "lang/diagnostic_kinds.h"
#include "lang/evaluate.h"
#include "lang/expression_parser.h"
#include "lang/lexer.h"
#include "stencil/front_end/syntax/diagnostic_kinds.h"
#include "stencil/front_end/syntax/words.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

namespace farfield::stencil {

namespace {

class NoNames : public lang::Names {
    lang::Type name(lang::Name&, Span) override { return lang::Type::unknown; }
    lang::Type access(lang::Access&, Span) override { return lang::Type::unknown; }
    std::optional<lang::Type> call(lang::Call&, Span) override { return std::nullopt; }
};

// 1/8, 2*(3 + 1); none where it is no number.
std::optional<lang::Value> computed(std::string_view text) {
    const lang::SourceText source("--set", std::string(text));
    lang::Diagnostics diagnostics(source);
    const auto tokens = lang::tokenize(source, {}, diagnostics);
    lang::TokenStream stream(tokens, source, diagnostics);
    try {
        const auto expr = lang::parse_expression(stream);
        stream.accept(lang::TokenKind::newline);
        NoNames none;
        if (!stream.at(lang::TokenKind::end) ||
            lang::check_types(*expr, none, diagnostics) == lang::Type::unknown || diagnostics.has_errors())
            return std::nullopt;
        const auto no_value = [](const lang::Name&) -> std::optional<lang::Value> { return std::nullopt; };
        auto value = lang::evaluate(*expr, no_value, "a parameter", diagnostics);
        const auto* real = value ? std::get_if<double>(&*value) : nullptr;
        return real != nullptr && !std::isfinite(*real) ? std::nullopt : value;
    } catch (const lang::SyntaxFailure&) {
        return std::nullopt;
    }
}

} // namespace

ParameterValue parse_parameter(std::string_view text) {
    const auto equals = text.find('=');
    const auto allowed = "write name=value with a number, true or false: --set cells=512, --set k=1/8";
    if (equals == std::string_view::npos)
        throw InvalidArgument(fmt::format("--set {}: there is no '=' and no value; {}", text, allowed));
    if (equals == 0)
        throw InvalidArgument(fmt::format("--set {}: there is no name before '='; {}", text, allowed));
    ParameterValue out{std::string(text.substr(0, equals)), false};
    const auto value = text.substr(equals + 1);
    const auto* begin = value.data();
    const auto* end = begin + value.size();
    std::int64_t integer = 0;
    double real = 0;
    if (value == "true" || value == "false") {
        out.value = value == "true";
    } else if (const auto whole = std::from_chars(begin, end, integer);
               whole.ec == std::errc() && whole.ptr == end) {
        out.value = integer;
    } else if (const auto number = std::from_chars(begin, end, real);
               number.ec == std::errc() && number.ptr == end && std::isfinite(real)) {
        out.value = real;
    } else if (const auto result = value.ends_with(' ') ? std::nullopt : computed(value)) {
        out.value = *result;
    } else {
        throw InvalidArgument(fmt::format("--set {}: '{}' is not a value; {}", text, value, allowed));
    }
    return out;
}

Model check_program(Program program, const std::vector<ParameterValue>& parameters,
                    lang::Diagnostics& diagnostics) {
    return Checker(std::move(program), parameters, diagnostics).run();
}

Checker::Checker(Program program, const std::vector<ParameterValue>& parameters,
                 lang::Diagnostics& diagnostics)
    : parameters_(parameters), diagnostics_(diagnostics), scope_(program),
      parameter_taken_(parameters.size()) {
    model_.program = std::move(program);
}

Model Checker::run() {
    for (auto& statement : model_.program.statements) {
        if (diagnostics_.full()) return std::move(model_);
        std::visit([&](auto& node) { check(node, statement.span); }, statement.node);
    }
    finish();
    return std::move(model_);
}

// A value may mention all those above it, so that work grows as their number squared.
constexpr std::size_t most_of_a_kind = 1000;

bool Checker::declare(const Identifier& name, SymbolKind kind, std::size_t index) {
    if (const auto reason = reserved_because(name.text); !reason.empty()) {
        report(kinds::reserved_name, name.span,
               fmt::format("'{}' cannot be a name: it {}", name.text, reason), "choose another name");
        scope_.forgive(name.text);
        return false;
    }
    if (kind != SymbolKind::constant && index >= most_of_a_kind) {
        if (!std::exchange(told_too_many_, true))
            report(lang::kinds::too_long, name.span,
                   fmt::format("'{}' is {} too many: {} are allowed", name.text, described(kind),
                               most_of_a_kind),
                   "put tables of numbers into files and read them with data(\"file.npy\")");
        scope_.forgive(name.text);
        return false;
    }
    const auto* other = scope_.declare({name.text, kind, static_cast<int>(index), name.span, false});
    if (other == nullptr) return true;
    auto& diagnostic =
        diagnostics_.report(kinds::duplicate_name, name.span,
                            fmt::format("the name '{}' is taken by {}", name.text, described(other->kind)),
                            "choose another name");
    diagnostic.notes.push_back({"it is declared here", other->span});
    return false;
}

std::optional<int> Checker::find(const Identifier& name, SymbolKind kind, std::string_view wanted) {
    auto* entry = scope_.find(name.text);
    if (entry == nullptr) {
        if (const auto reason = reserved_because(name.text); !reason.empty())
            report(kinds::wrong_kind, name.span,
                   fmt::format("'{}' {}, and {} is needed", name.text, reason, wanted));
        else
            scope_.report_unknown(name.text, name.span, {}, diagnostics_);
        return std::nullopt;
    }
    entry->used = true;
    if (entry->kind == kind) return entry->index;
    std::vector<std::string_view> candidates;
    for (const auto& other : scope_.entries())
        if (other.kind == kind && candidates.size() < 20) candidates.push_back(other.name);
    auto& diagnostic = diagnostics_.report(
        kinds::wrong_kind, name.span,
        fmt::format("'{}' is {}, and {} is needed", name.text, described(entry->kind), wanted),
        candidates.empty() ? std::string() : fmt::format("there is {}", list_of_words(candidates)));
    diagnostic.notes.push_back({"it is declared here", entry->span});
    return std::nullopt;
}

void Checker::finish() {
    check_parameters_used();
    const bool acts = !model_.updates.empty() || !model_.sources.empty();
    if (!has_step_ && !diagnostics_.has_errors()) {
        std::vector<std::string> names;
        for (const auto& update : model_.updates) names.push_back(update.name);
        for (const auto& source : model_.sources) names.push_back(source.update.name);
        report(kinds::missing, std::nullopt,
               acts ? "the program does not say in which order its updates run"
                    : "the program has no update and no step: nothing happens",
               acts ? fmt::format("add a line: step: {}", joined(names, ", "))
                    : "a program has a grid, fields, updates and a line 'step: …'");
    }
    if (diagnostics_.has_errors()) return; // what is unused may be in the lines that could not be read
    warn_of_unused();
    warn_of_never_written();
}

void Checker::check_parameters_used() {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        if (parameter_taken_[i]) continue;
        const auto& name = parameters_[i].name;
        std::vector<std::string_view> known;
        bool constant = false;
        for (const auto& one : model_.constants) {
            if (one.parameter) known.push_back(one.name);
            constant = constant || (one.name == name && !one.parameter);
        }
        if (scope_.forgiven(name)) continue;
        report(kinds::unknown_parameter, std::nullopt,
               fmt::format("--set {}={}: the program has no parameter '{}'{}", name,
                           lang::to_text(parameters_[i].value), name,
                           constant || known.empty() ? "" : suggestion(name, known)),
               constant ? fmt::format("'{}' is a constant; declare it with 'param' instead of 'let'", name)
                        : "parameters are declared with 'param'");
    }
}

void Checker::warn_of_unused() {
    for (const auto& update : model_.updates) warn_of_unused_temporaries(update);
    for (const auto& source : model_.sources) warn_of_unused_temporaries(source.update);
    for (const auto& entry : scope_.entries()) {
        if (entry.used || entry.kind == SymbolKind::grid || entry.kind == SymbolKind::record) continue;
        const bool acts = entry.kind == SymbolKind::update || entry.kind == SymbolKind::source;
        report(kinds::unused, entry.span,
               acts ? fmt::format("'{}' is in no step: it never happens", entry.name)
                    : fmt::format("'{}' is declared, and nothing uses it", entry.name),
               acts ? "add it to 'step:', or remove it"
                    : "remove it, or check the spelling where it is meant");
    }
}

void Checker::warn_of_never_written() {
    for (std::size_t i = 0; i < model_.fields.size(); ++i) {
        const auto& field = model_.fields[i];
        if (!field_read_[i] || field_written_[i] || field.read_only || field.initial != nullptr) continue;
        report(kinds::never_written, field.span,
               fmt::format("'{}' is read, but no equation writes it: it is 0 everywhere", field.name),
               "give it an initial value, or an update");
    }
}

void Checker::report(const lang::DiagnosticKind& kind, std::optional<Span> span, std::string message,
                     std::string remedy) {
    diagnostics_.report(kind, span, std::move(message), std::move(remedy));
}

} // namespace farfield::stencil
