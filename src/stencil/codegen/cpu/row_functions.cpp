// Prints the row functions of kernels and records.
#include "stencil/codegen/cpu/row_functions.h"

#include "stencil/codegen/cpu/row_call.h"
#include "stencil/codegen/cpu/row_spelling.h"
#include "stencil/codegen/named_numbers.h"
#include "stencil/codegen/used_functions.h"
#include "stencil/ir/op_info.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace farfield::stencil::codegen {
namespace {

using Lines = std::vector<std::string>;

// Longer code is printed once, for the sake of the compiler's time.
constexpr std::size_t most_nodes_in_lines = 200;

std::string indented(const Lines& lines, int depth) {
    std::string text;
    for (const auto& line : lines)
        text += std::string(4 * static_cast<std::size_t>(depth), ' ') + line + "\n";
    return text;
}

// Constants of the row: what the code uses of step, time and uniforms, and its coordinates.
Lines row_constants(const std::vector<const ir::Code*>& codes, const RowSpelling& spelling) {
    std::set<std::string> lines;
    for (const auto* code : codes)
        for (const auto& node : code->nodes) {
            if (node.op == ir::Op::uniform)
                lines.insert(fmt::format("const double {} = call->uniforms[{}];",
                                         spelling.uniform(node.index), node.index));
            if (node.op == ir::Op::time) lines.insert("const double t = call->t;");
            if (node.op == ir::Op::step) lines.insert("const long long step = call->step;");
            if (node.op == ir::Op::cell && node.index > 0)
                lines.insert(fmt::format("const long long {0} = call->{0};", spelling.cell(node.index)));
        }
    return {lines.begin(), lines.end()};
}

// The loop over a part of the row, in a version for its middle and one for its edges.
struct Loop {
    RowSpelling& spelling;
    Mask mask;
    std::string mask_type;
    const ir::Code& predicate;
    Needs& needs;

    // Whether a cell takes part, as a constant `here`, for `multiply` 0 or 1; nothing where every cell of the
    // span does.
    Lines condition() const {
        switch (mask) {
        case Mask::spans:
            return {};
        case Mask::none: {
            const Root root{predicate.result, "here"};
            auto printed = print_code(predicate, {&root, 1}, spelling);
            needs |= printed.needs;
            // Its constants would meet those of the code.
            Lines lines{"const bool here = [&] {"};
            for (auto& line : printed.lines) lines.push_back("    " + line);
            lines.push_back("    return here;");
            lines.push_back("}();");
            return lines;
        }
        case Mask::multiply:
            return {fmt::format("const {} here = mask[x];", mask_type)};
        default:
            return {"const bool here = mask[x] != 0;"};
        }
    }
    Lines declarations(const std::vector<const ir::Code*>& codes) const {
        auto lines = spelling.declarations();
        auto constants = row_constants(codes, spelling);
        lines.insert(lines.end(), constants.begin(), constants.end());
        if (mask == Mask::branch || mask == Mask::select || mask == Mask::multiply)
            lines.push_back(fmt::format(
                "const {0}* __restrict const mask = static_cast<const {0}*>(call->mask);", mask_type));
        return lines;
    }
};

std::string mask_type_of(Mask mask, Precision precision) {
    return mask == Mask::branch ? "unsigned char" : std::string(type_name(precision));
}

class KernelPrinter {
public:
    KernelPrinter(const ir::Program& program, const ir::Kernel& kernel, Mask mask, std::string name)
        : kernel_(kernel), name_(std::move(name)), spelling_(program, kernel.grid),
          mask_(mask_for(mask, kernel)) {
        spelling_.add_loads(kernel.code);
        if (mask == Mask::none) spelling_.add_loads(kernel.predicate);
        cells_ = program.grids[kernel.grid].shape[0];
        precision_ = Precision::single_precision;
        for (const auto& store : kernel.stores) {
            stores_.push_back(spelling_.add_store(store));
            if (mask_ == Mask::multiply) olds_.push_back(spelling_.add_old(store.buffer));
            if (program.buffers[store.buffer].precision == Precision::double_precision)
                precision_ = Precision::double_precision;
            roots_.push_back({store.node, spelling_.name(program.buffers[store.buffer].name + "_new")});
        }
    }

    RowFunction function() const { return {name_, spelling_.slots(), precision_}; }

    std::string print(Needs& needs) {
        const bool edges = spelling_.low() + spelling_.high() > 0;
        auto text = loop("_middle", false, needs);
        if (edges) text += loop("_edge", true, needs);
        text += fmt::format("extern \"C\" void {}(const RowCall* call) {{\n", name_);
        text += "    for (long long i = 0; i < call->span_count; ++i) {\n";
        text += "        const long long first = call->spans[2 * i];\n";
        text += "        const long long last = call->spans[2 * i + 1];\n";
        if (edges) {
            text +=
                fmt::format("        const long long low = clamped_to({}, first, last);\n", spelling_.low());
            text += fmt::format("        const long long high = clamped_to({}, low, last);\n",
                                cells_ - spelling_.high());
            text += fmt::format("        if (first < low) {}_edge(call, first, low);\n", name_);
            text += fmt::format("        {}_middle(call, low, high);\n", name_);
            text += fmt::format("        if (high < last) {}_edge(call, high, last);\n", name_);
        } else {
            text += fmt::format("        {}_middle(call, first, last);\n", name_);
        }
        return text + "    }\n}\n\n";
    }

private:
    std::string loop(const char* suffix, bool edge, Needs& needs) {
        spelling_.set_edge(edge);
        const Loop parts{spelling_, mask_, mask_type_of(mask_, precision_), kernel_.predicate, needs};
        auto text =
            fmt::format("static {}void {}{}(const RowCall* call, long long first, long long last) {{\n",
                        edge ? "FF_NOINLINE " : "inline ", name_, suffix);
        std::vector<const ir::Code*> codes{&kernel_.code};
        if (mask_ == Mask::none) codes.push_back(&kernel_.predicate);
        text += indented(parts.declarations(codes), 1);
        const auto body = cell(parts, needs);
        spelling_.set_edge(false);
        const bool in_lines = !edge && kernel_.code.nodes.size() <= most_nodes_in_lines;
        text += in_lines ? lines(body) : each("first", "last", edge ? "" : "FF_INDEPENDENT", body, 1);
        return text + "}\n\n";
    }

    static std::string each(std::string_view first, std::string_view last, std::string_view mark,
                            const Lines& body, int depth) {
        Lines loop;
        if (!mark.empty()) loop.emplace_back(mark);
        loop.push_back(fmt::format("for (long long x = {}; x < {}; ++x) {{", first, last));
        return indented(loop, depth) + indented(body, depth + 1) + indented({"}"}, depth);
    }

    // The middle of a span in whole lines of the cache, so that vectors are stored within a line; then what
    // is left of the lines at its ends, which a vector with a mask can do.
    std::string lines(const Lines& cell) const {
        const int line = precision_ == Precision::double_precision ? 8 : 16;
        const Lines body{"cell(x);"};
        const Lines ends{"if (x >= first && x < last) cell(x);"};
        auto text = indented({"const auto cell = [=](long long x) FF_INLINE {"}, 1) + indented(cell, 2) +
                    indented({"};"}, 1);
        text += fmt::format("    const long long end = last / {} * {};\n", line, line);
        text += each(fmt::format("(first + {}) / {} * {}", line - 1, line, line), "end", "FF_INDEPENDENT",
                     body, 1);
        text +=
            fmt::format("    for (long long line = first % {0} != 0 ? first / {0} * {0} : end; line < last;\n"
                        "         line = line == end ? last : end) {{\n",
                        line);
        text += each("line", fmt::format("line + {}", line), "FF_VECTOR", ends, 2);
        return text + "    }\n";
    }

    // What is done in cell x.
    Lines cell(const Loop& parts, Needs& needs) {
        auto body = parts.condition();
        auto printed = print_code(kernel_.code, roots_, spelling_);
        needs |= printed.needs;
        const bool branch = mask_ == Mask::branch;
        Lines inner = std::move(printed.lines);
        for (std::size_t i = 0; i < stores_.size(); ++i) {
            const auto target = spelling_.slot_name(stores_[i]) + "[x]";
            const auto type = type_name(spelling_.precision_of(kernel_.stores[i].buffer));
            const auto value = kernel_.code.nodes[kernel_.stores[i].node].type == value_type(i)
                                   ? printed.values[i]
                                   : fmt::format("static_cast<{}>({})", type, printed.values[i]);
            inner.push_back(assignment(i, target, type, value));
        }
        if (branch) body.emplace_back("if (here) {");
        for (auto& one : inner) body.push_back((branch ? "    " : "") + one);
        if (branch) body.emplace_back("}");
        return body;
    }
    std::string assignment(std::size_t store, const std::string& target, std::string_view type,
                           const std::string& value) const {
        if (mask_ == Mask::multiply) {
            const auto old = spelling_.slot_name(olds_[store]) + "[x]";
            const auto m = type == type_name(precision_) ? std::string("here")
                                                         : fmt::format("static_cast<{}>(here)", type);
            return fmt::format("{0} = {1} * ({2}) + (1 - {1}) * {3};", target, m, value, old);
        }
        // The cell keeps its value by being stored again.
        const bool blend = mask_ == Mask::select || mask_ == Mask::none;
        return blend ? fmt::format("{0} = here ? {1} : {0};", target, value)
                     : fmt::format("{} = {};", target, value);
    }
    ir::ValueType value_type(std::size_t store) const {
        return spelling_.precision_of(kernel_.stores[store].buffer) == Precision::single_precision
                   ? ir::ValueType::float32
                   : ir::ValueType::float64;
    }

    const ir::Kernel& kernel_;
    std::string name_;
    RowSpelling spelling_;
    Mask mask_;
    long long cells_ = 0;
    Precision precision_ = Precision::double_precision;
    std::vector<int> stores_;
    std::vector<int> olds_; // the slots of the values before, for `multiply`
    std::vector<Root> roots_;
};

class RecordPrinter {
public:
    RecordPrinter(const ir::Program& program, const ir::Record& record, Mask mask, std::string name)
        : record_(record), name_(std::move(name)), spelling_(program, record.grid),
          mask_(mask_for_record(mask, record.reduction)) {
        spelling_.add_loads(record.code);
        if (mask_ == Mask::none) spelling_.add_loads(record.predicate);
        cells_ = program.grids[record.grid].shape[0];
    }

    RowFunction function() const { return {name_, spelling_.slots(), Precision::double_precision}; }

    std::string print(Needs& needs) {
        const bool sum = record_.reduction == Reduction::sum || record_.reduction == Reduction::mean;
        auto text = values(needs);
        text += fmt::format("extern \"C\" void {}(const RowCall* call) {{\n", name_);
        text += sum ? sums() : extremum();
        return text + "}\n\n";
    }

private:
    // The values of cells first to last - 1, at most 64; and for extrema whether they count. Boundaries along
    // the row are always looked at: records are a small part of the work.
    std::string values(Needs& needs) {
        spelling_.set_edge(false);
        const Loop parts{spelling_, mask_, mask_type_of(mask_, Precision::double_precision),
                         record_.predicate, needs};
        std::vector<const ir::Code*> codes{&record_.code};
        if (mask_ == Mask::none) codes.push_back(&record_.predicate);
        std::string text;
        const bool edges = spelling_.low() + spelling_.high() > 0;
        for (const bool edge : {false, true}) {
            if (edge && !edges) break;
            spelling_.set_edge(edge);
            text += fmt::format(
                "static {}void {}_{}(const RowCall* call, long long first, long long last, double* values, "
                "unsigned char* counted) {{\n",
                edge ? "FF_NOINLINE " : "inline ", name_, edge ? "edge" : "middle");
            text += indented(parts.declarations(codes), 1);
            if (!edge) text += "    FF_INDEPENDENT\n";
            text += "    for (long long x = first; x < last; ++x) {\n";
            text += indented(parts.condition(), 2);
            const Root root{record_.code.result, "value"};
            const auto printed = print_code(record_.code, {&root, 1}, spelling_);
            needs |= printed.needs;
            text += indented(printed.lines, 2);
            const bool all = mask_ == Mask::spans;
            text += fmt::format("        values[x - first] = {}static_cast<double>(value){};\n",
                                all ? "" : "here ? ", all ? "" : " : 0.0");
            text += fmt::format("        counted[x - first] = {};\n    }}\n}}\n\n", all ? "1" : "here");
        }
        spelling_.set_edge(false);
        return text;
    }

    std::string call_values(const char* target) const {
        if (spelling_.low() + spelling_.high() == 0)
            return fmt::format("{}_middle(call, x, end, {}, counted);\n", name_, target);
        return fmt::format("(x >= {} && end <= {} ? {}_middle : {}_edge)(call, x, end, {}, counted);\n",
                           spelling_.low(), cells_ - spelling_.high(), name_, name_, target);
    }

    // Sums of atoms of 64 cells in 8 lanes; the cells outside the set add 0, which changes no bit of a sum
    // that starts from +0.
    std::string sums() const {
        return fmt::format(R"(    double values[64] = {{}};
    unsigned char counted[64];
    long long atom = -1;
    for (long long a = 0; a < {}; ++a) call->out[a] = 0;
    for (long long i = 0; i < call->span_count; ++i) {{
        const long long last = call->spans[2 * i + 1];
        for (long long x = call->spans[2 * i]; x < last;) {{
            if (x / 64 != atom) {{
                if (atom >= 0) call->out[atom] = sum_of_atom(values);
                atom = x / 64;
                for (double& value : values) value = 0;
            }}
            const long long end = last < 64 * atom + 64 ? last : 64 * atom + 64;
            {}            x = end;
        }}
    }}
    if (atom >= 0) call->out[atom] = sum_of_atom(values);
)",
                           (cells_ + 63) / 64, call_values("values + (x - 64 * atom)"));
    }

    // The first of the extreme values, as the cells come; a NaN wins.
    std::string extremum() const {
        const char sign = record_.reduction == Reduction::min ? '<' : '>';
        return fmt::format(R"(    double values[64];
    unsigned char counted[64];
    double best = 0;
    bool any = false;
    for (long long i = 0; i < call->span_count; ++i) {{
        const long long last = call->spans[2 * i + 1];
        for (long long x = call->spans[2 * i]; x < last;) {{
            const long long end = last < x + 64 ? last : x + 64;
            {}            for (long long k = 0; k < end - x; ++k) {{
                if (!counted[k]) continue;
                if (!any || values[k] {} best || values[k] != values[k]) best = values[k];
                any = true;
            }}
            x = end;
        }}
    }}
    call->out[0] = best;
    call->out[1] = any ? 1.0 : 0.0;
)",
                           call_values("values"), sign);
    }

    const ir::Record& record_;
    std::string name_;
    RowSpelling spelling_;
    Mask mask_;
    long long cells_ = 0;
};

// Measured with a chessboard and with a disc (examples/stencil/red_black.ff, microdisk.ff), in nanoseconds on
// one core: a call for a span, a cell of a span, and a cell of the box around a set with an array and an if.
constexpr double span_cost = 10, cell_cost = 0.7, masked_cell_cost = 1.8;
constexpr std::int64_t most_masked_cells = std::int64_t{1} << 30; // a byte each

bool has_short_spans(const ir::CellSet& cells) {
    const auto box = cells.bounds().count();
    if (cells.is_box() || box > most_masked_cells) return false;
    std::size_t spans = 0;
    for (std::int64_t row = 0; row < cells.rows(); ++row) spans += cells.row(row).size();
    return span_cost * static_cast<double>(spans) + cell_cost * static_cast<double>(cells.count()) >
           masked_cell_cost * static_cast<double>(box);
}

} // namespace

Mask mask_for(Mask mask, const ir::Kernel& kernel) {
    if (kernel.cells == nullptr) return Mask::spans;
    if (mask == Mask::automatic) return has_short_spans(*kernel.cells) ? Mask::branch : Mask::spans;
    if (mask != Mask::multiply) return mask;
    if (kernel.cells->is_box()) return Mask::spans;
    return ir::reads_neighbours_in_place(kernel) ? Mask::select : mask;
}

Mask mask_for_record(Mask mask, Reduction reduction) {
    if (reduction == Reduction::value) return Mask::spans; // a single cell
    if (mask == Mask::automatic) return Mask::spans;
    return mask == Mask::multiply ? Mask::select : mask;
}

CpuSource print_row_functions(const ir::Program& program, Mask of_kernels, Mask of_records, Needs needs,
                              std::string_view behind) {
    CpuSource source;
    UniqueNames names;
    std::string body;
    for (const auto& kernel : program.kernels) {
        KernelPrinter printer(program, kernel, of_kernels, names.unique("kernel_" + kernel.name));
        body += printer.print(needs);
        source.kernels.push_back(printer.function());
    }
    for (const auto& record : program.records) {
        RecordPrinter printer(program, record, of_records, names.unique("record_" + record.name));
        body += printer.print(needs);
        source.records.push_back(printer.function());
    }
    body = constant_declarations(program, body + std::string(behind)) + body;
    const auto code = body + std::string(behind);
    const auto operations = needs.operations ? used_functions(operation_functions(), code) : std::string();
    const auto portable =
        needs.portable ? used_functions(portable_functions(), code, "farfield::portable::") : std::string();
    source.text = "// Generated by Farfield. What the kernels use.\n";
    if (!operations.empty() || !portable.empty()) source.text += host_prelude();
    source.text += portable + operations + std::string(row_call_text);
    source.text += used_functions(boundary_functions(), code) + used_functions(loop_text(), code);
    source.functions = source.text.size();
    source.text += "\n// ---- A function for a row of each kernel and record.\n\n" + body;
    return source;
}

} // namespace farfield::stencil::codegen
