// The printer of statements.
#include "stencil/front_end/syntax/printer.h"

#include "base/text.h"
#include "stencil/front_end/syntax/words.h"

#include <fmt/format.h>

namespace farfield::stencil {
namespace {

class Printer {
public:
    explicit Printer(lang::Brackets brackets) : brackets_(brackets) {}

    std::string print(const Program& program) {
        for (const auto& statement : program.statements)
            std::visit([&](const auto& node) { print_node(node); }, statement.node);
        return std::move(out_);
    }

private:
    std::string text(const ExprPtr& expr) const { return lang::to_text(*expr, brackets_); }

    // "before a, b, c", each written by `write`.
    template <class List, class Write>
    static std::string listed(std::string_view before, const List& list, Write&& write) {
        std::string out(before);
        for (std::size_t i = 0; i < list.size(); ++i) out += (i > 0 ? ", " : "") + write(list[i]);
        return out;
    }
    static std::string names(const std::vector<Identifier>& list) {
        return listed("", list, [](const Identifier& name) { return name.text; });
    }
    std::string named(const std::vector<NamedValue>& list) const {
        return listed("", list, [&](const NamedValue& item) {
            return fmt::format("{} = {}", item.name.text, text(item.value));
        });
    }
    static std::string on_grid(const Identifier& grid) { return grid.empty() ? "" : " on " + grid.text; }
    std::string on(const ExprPtr& where) const { return where ? " on " + text(where) : ""; }
    std::string every(const ExprPtr& n) const { return n ? " every " + text(n) : ""; }
    std::string stagger(const std::vector<ExprPtr>& list) const {
        return list.empty() ? "" : listed(" at (", list, [&](const ExprPtr& e) { return text(e); }) + ")";
    }
    std::string place(const std::vector<PlaceRange>& list) const {
        if (list.empty()) return "";
        return listed(" at (", list,
                      [&](const PlaceRange& range) {
                          return text(range.first) + (range.last ? " to " + text(range.last) : "");
                      }) +
               ")";
    }

    void print_node(const ProgramName& node) { line("program " + node.name.text); }
    void print_node(const Constants& node) { line((node.parameters ? "param " : "let ") + named(node.list)); }
    void print_node(const TimeSettings& node) { line("time " + named(node.list)); }

    void print_node(const GridDecl& node) {
        const auto axes = listed("[", node.axes, [&](const GridAxis& axis) {
            return fmt::format("{}: {}{}", axis.name.text, axis.first ? text(axis.first) + " to " : "",
                               text(axis.last));
        });
        line("grid " + node.name.text + axes + "]" +
             (node.sampling ? " sampling " + text(node.sampling) : ""));
    }

    void print_node(const FieldDecl& node) {
        auto out = "field " + names(node.names) + on_grid(node.grid) + stagger(node.stagger);
        out += fmt::format(" : {}", name_of(node.precision));
        if (node.double_buffered) out += ", double-buffered";
        if (node.read_only) out += ", read-only";
        line(out + (node.initial ? " = " + text(node.initial) : ""));
    }

    void print_node(const ArrayDecl& node) {
        line(fmt::format("array {}[{}]{}{} : {} = {}", node.name.text, node.axis.text, on_grid(node.grid),
                         stagger(node.stagger), name_of(node.precision), text(node.value)));
    }

    void print_node(const SubdomainDecl& node) {
        const auto coordinates = node.coordinates.empty() ? "" : "(" + names(node.coordinates) + ")";
        line("subdomain " + node.name.text + coordinates + on_grid(node.grid) + stagger(node.stagger) +
             " = " + text(node.condition));
    }

    void print_node(const CoefficientDecl& node) {
        line(fmt::format("coefficient {}{} : {}:", node.name.text, on_grid(node.grid),
                         name_of(node.precision)));
        for (const auto& one : node.cases)
            line(fmt::format("    {}: {}", one.where ? text(one.where) : "elsewhere", text(one.value)));
    }

    void print_equations(const std::vector<Equation>& equations) {
        for (const auto& equation : equations) {
            if (const auto* let = std::get_if<Temporary>(&equation)) {
                line(fmt::format("    let {} = {}", let->name.text, text(let->value)));
            } else {
                const auto& assignment = std::get<Assignment>(equation);
                line(fmt::format("    {} {} {}", text(assignment.target), name_of(assignment.op),
                                 text(assignment.value)));
            }
        }
    }
    void print_node(const UpdateDecl& node) {
        line("update " + node.name.text + on(node.where) + ":");
        print_equations(node.equations);
    }
    void print_node(const SourceDecl& node) {
        line("source " + node.name.text + place(node.at) + on(node.where) + ":");
        print_equations(node.equations);
    }

    void print_node(const BoundaryDecl& node) {
        const auto rules = listed(": ", node.rules, [](const BoundaryRule& rule) {
            std::string out(name_of(rule.boundary));
            for (std::size_t i = 0; i < rule.axes.size(); ++i)
                out += (i > 0 ? " and " : " in ") + rule.axes[i].text;
            return out;
        });
        line("boundary" + (node.fields.empty() ? "" : " " + names(node.fields)) + rules);
    }

    void print_node(const RecordDecl& node) {
        const auto reduction =
            node.reduction == Reduction::value ? "" : fmt::format("{} of ", name_of(node.reduction));
        line("record " + node.name.text + " = " + reduction + text(node.value) + on(node.where) +
             place(node.at) + every(node.every));
    }

    void print_node(const StepDecl& node) {
        line(listed("step: ", node.entries,
                    [&](const StepEntry& entry) { return entry.name.text + every(entry.every); }));
    }

    void print_node(const OutputDecl& node) {
        std::vector<std::string> times;
        if (node.at_start) times.emplace_back("at start");
        if (node.every) times.push_back(every(node.every).substr(1));
        if (node.at_end) times.emplace_back("at end");
        line(fmt::format("output {} {}", names(node.fields), joined(times, ", ")));
    }

    void line(const std::string& text) { out_ += text + '\n'; }

    lang::Brackets brackets_;
    std::string out_;
};

} // namespace

std::string to_text(const Program& program, lang::Brackets brackets) {
    return Printer(brackets).print(program);
}

} // namespace farfield::stencil
