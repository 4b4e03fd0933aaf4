// Patches and the size of tiles.
#include "stencil/codegen/cuda/tile_shape.h"

#include "stencil/codegen/cuda/reach.h"

#include <algorithm>
#include <map>

namespace farfield::stencil::codegen::cuda {

namespace {

// What a tile computes: codes and the cells they are computed for.
struct Computed {
    const ir::Code* code;
    const ir::CellSet* cells;
};

std::vector<Computed> computed_in(const ir::Program& program, const TileShape& shape) {
    std::vector<Computed> list;
    for (const int k : shape.kernels)
        list.push_back({&kernel_of(program, k).code, kernel_of(program, k).cells.get()});
    for (const int r : shape.records) {
        const auto& record = program.records[static_cast<std::size_t>(r)];
        list.push_back({&record.code, record.cells.get()});
    }
    return list;
}

// Cells of a patch that threads other than its own read.
void assign_slots(const ir::Program& program, TileShape& shape, TileField& field) {
    field.slot.assign(static_cast<std::size_t>(shape.patch_cells()), -1);
    const auto& buffer = buffer_of(program, field.buffer);
    for (const auto& [code, cells] : computed_in(program, shape)) {
        for (const auto& node : code->nodes) {
            if (node.op != ir::Op::load || node.index != field.buffer || node.offsets == Sides{}) continue;
            field.exchanged = true;
            for (std::size_t a = 0; a < 3; ++a)
                field.mapped |= is_mapped(program, buffer, cells->bounds(), node.offsets, a);
            for (const int p : shown_cells(shape.patch, node.offsets))
                field.slot[static_cast<std::size_t>(p)] = 0;
        }
    }
    field.slots = 0;
    for (auto& slot : field.slot)
        if (slot == 0 || field.mapped) slot = field.slots++;
}

// Reads at the tile's edges go astray by so many places at most; there is room
// for them around each field, so that none meets another field that is being
// written.
int stray_places(const ir::Program& program, const TileShape& shape) {
    Sides most = {};
    for (const auto& [code, cells] : computed_in(program, shape))
        for (const auto& node : code->nodes)
            if (node.op == ir::Op::load && shape.field(node.index) != nullptr)
                for (std::size_t a = 0; a < 3; ++a)
                    most[a] =
                        std::max(most[a], (std::abs(node.offsets[a]) + shape.patch[a] - 1) / shape.patch[a]);
    return most[0] + shape.threads[0] * (most[1] + shape.threads[1] * most[2]);
}

int words_a_cell(const ir::Program& program, const Reaches& written) {
    int words = 0;
    for (const auto& [buffer, reach] : written) words += words_of(program, buffer);
    return words;
}

// A patch of about 128 registers. Pairs along x make loads of 16 bytes; the
// rest goes along y, where neighbours cost least.
Sides patch_of(int rank, int words) {
    int cells = 16;
    while (cells > 2 && cells * words > 136) cells /= 2;
    if (rank == 1) return {2, 1, 1};
    if (rank == 2) return {2, cells / 2, 1};
    return {2, cells >= 4 ? 2 : 1, std::max(1, cells / 4)};
}

Sides threads_of(int rank, const Sides& patch, int words) {
    const int registers = std::min(255, patch[0] * patch[1] * patch[2] * words + 40);
    const int most = registers > 128 ? 192 : 256; // for two blocks a processor
    if (rank == 1) return {256, 1, 1};
    if (rank == 2) return {32, most / 32, 1};
    return {16, most == 192 ? 6 : 8, 2};
}

// Tiles lie where kernels have cells, about their box: a rank has a part of the grid.
ir::CellBox box_around(const ir::Program& program, const std::vector<int>& kernels) {
    ir::CellBox box;
    for (const int k : kernels) {
        const auto& cells = kernel_of(program, k).cells->bounds();
        if (cells.empty()) continue;
        if (box.empty()) box = cells;
        for (std::size_t a = 0; a < 3; ++a) {
            box.first[a] = std::min(box.first[a], cells.first[a]);
            box.last[a] = std::max(box.last[a], cells.last[a]);
        }
    }
    return box;
}

// Bytes from and to memory for each kept cell and step, and operations for
// each: the better part of both overlaps.
double cost_of(const ir::Program& program, const TileShape& shape) {
    double bytes = 0, operations = 0;
    const double all = static_cast<double>(shape.side[0]) * shape.side[1] * shape.side[2];
    const double kept = static_cast<double>(shape.kept[0]) * shape.kept[1] * shape.kept[2];
    for (const auto& field : shape.fields) {
        const double size = buffer_of(program, field.buffer).precision == Precision::single_precision ? 4 : 8;
        bytes += size * ((field.in_place ? 1 : all / kept) + 1);
    }
    for (const int k : shape.kernels)
        for (const auto& node : kernel_of(program, k).code.nodes) operations += node.in[0] >= 0 ? 1 : 0;
    const double memory = bytes / shape.steps / 4.2; // TB/s
    const double arithmetic = operations * all / kept / 7.0;
    return std::max(memory, arithmetic) + 0.5 * std::min(memory, arithmetic);
}

std::optional<TileShape> with_steps(const ir::Program& program, TileShape shape, int steps) {
    const auto& grid = program.grids[static_cast<std::size_t>(kernel_of(program, shape.kernels[0]).grid)];
    shape.steps = steps;
    add_fields(program, reach_of(program, shape.kernels, shape.records, steps), shape);
    for (std::size_t a = 0; a < 3; ++a) {
        shape.kept[a] = static_cast<int>(a) < grid.rank ? shape.side[a] - shape.low[a] - shape.high[a] : 1;
        if (shape.kept[a] < 1) return std::nullopt;
    }
    for (auto& field : shape.fields) assign_slots(program, shape, field);
    const int stray = 8 * round_up(stray_places(program, shape), 2);
    int offset = stray;
    for (auto& field : shape.fields) {
        const int size = buffer_of(program, field.buffer).precision == Precision::single_precision ? 4 : 8;
        field.shared_offset = offset;
        if (field.slots > 0) offset += round_up(field.slots * shape.thread_count() * size, 16) + stray;
    }
    shape.shared_bytes = offset;
    const int registers = shape.thread_count() <= 256 ? 2 : 1;
    shape.blocks_a_processor = shape.shared_bytes <= 100 * 1024 ? registers : 1;
    shape.cost = cost_of(program, shape);
    if (shape.shared_bytes > 220 * 1024) return std::nullopt;
    return shape;
}

} // namespace

void add_fields(const ir::Program& program, const Reaches& reaches, TileShape& shape) {
    for (const auto& [buffer, reach] : reaches) {
        for (std::size_t a = 0; a < 3; ++a) {
            // even along x, where cells are loaded in pairs
            shape.low[a] = std::max(shape.low[a], round_up(reach.low[a], a == 0 ? 2 : 1));
            shape.high[a] = std::max(shape.high[a], round_up(reach.high[a], a == 0 ? 2 : 1));
            shape.wraps[a] = shape.wraps[a] || buffer_of(program, buffer).boundary[a] == Boundary::periodic;
        }
        TileField field;
        field.buffer = buffer;
        field.in_place = reach.none();
        shape.fields.push_back(field);
    }
}

const TileField* TileShape::field(int buffer) const {
    for (const auto& field : fields)
        if (field.buffer == buffer) return &field;
    return nullptr;
}

std::optional<TileShape> shape_tiles(const ir::Program& program, const std::vector<int>& kernels,
                                     const std::vector<int>& records, int steps,
                                     const std::array<int, 3>& block) {
    if (kernels.empty() || kernels.size() > 32) return std::nullopt;
    const int grid = kernel_of(program, kernels[0]).grid;
    for (const int k : kernels)
        if (kernel_of(program, k).grid != grid) return std::nullopt;
    const int rank = program.grids[static_cast<std::size_t>(grid)].rank;
    const int words = words_a_cell(program, written_by(program, kernels));
    if (words == 0 || words * 2 > 160) return std::nullopt;
    TileShape start;
    start.kernels = kernels;
    start.records = records;
    start.patch = patch_of(rank, words);
    start.threads = threads_of(rank, start.patch, words);
    for (std::size_t a = 0; a < 3 && static_cast<int>(a) < rank; ++a) {
        if (block[0] > 0) start.threads[a] = std::max(1, block[a] / start.patch[a]);
        start.side[a] = start.patch[a] * start.threads[a];
    }
    if (start.thread_count() > 1024) return std::nullopt;
    if (steps > 0) return with_steps(program, start, steps);
    std::optional<TileShape> best;
    for (int s = 1; s <= 16; ++s)
        if (const auto shape = with_steps(program, start, s); shape && (!best || shape->cost < best->cost))
            best = shape;
    return best;
}

double plain_cost(const ir::Program& program, const std::vector<int>& kernels) {
    const auto worked_on = static_cast<double>(box_around(program, kernels).count());
    double bytes = 0;
    for (const int k : kernels) {
        std::map<int, double> touched;
        const auto& kernel = kernel_of(program, k);
        const double share = worked_on > 0 ? static_cast<double>(kernel.cells->count()) / worked_on : 0.0;
        const auto touch = [&](int buffer, double times) {
            if (buffer_of(program, buffer).axis < 0)
                touched[buffer] +=
                    times * share *
                    (buffer_of(program, buffer).precision == Precision::single_precision ? 4 : 8);
        };
        std::map<int, bool> read;
        for (const auto& node : kernel.code.nodes)
            if (node.op == ir::Op::load && !read[node.index]) {
                read[node.index] = true;
                touch(node.index, 1);
            }
        for (const auto& store : kernel.stores) touch(store.buffer, 1);
        for (const auto& [buffer, size] : touched) bytes += size;
    }
    return bytes / 4.2;
}

} // namespace farfield::stencil::codegen::cuda
