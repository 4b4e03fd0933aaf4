// Self-contained projects for the cpu, and for ranks of MPI. Conditions and initial values are printed by the
// printer of row functions too, as kernels: one that stores 1 where the condition holds, one that stores a
// buffer's values.
#include "stencil/codegen/projects/emit.h"

#include "stencil/codegen/cpu/row_call.h"
#include "stencil/codegen/cpu/row_functions.h"
#include "stencil/codegen/named_numbers.h"
#include "stencil/codegen/projects/emitted_text.h"
#include "stencil/codegen/projects/table_texts.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace farfield::stencil::codegen {
namespace {

// The program with kernels for what is found out once, in the order: initial values of all buffers,
// conditions of all kernels, conditions of all records, kernels.
ir::Program with_preparations(const ir::Program& program) {
    auto out = program;
    out.kernels.clear();
    const auto buffer_count = static_cast<int>(program.buffers.size());
    for (int b = 0; b < buffer_count; ++b) {
        const auto& buffer = program.buffers[b];
        ir::Kernel kernel;
        kernel.name = "initial_" + buffer.name;
        kernel.grid = buffer.grid;
        kernel.code = buffer.initial;
        if (kernel.code.nodes.empty()) {
            kernel.code.nodes.emplace_back(); // the constant 0
            kernel.code.result = 0;
        }
        kernel.stores = {{b, kernel.code.result, false}};
        out.kernels.push_back(std::move(kernel));
    }
    const auto add_condition = [&](const std::string& name, int grid, const ir::Code& predicate) {
        ir::Buffer holds;
        holds.name = "holds";
        holds.grid = grid;
        holds.precision = Precision::single_precision;
        ir::Kernel kernel;
        kernel.name = "cells_" + name;
        kernel.grid = grid;
        kernel.code = predicate;
        ir::Node constant;
        constant.type = ir::ValueType::float32;
        auto& nodes = kernel.code.nodes;
        for (const double value : {1.0, 0.0}) {
            constant.real = value;
            nodes.push_back(constant);
        }
        ir::Node select;
        select.op = ir::Op::select;
        select.type = ir::ValueType::float32;
        const auto count = static_cast<int>(nodes.size());
        select.in = {predicate.result, count - 2, count - 1};
        nodes.push_back(select);
        kernel.stores = {{static_cast<int>(out.buffers.size()), count, false}};
        out.buffers.push_back(std::move(holds));
        out.kernels.push_back(std::move(kernel));
    };
    for (const auto& kernel : program.kernels) add_condition(kernel.name, kernel.grid, kernel.predicate);
    for (const auto& record : program.records) add_condition(record.name, record.grid, record.predicate);
    out.kernels.insert(out.kernels.end(), program.kernels.begin(), program.kernels.end());
    return out;
}

std::string_view reduction_name(Reduction reduction) {
    switch (reduction) {
    case Reduction::sum:
        return "sum";
    case Reduction::mean:
        return "mean";
    case Reduction::max:
        return "max";
    case Reduction::min:
        return "min";
    default:
        return "value";
    }
}

// Prints the tables of program.cpp.
class Tables {
public:
    Tables(const ir::Program& program, const CpuSource& source, Mask mask, const EmitOptions& options)
        : program_(program), source_(source), mask_(mask), options_(options) {}

    std::string print() const {
        std::string text = "// The tables of the program: what there is, and which function computes what.\n"
                           "#include \"program.h\"\n\n// kernels.cpp\nextern \"C\" {\n";
        for (const auto& f : source_.kernels) text += fmt::format("void {}(const RowCall* call);\n", f.name);
        for (const auto& f : source_.records) text += fmt::format("void {}(const RowCall* call);\n", f.name);
        text += "}\n\n" + grids() + buffers() + kernels() + records();
        // 17 digits read back as the same number.
        text += fmt::format("const double dt = {:.17g};\nconst long long default_steps = {};\nconst int "
                            "uniform_count = {};\n",
                            program_.dt, options_.steps, program_.uniforms.size());
        return text;
    }

private:
    std::string grids() const {
        std::string text = "// name, axes, cells along x, y, z\nconst std::vector<Grid> grids = {\n";
        for (const auto& grid : program_.grids)
            text += fmt::format("    {{\"{}\", {}, {{{}, {}, {}}}}},\n", grid.name, grid.rank, grid.shape[0],
                                grid.shape[1], grid.shape[2]);
        return text + "};\n\n";
    }
    std::string function(const RowFunction& f) const {
        std::string slots;
        const auto buffers = static_cast<int>(program_.buffers.size());
        for (const auto& slot : f.slots)
            slots += fmt::format("{}{{{}, {}, {}, {}}}", slots.empty() ? "" : ", ",
                                 slot.buffer < buffers ? fmt::format("{}", slot.buffer) : "scratch_row",
                                 slot.row_offset, slot.plane_offset, slot.other_copy);
        return fmt::format("{{{}, {{{}}}}}", f.name, slots);
    }
    std::string buffers() const {
        std::string text =
            "// name, grid, axis, single precision, copies, boundaries, output, file, initial values\n"
            "const std::vector<Buffer> buffers = {\n";
        for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
            const auto& buffer = program_.buffers[b];
            const auto number = static_cast<int>(b);
            text += fmt::format("    {{\"{}\", {}, {}, {}, {}, {{{}}}, {}, {},\n     {}}},\n",
                                escaped(buffer.name), buffer.grid, buffer.axis,
                                buffer.precision == Precision::single_precision, buffer.copies,
                                boundaries_text(buffer), is_output(program_, options_, number),
                                data_file_text(buffer, b), function(source_.kernels[b]));
        }
        return text + "};\n\n";
    }
    // Bytes of an entry of the 0/1 array, 0 for spans, -1 for a function that has the condition.
    int mask_of(const ir::Kernel& kernel, const RowFunction& function) const {
        switch (mask_for(mask_, kernel)) {
        case Mask::none:
            return -1;
        case Mask::branch:
            return 1;
        case Mask::select:
        case Mask::multiply:
            return function.mask_precision == Precision::double_precision ? 8 : 4;
        default:
            return 0;
        }
    }
    std::string kernels() const {
        std::string text = "// name, grid, every, mask, cells, function, swapped, stored\nconst "
                           "std::vector<Kernel> kernels = {\n";
        const auto first = program_.buffers.size();
        const auto count = program_.kernels.size();
        for (std::size_t k = 0; k < count; ++k) {
            const auto& kernel = program_.kernels[k];
            std::string swapped, stored;
            for (const auto& store : kernel.stores) {
                stored += fmt::format("{}{}", stored.empty() ? "" : ", ", store.buffer);
                if (store.other_copy)
                    swapped += fmt::format("{}{}", swapped.empty() ? "" : ", ", store.buffer);
            }
            text += fmt::format("    {{\"{}\", {}, {}, {},\n     {},\n     {},\n     {{{}}}, {{{}}}}},\n",
                                escaped(kernel.name), kernel.grid, kernel.every,
                                mask_of(kernel, source_.kernels[first + count + program_.records.size() + k]),
                                function(source_.kernels[first + k]),
                                function(source_.kernels[first + count + program_.records.size() + k]),
                                swapped, stored);
        }
        return text + "};\n\n";
    }
    std::string records() const {
        std::string text =
            "// name, grid, every, reduction, cells, function\nconst std::vector<Record> records = {\n";
        const auto first = program_.buffers.size() + program_.kernels.size();
        for (std::size_t r = 0; r < program_.records.size(); ++r) {
            const auto& record = program_.records[r];
            text +=
                fmt::format("    {{\"{}\", {}, {}, Reduction::{},\n     {},\n     {}}},\n",
                            escaped(record.name), record.grid, record.every, reduction_name(record.reduction),
                            function(source_.kernels[first + r]), function(source_.records[r]));
        }
        return text + "};\n\n";
    }
    const ir::Program& program_;
    const CpuSource& source_;
    Mask mask_;
    const EmitOptions& options_;
};

class UniformSpelling : public Spelling {
public:
    explicit UniformSpelling(const ir::Program& program) : program_(program) {}
    std::string load(const ir::Node& /*node*/) const override { throw InternalError("a uniform that loads"); }
    Precision precision_of(int /*buffer*/) const override { return Precision::double_precision; }
    std::string cell(int /*axis*/) const override { throw InternalError("a uniform of a cell"); }
    std::string uniform(int index) const override { return fmt::format("values[{}]", index); }
    std::string constant(int index) const override { return constant_text(program_, index); }

private:
    const ir::Program& program_;
};

std::string print_uniforms(const ir::Program& program, Needs& needs) {
    std::string text =
        "extern \"C\" void uniforms([[maybe_unused]] double t, [[maybe_unused]] long long step,\n"
        "                         [[maybe_unused]] double* values) {\n";
    const UniformSpelling spelling(program);
    for (std::size_t i = 0; i < program.uniforms.size(); ++i) {
        const Root root{program.uniforms[i].result, {}};
        const auto printed = print_code(program.uniforms[i], {&root, 1}, spelling);
        needs |= printed.needs;
        text += "    {\n";
        for (const auto& line : printed.lines) text += "        " + line + "\n";
        text += fmt::format("        values[{}] = {}; // {}\n    }}\n", i, printed.values[0],
                            uniform_name(program, static_cast<int>(i)));
    }
    return text + "}\n";
}

/// What projects for one process and for ranks differ in.
struct Kind {
    std::string_view what, runner; ///< "C++"; what starts the program
    std::string_view files;        ///< of the table in README.md
    std::string_view notes;
    std::vector<EmittedFile> own;
};

std::string readme(const ir::Program& program, const EmitOptions& options, const Kind& kind) {
    auto text = fmt::format(
        "# {}\n\nA stencil program as {}, {}.\n\n"
        "    cmake -S . -B build && cmake --build build && {}build/run {}\n\n"
        "writes FIELD.npy for each output field and RECORD.csv for each record into the current folder.\n\n{}"
        "| file | holds |\n| --- | --- |\n"
        "| `kernels.cpp` | a function over one row for each update, condition and record |\n"
        "| `functions.h` | what they use: how they are called, and the functions of mathematics in them |\n"
        "| `program.cpp` | the tables: grids, fields, updates, records |\n"
        "| `program.h` | what the tables consist of |\n"
        "| `grids.h` | rows of a grid, what lies beyond its ends, the form of files |\n"
        "| `fields.h` | memory, cells, rows, records |\n{}",
        program.name, kind.what, project_mark, kind.runner, options.steps, kind.notes, kind.files);
    if (!options.program_text.empty()) text += "| `program.ff` | the program as it was written |\n";
    return text;
}

std::vector<EmittedFile> emit_rows(const ir::Program& program, const EmitOptions& options, const Kind& kind) {
    const auto prepared = with_preparations(program);
    Needs needs;
    const auto uniforms = print_uniforms(program, needs);
    const auto mask = options.code.mask;
    const auto source = print_row_functions(prepared, mask, Mask::spans, needs, uniforms);
    std::string header(emitted_header());
    constexpr std::string_view mark = "@FF_ROW_CALL@";
    header.replace(header.find(mark), mark.size(), row_call_text);
    std::vector<EmittedFile> files{
        {"README.md", readme(program, options, kind)},
        {"fields.h", std::string(emitted_fields())},
        {"grids.h", std::string(emitted_grids())},
        {"program.h", header},
        {"program.cpp", Tables(program, source, mask, options).print()},
        {"functions.h", fmt::format("#pragma once\n{}", source.text.substr(0, source.functions))},
        {"kernels.cpp",
         fmt::format("#include \"functions.h\"\n{}{}", source.text.substr(source.functions), uniforms)}};
    files.insert(files.end(), kind.own.begin(), kind.own.end());
    if (!options.program_text.empty()) files.push_back({"program.ff", options.program_text});
    add_data_files(program, files);
    return files;
}

} // namespace

std::vector<EmittedFile> emit_cpu(const ir::Program& program, const EmitOptions& options) {
    return emit_rows(program, options,
                     {.what = "C++",
                      .runner = "",
                      .files = "| `main.cpp` | the loop over steps |\n",
                      .notes = "",
                      .own = {{"main.cpp", std::string(emitted_main())},
                              {"CMakeLists.txt", std::string(emitted_cmake())}}});
}

std::vector<EmittedFile> emit_mpi(const ir::Program& program, const EmitOptions& options) {
    return emit_rows(
        program, options,
        {.what = "C++ for ranks of MPI",
         .runner = mpi_launcher,
         .files = "| `ranks.h` | the rows of each rank, messages between them, results and files |\n"
                  "| `main.cpp` | the loop over steps |\n",
         .notes =
             "Each rank computes some rows (along x) of every grid, so that all have about as many cells; a "
             "grid "
             "of one axis\nstays on one rank. Before an update it gets the rows of others that the update "
             "reads "
             "and that have changed.\nThe files are the same bits on any number of ranks. Threads of a rank: "
             "OMP_NUM_THREADS.\n\n",
         .own = {{"main.cpp", std::string(emitted_mpi_main())},
                 {"ranks.h", std::string(emitted_ranks())},
                 {"CMakeLists.txt", std::string(emitted_mpi_cmake())}}});
}

} // namespace farfield::stencil::codegen
