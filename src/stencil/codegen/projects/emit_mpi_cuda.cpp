// Projects for the GPUs of MPI's ranks: a plan by rows as tables.
#include "stencil/codegen/projects/emit_cuda.h"

#include "base/text.h"
#include "stencil/codegen/projects/emitted_text.h"
#include "stencil/codegen/projects/gpu_project.h"
#include "stencil/codegen/projects/table_texts.h"

#include "stencil/ir/reduction.h"

#include <fmt/format.h>

#include <cstring>
#include <set>
#include <tuple>
#include <utility>

namespace farfield::stencil::codegen::cuda {

namespace {

std::string row_launch_text(const Launch& launch) {
    const auto& rows = launch.rows;
    return fmt::format("{{{}, {{{}, {}}}, {{{}, {}}}, {}, {}, {}}}", launch_text(launch), rows.first[0],
                       rows.first[1], rows.end[0], rows.end[1], rows.units_a_row, rows.units_a_block,
                       rows.items);
}

// Buffers of grids, and the offsets along y and z that they are read at.
using Reads = std::set<std::tuple<int, int, int>>;

void collect_reads(Reads& reads, const ir::Program& program, const ir::Code& code) {
    for (const auto& node : code.nodes)
        if (node.op == ir::Op::load && program.buffers[static_cast<std::size_t>(node.index)].axis < 0)
            reads.emplace(node.index, node.offsets[1], node.offsets[2]);
}

std::string reads_text(const Reads& reads) {
    std::string text;
    for (const auto& [buffer, row, plane] : reads)
        text += fmt::format("{}{{{}, {}, {}, false}}", text.empty() ? "" : ", ", buffer, row, plane);
    return fmt::format("{{{}}}", text);
}

std::string costs_file(std::size_t grid) { return fmt::format("costs_{}.f64", grid); }

// Of each row of a grid: the cells that updates have there, and one for a row without any.
EmittedFile costs_of(const ir::Program& program, std::size_t grid) {
    const auto& shape = program.grids[grid].shape;
    std::vector<double> costs(static_cast<std::size_t>(shape[1] * shape[2]), 1.0);
    for (const auto& kernel : program.kernels)
        for (std::int64_t row = 0;
             static_cast<std::size_t>(kernel.grid) == grid && row < kernel.cells->rows(); ++row)
            for (const auto& interval : kernel.cells->row(row))
                costs[static_cast<std::size_t>(row)] += static_cast<double>(interval.last - interval.first);
    std::string bytes(costs.size() * sizeof(double), '\0');
    std::memcpy(bytes.data(), costs.data(), bytes.size());
    return {costs_file(grid), std::move(bytes)};
}

// Prints the tables of kernels.cu.
class Tables {
public:
    Tables(const GpuProject& project, const EmitOptions& options)
        : program_(project.program), project_(project), options_(options) {}

    std::string print() {
        text_.add("// The program as tables.");
        grids();
        buffers();
        add_common_tables(text_, project_, options_);
        passes();
        records();
        return text_.str();
    }

private:
    void grids() {
        text_.add("const std::vector<Grid> grids = {");
        for (std::size_t g = 0; g < program_.grids.size(); ++g) {
            const auto& grid = program_.grids[g];
            text_.line("{{\"{}\", {}, {{{}, {}, {}}}, \"{}\"}},", grid.name, grid.rank, grid.shape[0],
                       grid.shape[1], grid.shape[2], costs_file(g));
        }
        text_.add("};");
    }
    void buffers() {
        text_.add("const std::vector<Buffer> buffers = {");
        for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
            const auto& buffer = program_.buffers[b];
            Reads reads;
            collect_reads(reads, program_, buffer.initial);
            text_.line("{{\"{}\", {}, {}, {}, {}, {{{}}}, {}, {}, {}, {}, {}}},", escaped(project_.names[b]),
                       buffer.grid, buffer.axis, buffer.precision == Precision::single_precision,
                       buffer.copies, boundaries_text(buffer),
                       is_output(program_, options_, static_cast<int>(b)), project_.plan.buffers[b].pitch,
                       data_file_text(buffer, b), launches_text(project_.initial[b], row_launch_text),
                       reads_text(reads));
        }
        text_.add("};");
    }
    void passes() { // one an update: nothing is fused
        text_.add("const std::vector<Pass> passes = {");
        for (std::size_t k = 0; k < program_.kernels.size(); ++k) {
            const auto& kernel = program_.kernels[k];
            const auto& pass = project_.plan.passes[k];
            Reads reads;
            collect_reads(reads, program_, kernel.predicate);
            collect_reads(reads, program_, kernel.code);
            std::string stored;
            for (const auto& store : kernel.stores)
                stored += fmt::format("{}{}", stored.empty() ? "" : ", ", store.buffer);
            text_.line("{{\"{}\", {}, {}, {}, {}, {{{}}}, {{{}}}}},", escaped(kernel.name), kernel.grid,
                       pass.every, launches_text(pass.launches, row_launch_text), reads_text(reads),
                       joined(pass.swapped, ", "), stored);
        }
        text_.add("};");
    }
    void records() {
        text_.add("const std::vector<Record> records = {");
        for (std::size_t r = 0; r < program_.records.size(); ++r) {
            const auto& record = program_.records[r];
            const auto& plan = project_.plan.records[r];
            const auto cells = record.cells->empty() ? plan.launches.begin() : plan.launches.begin() + 1;
            Reads reads;
            if (!record.cells->empty()) {
                collect_reads(reads, program_, record.predicate);
                collect_reads(reads, program_, record.code);
            }
            const auto& shape = program_.grids[static_cast<std::size_t>(record.grid)].shape;
            text_.line("{{\"{}\", {}, {}, {}, {}, {}, {}, {}}},", escaped(record.name), record.grid,
                       plan.every, launches_text({plan.launches.begin(), cells}, row_launch_text),
                       reads_text(reads), plan.atoms, ir::atoms_in_row(shape[0]),
                       launches_text({cells, plan.launches.end()}));
        }
        text_.add("};");
    }

    const ir::Program& program_;
    const GpuProject& project_;
    const EmitOptions& options_;
    Text text_;
};

std::string readme(const ir::Program& program, const EmitOptions& options) {
    auto text = fmt::format(
        "# {}\n\nA stencil program as CUDA C++ for the GPUs of MPI's ranks, {}.\n\n"
        "    cmake -S . -B build && cmake --build build && {}build/run {}\n\n"
        "writes FIELD.npy for each output field and RECORD.csv for each record into the current folder.\n"
        "`-DCMAKE_CUDA_ARCHITECTURES=80` builds for another GPU than H100 and H200.\n\n"
        "Each rank computes some rows (along x) of every grid, so that all have about as many cells; a grid "
        "of "
        "one axis\nstays on one rank. Its GPU holds these rows, those that it reads, and all between them: "
        "with "
        "periodic\nboundaries the first and the last rank hold all rows. Before an update a rank gets the "
        "rows "
        "of others that the\nupdate reads and that have changed, through pinned memory of the host. The "
        "files "
        "are the same bits on any\nnumber of ranks. Ranks of one host take its GPUs in turn.\n\n"
        "| file | holds |\n| --- | --- |\n"
        "| `kernels.cu` | the kernels, and the program as tables |\n"
        "| `functions.h` | what the kernels use: indices, and the functions of mathematics in them |\n"
        "| `table_N.bin` | cells that kernels run on |\n"
        "| `costs_N.f64` | what each row of a grid costs |\n"
        "| `program.h`, `launch.h` | what the tables consist of |\n"
        "| `gpu.h` | memory of the GPU, launches, the clock |\n"
        "| `grids.h` | rows, what lies beyond the ends of a grid, the form of files |\n"
        "| `fields.h` | the rows that a rank holds, launches for some rows |\n"
        "| `ranks.h` | the rows of each rank, messages between them, results and files |\n"
        "| `main.cu` | the loop over steps |\n",
        program.name.empty() ? "Stencil program" : program.name, project_mark, mpi_launcher, options.steps);
    if (!options.program_text.empty()) text += "| `program.ff` | the program as it was written |\n";
    return text;
}

} // namespace

std::vector<EmittedFile> emit_mpi_cuda(const ir::Program& program, const EmitOptions& options) {
    const auto project = make_gpu_project(program, options.code, true);
    std::vector<EmittedFile> files{{"README.md", readme(project.program, options)},
                                   {"CMakeLists.txt", std::string(emitted_ranks_cmake())},
                                   {"main.cu", std::string(emitted_ranks_main())},
                                   {"ranks.h", std::string(emitted_ranks())},
                                   {"fields.h", std::string(emitted_ranks_fields())},
                                   {"grids.h", std::string(emitted_grids())},
                                   {"gpu.h", std::string(emitted_gpu())},
                                   {"launch.h", std::string(emitted_launch())},
                                   {"program.h", std::string(emitted_ranks_header())}};
    auto others = common_files(project, Tables(project, options).print(), options);
    files.insert(files.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
    for (std::size_t g = 0; g < program.grids.size(); ++g) files.push_back(costs_of(program, g));
    return files;
}

} // namespace farfield::stencil::codegen::cuda
