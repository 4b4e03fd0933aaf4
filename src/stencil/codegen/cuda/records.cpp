// Records: 8 lanes for each atom of 64 cells, then blocks that sum 1024 neighbours as a tree.
#include "stencil/codegen/cuda/forms.h"
#include "stencil/codegen/cuda/loads.h"

#include "stencil/ir/reduction.h"

#include <limits>

namespace farfield::stencil::codegen::cuda {

namespace {

constexpr int tree_width = 1024;
constexpr int atoms_a_block = 32;

std::string_view combine(Reduction reduction) {
    switch (reduction) {
    case Reduction::max:
        return "larger";
    case Reduction::min:
        return "smaller";
    default:
        return "plus";
    }
}

// What atoms without a cell of the record hold. Without any cell only a sum has a value.
double identity(const ir::Record& record) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (record.cells->empty() && record.reduction != Reduction::sum)
        return std::numeric_limits<double>::quiet_NaN();
    return record.reduction == Reduction::max   ? -infinity
           : record.reduction == Reduction::min ? infinity
                                                : 0.0;
}

void print_value(const PrintJob& job, const ir::Record& record, Parameters& parameters, const char* name) {
    const DeviceSpelling spelling(job.program, record.grid, record.cells->bounds());
    const auto printed = print_code(record.code, std::vector<Root>{{record.code.result, name}}, spelling);
    add_reads(parameters, job.program, record.code);
    job.needs |= printed.needs;
    for (const auto& line : printed.lines) job.text.add(line);
}

void open(Text& text, std::string_view function, int threads, const Parameters& parameters) {
    text.line("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{", threads, function,
              parameters.declaration());
}

Launch print_point(const PrintJob& job, int number) {
    const auto& record = job.program.records[static_cast<std::size_t>(number)];
    const auto& cell = record.cells->bounds().first;
    Launch launch;
    launch.function = fmt::format("record_{}", number);
    launch.blocks = 1;
    launch.rows = {.first = {cell[1], cell[2]}, .end = {cell[1] + 1, cell[2] + 1}, .units_a_row = 1};
    Parameters parameters;
    add_reads(parameters, job.program, record.code);
    parameters.add("double*", "value", ArgumentKind::series, number);
    parameters.add("const double* __restrict__", "clock", ArgumentKind::clock);
    job.text.line("// {}: a cell", record.name);
    open(job.text, launch.function, 1, parameters);
    job.text.line("const int x = {}, y = {}, z = {};", cell[0], cell[1], cell[2]);
    job.text.line("const Index at = x + {} * (y + {} * Index(z));", pitch_of(job.program, record.grid),
                  rows_a_plane(job.program, record.grid));
    print_value(job, record, parameters, "here");
    job.text.add("*value = here;");
    job.text.add("}");
    job.text.blank();
    launch.arguments = parameters.arguments;
    return launch;
}

// The body of the loop over a lane's cells: adds the value of cell x where it belongs to the record.
void print_cell(const PrintJob& job, int number, Parameters& parameters) {
    const auto& record = job.program.records[static_cast<std::size_t>(number)];
    auto& text = job.text;
    const auto& box = record.cells->bounds();
    const bool sums = record.reduction == Reduction::sum || record.reduction == Reduction::mean;
    // sums: lane l takes every 8th cell; maxima: 8 neighbours, so that of equal values the first is kept
    text.line("const int x = 64 * atom + {};", sums ? "8 * i + lane" : "8 * lane + i");
    text.line("if (x < {} || x >= {}) continue;", box.first[0], box.last[0]);
    if (job.mask == Mask::none && !is_trivial(record.predicate)) {
        const DeviceSpelling spelling(job.program, record.grid, box);
        const auto condition =
            print_code(record.predicate, std::vector<Root>{{record.predicate.result, "belongs"}}, spelling);
        add_reads(parameters, job.program, record.predicate);
        job.needs |= condition.needs;
        text.line("const Index at = x + {} * (y + {} * Index(z));", pitch_of(job.program, record.grid),
                  rows_a_plane(job.program, record.grid));
        print_condition(text, condition);
        text.add("if (!is_here) continue;");
    } else {
        if (!record.cells->is_box()) {
            const auto bytes = mask_bytes(*record.cells);
            parameters.add(
                "const unsigned char* __restrict__", "mask", ArgumentKind::table,
                add_table(job.plan, fmt::format("record_{}_mask", number), bytes.data(), bytes.size()));
            text.line("if (mask[x - {} + {} * (y - {} + {} * Index(z - {}))] == 0) continue;", box.first[0],
                      box.last[0] - box.first[0], box.first[1], box.last[1] - box.first[1], box.first[2]);
        }
        text.line("const Index at = x + {} * (y + {} * Index(z));", pitch_of(job.program, record.grid),
                  rows_a_plane(job.program, record.grid));
    }
    print_value(job, record, parameters, "here");
    text.line("partial = {}(partial, static_cast<double>(here));", combine(record.reduction));
}

Launch print_atoms(const PrintJob& job, int number, int scratch) {
    const auto& record = job.program.records[static_cast<std::size_t>(number)];
    const auto& box = record.cells->bounds();
    const auto& shape = record.cells->shape();
    const auto first_atom = box.first[0] / ir::atom_cells;
    const auto atoms = ir::atoms_in_row(box.last[0]) - first_atom;
    const auto height = box.last[1] - box.first[1];
    const auto count = atoms * height * (box.last[2] - box.first[2]);
    Launch launch;
    launch.function = fmt::format("record_{}", number);
    launch.threads = {8, atoms_a_block, 1};
    launch.blocks = (count + atoms_a_block - 1) / atoms_a_block;
    launch.shared_bytes = 8 * atoms_a_block * 8;
    Parameters parameters;
    Text body;
    const auto inner = job.into(body, job.mask);
    parameters.add("double* __restrict__", "atoms", ArgumentKind::scratch, scratch);
    if (job.by_rows) add_row_parameters(parameters);
    launch.rows = {.first = {box.first[1], box.first[2]},
                   .end = {box.last[1], box.last[2]},
                   .units_a_row = atoms,
                   .units_a_block = atoms_a_block};
    body.add("extern __shared__ double shared[];");
    body.line("const int number = {} * {} + threadIdx.y, lane = threadIdx.x;",
              job.by_rows ? "static_cast<int>(first_block + blockIdx.x)" : "blockIdx.x", atoms_a_block);
    if (!job.by_rows) body.line("const bool there = number < {};", count);
    body.line("const int atom = {} + number % {}, y = {} + number / {} % {}, z = {} + number / {};",
              first_atom, atoms, box.first[1], atoms, height, box.first[2], atoms * height);
    if (job.by_rows)
        body.line("const bool there = number < {} && is_among(y + {}LL * z, first_row, end_row);", count,
                  shape[1]);
    const bool sums = combine(record.reduction) == "plus";
    body.line("double partial = {};", sums ? "0.0"
                                      : record.reduction == Reduction::max
                                          ? "-__longlong_as_double(0x7ff0000000000000LL)"
                                          : "__longlong_as_double(0x7ff0000000000000LL)");
    body.add("for (int i = 0; there && i < 8; ++i) {");
    print_cell(inner, number, parameters);
    body.add("}");
    body.add("double* l = shared + 8 * threadIdx.y;");
    body.add("l[lane] = partial;");
    body.add("__syncthreads();");
    body.add("if (!there || lane > 0) return;");
    if (sums)
        body.add("const double all = ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));");
    else {
        body.add("double all = l[0];");
        body.line("for (int i = 1; i < 8; ++i) all = {}(all, l[i]);", combine(record.reduction));
    }
    body.line("atoms[atom + {} * (y + {} * Index(z))] = all;", ir::atoms_in_row(shape[0]), shape[1]);
    parameters.add("const double* __restrict__", "clock", ArgumentKind::clock);
    job.text.line("// {}: over {}", record.name, describe_cells(*record.cells, shape));
    open(job.text, launch.function, 8 * atoms_a_block, parameters);
    job.text.append(body);
    job.text.add("}");
    job.text.blank();
    launch.arguments = parameters.arguments;
    return launch;
}

} // namespace

void print_tree(Text& text) {
    for (const std::string_view name : {"plus", "larger", "smaller"}) {
        text.line(
            "// Each block takes {} neighbours and leaves one value; what is missing at the end is left out.",
            tree_width);
        text.line("extern \"C\" __global__ void __launch_bounds__({}) tree_{}(const double* __restrict__ in, "
                  "double* out, "
                  "long long count, long long divisor) {{",
                  tree_width, name);
        text.add("extern __shared__ double shared[];");
        text.line("const long long first = blockIdx.x * {}LL;", tree_width);
        text.add("const int here = threadIdx.x;");
        text.line("const int mine = count - first < {0} ? static_cast<int>(count - first) : {0};",
                  tree_width);
        text.add("if (here < mine) shared[here] = in[first + here];");
        text.line("for (int width = 1; width < {}; width *= 2) {{", tree_width);
        text.add("__syncthreads();");
        text.add("const bool pairs = here % (2 * width) == 0 && here + width < mine;");
        text.line("if (pairs) shared[here] = {}(shared[here], shared[here + width]);", name);
        text.add("}");
        text.add("if (here == 0) out[blockIdx.x] = shared[0] / static_cast<double>(divisor);");
        text.add("}");
        text.blank();
    }
}

RecordPlan print_record(const PrintJob& job, int number) {
    const auto& record = job.program.records[static_cast<std::size_t>(number)];
    RecordPlan plan;
    plan.every = record.every;
    if (record.reduction == Reduction::value && !record.cells->empty()) {
        plan.launches.push_back(print_point(job, number));
        return plan;
    }
    const auto& shape = record.cells->shape();
    const auto per_row = ir::atoms_in_row(shape[0]);
    const auto new_scratch = [&](std::int64_t size, std::int64_t first = 0) {
        job.plan.scratch.push_back({size, identity(record), first});
        return static_cast<int>(job.plan.scratch.size()) - 1;
    };
    if (!job.program.held.empty() && !record.cells->empty()) { // the atoms of a rank's rows, for all ranks
        const auto& [low, high] = record.cells->bounds();
        const auto first = low[1] + shape[1] * low[2];
        const auto end = high[1] + shape[1] * (high[2] - 1);
        plan.atoms = new_scratch(per_row * (end - first), per_row * first);
        plan.launches.push_back(print_atoms(job, number, plan.atoms));
        return plan;
    }
    auto count = per_row * shape[1] * shape[2];
    int from = new_scratch(count);
    plan.atoms = from;
    if (!record.cells->empty()) plan.launches.push_back(print_atoms(job, number, from));
    for (bool last = false; !last;) {
        const auto blocks = (count + tree_width - 1) / tree_width;
        last = blocks == 1;
        const bool mean = last && record.reduction == Reduction::mean;
        const int to = last ? -1 : new_scratch(blocks);
        plan.launches.push_back(
            {fmt::format("tree_{}", combine(record.reduction)),
             {tree_width, 1, 1},
             blocks,
             tree_width * 8,
             {{ArgumentKind::scratch, from},
              last ? Argument{ArgumentKind::series, number} : Argument{ArgumentKind::scratch, to},
              {ArgumentKind::number, count},
              {ArgumentKind::number, mean ? record.cells->count() : 1}}});
        count = blocks;
        from = to;
    }
    return plan;
}

} // namespace farfield::stencil::codegen::cuda
