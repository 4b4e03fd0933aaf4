// A thread for each cell: boxes, and the five ways to leave cells alone.
#include "stencil/codegen/cuda/forms.h"
#include "stencil/codegen/cuda/loads.h"
#include "stencil/ir/op_info.h"

#include <algorithm>
#include <cstdint>

namespace farfield::stencil::codegen::cuda {

namespace {

enum class Cover : std::uint8_t { box, predicate, bytes, items };

// 1 for each cell of the box that belongs to the set, else 0.
template <class T>
std::vector<T> mask_values(const ir::CellSet& cells) {
    const auto& box = cells.bounds();
    const auto width = box.last[0] - box.first[0];
    const auto height = box.last[1] - box.first[1];
    std::vector<T> values(static_cast<std::size_t>(std::max<std::int64_t>(0, box.count())), T(0));
    for (auto k = box.first[2]; k < box.last[2]; ++k)
        for (auto j = box.first[1]; j < box.last[1]; ++j)
            for (const auto& interval : cells.row(j + cells.shape()[1] * k)) {
                const auto row = ((k - box.first[2]) * height + j - box.first[1]) * width;
                std::fill(values.begin() + row + interval.first - box.first[0],
                          values.begin() + row + interval.last - box.first[0], T(1));
            }
    return values;
}

/// A run of cells in a row, for the threads of one row of a block.
struct Item {
    int x = 0;
    int count = 0;
    int y = 0;
    int z = 0;
};

std::array<int, 3> block_of(const PrintJob& job, const ir::CellBox& box, Cover cover) {
    auto block = job.options.block;
    if (block[0] <= 0) block = {128, cover == Cover::items ? 2 : 1, 1};
    if (job.by_rows && cover != Cover::items) block[1] = block[2] = 1; // rows follow one another
    for (auto& side : block) side = std::max(side, 1);
    for (std::size_t a = 0; cover != Cover::items && a < 3; ++a) // no threads for cells that are not there
        while (block[a] > 1 && block[a] / 2 >= box.last[a] - box.first[a]) block[a] /= 2;
    // a block that was asked for may be one of tiles, whose threads have several cells each
    while (block[2] > 64 || (block[2] > 1 && std::int64_t{block[0]} * block[1] * block[2] > 1024))
        block[2] /= 2;
    while (block[1] > 1 && std::int64_t{block[0]} * block[1] > 1024) block[1] /= 2;
    block[0] = std::min(block[0], 1024);
    if (cover == Cover::items) return {block[0], block[1] * block[2], 1};
    return block;
}

std::vector<Item> items_of(const ir::CellSet& cells, int width) {
    std::vector<Item> items;
    for (std::int64_t r = 0; r < cells.rows(); ++r)
        for (const auto& interval : cells.row(r)) {
            // pieces end at multiples of the width, so that threads of a warp share lines of memory
            for (auto x = interval.first; x < interval.last;) {
                const auto end = std::min(interval.last, (x / width + 1) * width);
                items.push_back({static_cast<int>(x), static_cast<int>(end - x),
                                 static_cast<int>(r % cells.shape()[1]),
                                 static_cast<int>(r / cells.shape()[1])});
                x = end;
            }
        }
    return items;
}

// The parameters are known only after the body: it is printed apart.
struct Function {
    Text body;
    Parameters parameters;
    std::int64_t blocks = 0;
    BlocksOfRows rows;
};

/// Prints where a thread is: x, y, z and `at`.
void print_position(const PrintJob& job, const ir::CellSet& cells, Cover cover,
                    const std::array<int, 3>& block, int grid, Function& function, std::string_view name) {
    auto& text = job.text;
    const auto& box = cells.bounds();
    const auto& shape = cells.shape();
    auto& rows = function.rows;
    function.blocks = 1;
    rows.first = {box.first[1], box.first[2]};
    rows.end = {box.last[1], box.last[2]};
    if (job.by_rows) add_row_parameters(function.parameters);
    const std::string_view here = job.by_rows ? "static_cast<int>(first_block + blockIdx.x)" : "blockIdx.x";
    if (cover == Cover::items) {
        const auto items = items_of(cells, block[0]);
        const int table =
            add_table(job.plan, fmt::format("{}_items", name), items.data(), items.size() * sizeof(Item));
        function.parameters.add("const Item* __restrict__", "items", ArgumentKind::table, table);
        const auto count = static_cast<std::int64_t>(items.size());
        text.line("const int number = {} * {} + threadIdx.y;", here, block[1]);
        text.line("if (number >= {}) return;", count);
        text.add("const Item item = items[number];");
        text.add("if (threadIdx.x >= item.count) return;");
        text.add("const int x = item.x + threadIdx.x, y = item.y, z = item.z;");
        function.blocks = (count + block[1] - 1) / block[1];
        rows.items = table;
        rows.units_a_block = block[1];
    } else {
        std::array<std::int64_t, 3> sides = {};
        for (std::size_t a = 0; a < 3; ++a) {
            sides[a] = (box.last[a] - box.first[a] + block[a] - 1) / block[a];
            function.blocks *= sides[a];
        }
        rows.units_a_row = sides[0];
        text.line("const int block = {};", here);
        text.line("const int x = {} + block % {} * {} + threadIdx.x;", box.first[0], sides[0], block[0]);
        text.line("const int y = {} + block / {} % {} * {} + threadIdx.y;", box.first[1], sides[0], sides[1],
                  block[1]);
        text.line("const int z = {} + block / {} * {} + threadIdx.z;", box.first[2], sides[0] * sides[1],
                  block[2]);
        text.line("if (x >= {} || y >= {} || z >= {}) return;", box.last[0], box.last[1], box.last[2]);
    }
    if (job.by_rows) text.line("if (!is_among(y + {}LL * z, first_row, end_row)) return;", shape[1]);
    text.line("const Index at = x + {} * (y + {} * Index(z));", pitch_of(job.program, grid),
              rows_a_plane(job.program, grid));
}

Cover cover_of(const PrintJob& job, const ir::CellSet& cells, const ir::Code& predicate) {
    if (job.mask == Mask::none && !is_trivial(predicate)) return Cover::predicate;
    if (cells.is_box()) return Cover::box;
    if (job.mask == Mask::none) return Cover::bytes; // no condition to evaluate
    return job.mask == Mask::spans ? Cover::items : Cover::bytes;
}

void append(const PrintJob& job, Launch& launch, const Function& function, std::string_view remark) {
    const int threads = launch.threads[0] * launch.threads[1] * launch.threads[2];
    if (!remark.empty()) job.text.line("// {}", remark);
    job.text.line("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{", threads, launch.function,
                  function.parameters.declaration());
    job.text.append(function.body);
    job.text.add("}");
    job.text.blank();
    launch.arguments = function.parameters.arguments;
    launch.blocks = function.blocks;
    launch.rows = function.rows;
}

// What a cell of the box that need not belong to the kernel stores: `chosen` is true or false, or 1 or 0.
std::string kept_or_new(const PrintJob& job, const std::string& value, const ir::Buffer& buffer,
                        Precision of_mask) {
    if (job.mask == Mask::select) return fmt::format("chosen ? {} : {}[at]", value, now(buffer));
    const auto m = buffer.precision == of_mask
                       ? std::string("chosen")
                       : fmt::format("static_cast<{}>(chosen)", type_name(buffer.precision));
    return fmt::format("{0} * ({1}) + (1 - {0}) * {2}[at]", m, value, now(buffer));
}

// Of the array that `multiply` reads: double where a double is stored.
Precision precision_of_mask(const ir::Program& program, const ir::Kernel& kernel) {
    const bool wide = std::any_of(kernel.stores.begin(), kernel.stores.end(), [&](const ir::Store& store) {
        return program.buffers[static_cast<std::size_t>(store.buffer)].precision ==
               Precision::double_precision;
    });
    return wide ? Precision::double_precision : Precision::single_precision;
}

// Declares the mask and says by it whether a cell goes on, or what `chosen` is.
void print_mask(const PrintJob& job, Function& function, const ir::Kernel& kernel, std::string_view name) {
    const auto& box = kernel.cells->bounds();
    const auto place =
        fmt::format("x - {} + {} * (y - {} + {} * Index(z - {}))", box.first[0], box.last[0] - box.first[0],
                    box.first[1], box.last[1] - box.first[1], box.first[2]);
    const auto declare = [&](std::string_view type, const auto& values) {
        const int table = add_table(job.plan, fmt::format("{}_mask", name), values.data(),
                                    values.size() * sizeof(values[0]));
        function.parameters.add(fmt::format("const {}* __restrict__", type), "mask", ArgumentKind::table,
                                table);
    };
    if (job.mask == Mask::multiply) {
        const auto precision = precision_of_mask(job.program, kernel);
        if (precision == Precision::double_precision)
            declare(type_name(precision), mask_values<double>(*kernel.cells));
        else
            declare(type_name(precision), mask_values<float>(*kernel.cells));
        function.body.line("const {} chosen = mask[{}];", type_name(precision), place);
        return;
    }
    declare("unsigned char", mask_bytes(*kernel.cells));
    if (job.mask == Mask::select)
        function.body.line("const bool chosen = mask[{}] != 0;", place);
    else
        function.body.line("if (mask[{}] == 0) return;", place);
}

void print_stores(const PrintJob& job, Function& function, const ir::Kernel& kernel,
                  const PrintedCode& printed, bool choose) {
    const auto of_mask = precision_of_mask(job.program, kernel);
    for (std::size_t i = 0; i < kernel.stores.size(); ++i) {
        const auto& store = kernel.stores[i];
        const auto& buffer = job.program.buffers[static_cast<std::size_t>(store.buffer)];
        const auto type = fmt::format("{}*", type_name(buffer.precision));
        const bool narrow = type_name(kernel.code.nodes[static_cast<std::size_t>(store.node)].type) !=
                            type_name(buffer.precision);
        auto value = narrow
                         ? fmt::format("static_cast<{}>({})", type_name(buffer.precision), printed.values[i])
                         : printed.values[i];
        if (choose) value = kept_or_new(job, value, buffer, of_mask);
        if (choose || !store.other_copy)
            function.parameters.add(type, now(buffer), ArgumentKind::current, store.buffer);
        if (store.other_copy) function.parameters.add(type, next(buffer), ArgumentKind::other, store.buffer);
        function.body.line("{}[at] = {};", store.other_copy ? next(buffer) : now(buffer), value);
    }
}

Launch print_cells(const PrintJob& job, int number) {
    const auto& kernel = job.program.kernels[static_cast<std::size_t>(number)];
    // What is multiplied may be another zero, which a neighbour's thread may read before or after.
    const bool no_factors = job.mask == Mask::multiply && ir::reads_neighbours_in_place(kernel);
    Function function;
    const auto inner = job.into(function.body, no_factors ? Mask::select : job.mask);
    const auto cover = cover_of(inner, *kernel.cells, kernel.predicate);
    Launch launch;
    launch.function = fmt::format("kernel_{}", number);
    launch.threads = block_of(job, kernel.cells->bounds(), cover);
    print_position(inner, *kernel.cells, cover, launch.threads, kernel.grid, function, launch.function);
    const DeviceSpelling spelling(job.program, kernel.grid, kernel.cells->bounds());
    const bool choose = cover == Cover::bytes && (inner.mask == Mask::select || inner.mask == Mask::multiply);
    if (cover == Cover::predicate) {
        const auto condition =
            print_code(kernel.predicate, std::vector<Root>{{kernel.predicate.result, "belongs"}}, spelling);
        add_reads(function.parameters, job.program, kernel.predicate);
        job.needs |= condition.needs;
        print_condition(function.body, condition);
        function.body.add("if (!is_here) return;");
    } else if (cover == Cover::bytes) {
        print_mask(inner, function, kernel, launch.function);
    }
    add_reads(function.parameters, job.program, kernel.code);
    std::vector<Root> roots;
    for (std::size_t i = 0; i < kernel.stores.size(); ++i) {
        // a node that two stores share has the last one's name
        const auto& buffer = job.program.buffers[static_cast<std::size_t>(kernel.stores[i].buffer)];
        roots.push_back({kernel.stores[i].node, computed(buffer)});
    }
    const auto printed = print_code(kernel.code, roots, spelling);
    job.needs |= printed.needs;
    for (const auto& line : printed.lines) function.body.add(line);
    print_stores(inner, function, kernel, printed, choose);
    function.parameters.add("const double* __restrict__", "clock", ArgumentKind::clock);
    append(job, launch, function,
           fmt::format("{}: {}", kernel.name, describe_cells(*kernel.cells, kernel.cells->shape())));
    return launch;
}

Launch print_carry(const PrintJob& job, int number, std::size_t which) {
    const auto& kernel = job.program.kernels[static_cast<std::size_t>(number)];
    const auto& carry = kernel.carries[which];
    const auto& buffer = job.program.buffers[static_cast<std::size_t>(carry.buffer)];
    Launch launch;
    launch.function = fmt::format("carry_{}_{}", number, which);
    const auto cover = carry.cells->is_box() ? Cover::box : Cover::items;
    launch.threads = block_of(job, carry.cells->bounds(), cover);
    Function function;
    print_position(job.into(function.body, job.mask), *carry.cells, cover, launch.threads, kernel.grid,
                   function, launch.function);
    function.parameters.add(fmt::format("const {}* __restrict__", type_name(buffer.precision)), now(buffer),
                            ArgumentKind::current, carry.buffer);
    function.parameters.add(fmt::format("{}* __restrict__", type_name(buffer.precision)), next(buffer),
                            ArgumentKind::other, carry.buffer);
    function.body.line("{}[at] = {}[at];", next(buffer), now(buffer));
    append(job, launch, function,
           fmt::format("{} leaves these cells of {} as they are", kernel.name, buffer.name));
    return launch;
}

} // namespace

void print_condition(Text& text, const PrintedCode& condition) {
    // in braces, because the names of its values are those of the kernel's
    text.add("bool is_here;");
    text.add("{");
    for (const auto& line : condition.lines) text.add(line);
    text.line("is_here = {};", condition.values[0]);
    text.add("}");
}

std::vector<unsigned char> mask_bytes(const ir::CellSet& cells) { return mask_values<unsigned char>(cells); }

bool is_trivial(const ir::Code& predicate) {
    return predicate.result < 0 ||
           predicate.nodes[static_cast<std::size_t>(predicate.result)].op == ir::Op::constant;
}

std::string describe_cells(const ir::CellSet& cells, const ir::Shape& shape) {
    const auto& box = cells.bounds();
    if (cells.empty()) return "no cells";
    std::string text = cells.is_box() ? "the cells" : fmt::format("{} cells within", cells.count());
    for (std::size_t a = 0; a < 3; ++a)
        if (shape[a] > 1)
            text += fmt::format("{} {} to {}", a == 0 ? "" : ",", box.first[a], box.last[a] - 1);
    return text;
}

MemoryPass print_plain(const PrintJob& job, int number) {
    const auto& kernel = job.program.kernels[static_cast<std::size_t>(number)];
    MemoryPass pass;
    pass.name = kernel.name;
    pass.every = kernel.every;
    if (!kernel.cells->empty()) pass.launches.push_back(print_cells(job, number));
    for (std::size_t i = 0; i < kernel.carries.size(); ++i)
        if (!kernel.carries[i].cells->empty()) pass.launches.push_back(print_carry(job, number, i));
    for (const auto& store : kernel.stores)
        if (store.other_copy &&
            std::find(pass.swapped.begin(), pass.swapped.end(), store.buffer) == pass.swapped.end())
            pass.swapped.push_back(store.buffer);
    return pass;
}

} // namespace farfield::stencil::codegen::cuda
