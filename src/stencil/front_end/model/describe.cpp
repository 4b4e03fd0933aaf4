// Models as text.
#include "stencil/front_end/model/describe.h"

#include "base/text.h"
#include "lang/expression_printer.h"
#include "stencil/front_end/syntax/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace farfield::stencil {
namespace {

std::string text(const lang::Expr* expr) { return expr == nullptr ? "" : lang::to_text(*expr); }
std::string_view letter(const Axis& axis) {
    return std::string_view("xyz").substr(static_cast<std::size_t>(axis.coordinate), 1);
}

class Description {
public:
    explicit Description(const Model& model) : model_(model) {}

    std::string run() {
        if (!model_.name.empty()) line("program {}", model_.name);
        for (const auto& constant : model_.constants)
            line("{} {} = {}{}", constant.parameter ? "param" : "let", constant.name,
                 lang::to_text(constant.value), constant.replaced ? "  (set)" : "");
        for (const auto& grid : model_.grids) describe_grid(grid);
        line("time dt = {}{}{}", lang::real_text(model_.dt),
             model_.steps ? fmt::format(", {} steps", *model_.steps) : "",
             model_.end ? fmt::format(", until t = {}", lang::real_text(*model_.end)) : "");
        for (const auto& field : model_.fields) describe_field(field);
        for (const auto& array : model_.arrays)
            line("array {} along {}{} on {}, {} = {}", array.name,
                 letter(grid(array.grid).axes[static_cast<std::size_t>(array.axis)]),
                 array.stagger == 0 ? "" : fmt::format("{:+}", array.stagger), grid(array.grid).name,
                 name_of(array.precision), text(array.value));
        for (const auto& subdomain : model_.subdomains)
            line("subdomain {} on {}{} = {}", subdomain.name, grid(subdomain.grid).name,
                 place(subdomain.stagger, subdomain.grid), text(subdomain.condition));
        for (const auto& coefficient : model_.coefficients) {
            line("coefficient {} on {}, {}", coefficient.name, grid(coefficient.grid).name,
                 name_of(coefficient.precision));
            for (const auto& one : coefficient.cases)
                line("    {}: {}", one.where == nullptr ? "elsewhere" : text(one.where), text(one.value));
        }
        for (const auto& update : model_.updates) describe_update("update", update, {});
        for (const auto& source : model_.sources) describe_update("source", source.update, source.box);
        for (const auto& record : model_.records)
            line("record {} = {} of {}{}{}, every {}", record.name, name_of(record.reduction),
                 text(record.value), region(record.where), cells(record.box, record.grid), record.every);
        describe_sequence();
        return std::move(out_);
    }

private:
    template <class... Args>
    void line(fmt::format_string<Args...> format, Args&&... args) {
        out_ += fmt::format(format, std::forward<Args>(args)...) + '\n';
    }
    const Grid& grid(int index) const { return model_.grids[static_cast<std::size_t>(index)]; }

    void describe_grid(const Grid& grid) {
        std::string axes;
        for (const auto& axis : grid.axes) {
            axes += fmt::format("{}{}: {} cells", axes.empty() ? "" : ", ", letter(axis), axis.cells);
            if (grid.physical)
                axes += fmt::format(" of {} from {}", lang::real_text(axis.spacing),
                                    lang::real_text(axis.origin));
        }
        line("grid {}[{}]", grid.name, axes);
    }

    std::string place(const std::array<double, 3>& stagger, int index) const {
        if (std::all_of(stagger.begin(), stagger.end(), [](double s) { return s == 0; })) return "";
        std::string out;
        const auto& axes = grid(index).axes;
        for (std::size_t i = 0; i < axes.size(); ++i) {
            out += fmt::format("{}{}", out.empty() ? " at (" : ", ", letter(axes[i]));
            if (stagger[i] != 0) out += fmt::format("{:+}", stagger[i]);
        }
        return out + ")";
    }

    void describe_field(const Field& field) {
        std::string boundary;
        const auto& axes = grid(field.grid).axes;
        for (std::size_t i = 0; i < axes.size(); ++i)
            if (field.boundary[i] != Boundary::none)
                boundary += fmt::format(", {} in {}", name_of(field.boundary[i]), letter(axes[i]));
        line("field {} on {}{}, {}{}{}{}{}", field.name, grid(field.grid).name,
             place(field.stagger, field.grid), name_of(field.precision), field.read_only ? ", read-only" : "",
             field.double_buffered ? ", double-buffered" : "", boundary,
             field.initial == nullptr ? "" : " = " + text(field.initial));
    }

    static std::string region(const lang::Expr* where) {
        return where == nullptr ? "" : " on " + text(where);
    }

    std::string cells(const std::optional<Box>& box, int index) const {
        if (!box) return "";
        std::string out;
        const auto& axes = grid(index).axes;
        for (std::size_t i = 0; i < axes.size(); ++i) {
            out += fmt::format("{}{}", out.empty() ? " at (" : ", ", box->first[i]);
            if (box->first[i] != box->last[i]) out += fmt::format(" to {}", box->last[i]);
        }
        return out + ")";
    }

    void describe_update(std::string_view kind, const Update& update, const std::optional<Box>& box) {
        line("{} {} on {}{}{}", kind, update.name, grid(update.grid).name,
             update.where == nullptr ? (box ? "" : ", everywhere") : ", where " + text(update.where),
             cells(box, update.grid));
        for (const auto& operation : update.operations) {
            const auto target = operation.field < 0
                                    ? "let " + operation.temporary
                                    : model_.fields[static_cast<std::size_t>(operation.field)].name;
            line("    {} {} {}", target, name_of(operation.op), text(operation.value));
            if (const auto reads = accesses(*operation.value, update.grid); !reads.empty())
                line("        reads {}", reads);
        }
    }

    // "Hz(0, -1)": the offset along each axis of the grid.
    std::string accesses(const lang::Expr& expr, int index) const {
        std::vector<std::string> all;
        std::set<std::string> seen;
        const auto rank = grid(index).axes.size();
        lang::for_each_node(expr, [&](const lang::Expr& node) {
            std::string name;
            std::array<int, 3> offsets = {};
            if (const auto* plain = std::get_if<lang::Name>(&node.node)) {
                if (kind_of(plain->symbol) == SymbolKind::field) name = plain->text;
            } else if (const auto* access = std::get_if<lang::Access>(&node.node)) {
                name = access->text;
                offsets = access->offsets;
            }
            if (name.empty()) return;
            const auto one = fmt::format(
                "{}({})", name, joined(std::span(offsets).first(static_cast<std::size_t>(rank)), ", "));
            if (seen.insert(one).second) all.push_back(one);
        });
        return joined(all, " ");
    }

    void describe_sequence() {
        std::string sequence;
        for (const auto& action : model_.step) {
            const auto index = static_cast<std::size_t>(action.index);
            const auto& name =
                action.is_source ? model_.sources[index].update.name : model_.updates[index].name;
            sequence += fmt::format("{}{}{}", sequence.empty() ? "" : ", ", name,
                                    action.every == 1 ? "" : fmt::format(" every {}", action.every));
        }
        line("step: {}", sequence);
        for (const auto& output : model_.outputs) {
            std::string names;
            for (const auto field : output.fields)
                names += (names.empty() ? "" : ", ") + model_.fields[static_cast<std::size_t>(field)].name;
            line("output {}{}{}{}", names, output.at_start ? ", at start" : "",
                 output.every > 0 ? fmt::format(", every {}", output.every) : "",
                 output.at_end ? ", at end" : "");
        }
    }

    const Model& model_;
    std::string out_;
};

} // namespace

std::string describe(const Model& model) { return Description(model).run(); }

std::string summary(const Model& model) {
    std::string out;
    const auto add = [&](std::size_t n, std::string_view word) {
        if (n > 0) out += fmt::format("{}{} {}{}", out.empty() ? "" : ", ", n, word, n == 1 ? "" : "s");
    };
    add(model.grids.size(), "grid");
    add(model.fields.size(), "field");
    add(model.arrays.size(), "array");
    add(model.coefficients.size(), "coefficient");
    add(model.subdomains.size(), "subdomain");
    add(model.updates.size(), "update");
    add(model.sources.size(), "source");
    add(model.records.size(), "record");
    return out;
}

} // namespace farfield::stencil
