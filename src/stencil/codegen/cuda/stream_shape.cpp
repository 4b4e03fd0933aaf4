// Lags, windows, exchanges, and the size of columns.
#include "stencil/codegen/cuda/stream_shape.h"

#include "stencil/codegen/cuda/reach.h"

#include <algorithm>

namespace farfield::stencil::codegen::cuda {

namespace {

constexpr int processors = 132;
constexpr int most_shared_bytes = 220 * 1024;

// What a stage reads of a field: its plane, and whether other cells of it.
struct Read {
    int buffer;
    Sides offsets;
};

// Reads of the fields of a pass. A kernel leaves cells as they are, so it reads what it writes.
std::vector<Read> reads_of(const ir::Kernel& kernel, const Reaches& written) {
    std::vector<Read> reads;
    for (const auto& node : kernel.code.nodes)
        if (node.op == ir::Op::load && written.contains(node.index))
            reads.push_back({node.index, node.offsets});
    for (const auto& store : kernel.stores) reads.push_back({store.buffer, {}});
    return reads;
}

bool stays_along_z(const ir::Program& program, const ir::Kernel& kernel, const Reaches& written) {
    return std::all_of(kernel.code.nodes.begin(), kernel.code.nodes.end(), [&](const ir::Node& node) {
        return node.op != ir::Op::load || !written.contains(node.index) ||
               !is_mapped(program, buffer_of(program, node.index), kernel.cells->bounds(), node.offsets, 2);
    });
}

// Stages with the smallest lags that keep the order of the program in every plane.
class Schedule {
public:
    Schedule(const ir::Program& program, const std::vector<int>& kernels, int steps)
        : program_(program), kernels_(kernels), written_(written_by(program, kernels)) {
        for (const auto& [buffer, reach] : written_) windows_[buffer] = {-1, 0, 0};
        for (int step = 0; step < steps; ++step)
            for (std::size_t k = 0; k < kernels.size(); ++k) add(static_cast<int>(k), step);
        for (auto& [buffer, window] : windows_) window.oldest = std::max(window.oldest, window.final);
    }
    void fill(StreamShape& shape) const {
        shape.stages = stages_;
        shape.windows = windows_;
        for (std::size_t s = 0; s < stages_.size(); ++s)
            for (const auto& read : reads(stages_[s]))
                if (read.offsets[0] != 0 || read.offsets[1] != 0) show(shape, s, read);
    }

private:
    const ir::Kernel& kernel(const Stage& stage) const {
        return kernel_of(program_, kernels_[static_cast<std::size_t>(stage.kernel)]);
    }
    std::vector<Read> reads(const Stage& stage) const { return reads_of(kernel(stage), written_); }

    // The plane in which a stage's new values take the place of the old ones.
    static int lands(const Stage& stage, int buffer) { return stage.lag + stage.waits.at(buffer); }

    void add(int k, int step) {
        Stage stage{k, step, 0, {}};
        const auto mine = reads(stage);
        for (const auto& store : kernel(stage).stores) {
            int& wait = stage.waits[store.buffer];
            for (const auto& read : mine)
                if (read.buffer == store.buffer) wait = std::max(wait, -read.offsets[2]);
        }
        for (const auto& read : mine)
            stage.lag = std::max(stage.lag, read.offsets[2]); // it has come from memory
        for (const auto& earlier : stages_) {
            for (const auto& read : mine) // what was written before is there
                if (earlier.waits.contains(read.buffer))
                    stage.lag = std::max(stage.lag, lands(earlier, read.buffer) + read.offsets[2]);
            for (const auto& read : reads(earlier)) // what is read before is not overwritten yet
                if (stage.waits.contains(read.buffer))
                    stage.lag =
                        std::max(stage.lag, earlier.lag - read.offsets[2] - stage.waits.at(read.buffer));
        }
        for (const auto& read : mine) {
            auto& window = windows_[read.buffer];
            const int depth = stage.lag - read.offsets[2];
            window.newest = window.newest < 0 ? depth : std::min(window.newest, depth);
            window.oldest = std::max(window.oldest, depth);
        }
        for (const auto& [buffer, wait] : stage.waits)
            windows_[buffer].final = std::max(windows_[buffer].final, lands(stage, buffer));
        stages_.push_back(stage);
    }

    void show(StreamShape& shape, std::size_t s, const Read& read) const {
        const int depth = stages_[s].lag - read.offsets[2];
        int after = -1;
        for (std::size_t w = 0; w < s; ++w)
            if (stages_[w].waits.contains(read.buffer) && lands(stages_[w], read.buffer) == depth)
                after = static_cast<int>(w);
        const auto same = [&](const Exchange& e) {
            return e.buffer == read.buffer && e.depth == depth && e.after == after;
        };
        auto found = std::find_if(shape.exchanges.begin(), shape.exchanges.end(), same);
        if (found == shape.exchanges.end()) {
            Exchange exchange{read.buffer, depth, after, false, {}, 0, 0};
            exchange.slot.assign(static_cast<std::size_t>(shape.tile.patch_cells()), -1);
            found = shape.exchanges.insert(found, exchange);
        }
        for (std::size_t a = 0; a < 2; ++a)
            found->mapped |= is_mapped(program_, buffer_of(program_, read.buffer),
                                       kernel(stages_[s]).cells->bounds(), read.offsets, a);
        for (const int p : shown_cells(shape.tile.patch, {read.offsets[0], read.offsets[1], 0}))
            found->slot[static_cast<std::size_t>(p)] = 0;
    }

    const ir::Program& program_;
    const std::vector<int>& kernels_;
    Reaches written_;
    std::vector<Stage> stages_;
    std::map<int, Window> windows_;
};

// Registers for the fields of a cell: windows, the plane that is on its way, and values that wait.
int words_a_cell(const ir::Program& program, const StreamShape& shape) {
    int words = 0;
    for (const auto& [buffer, window] : shape.windows)
        words += words_of(program, buffer) * (window.oldest - window.newest + 2);
    for (const auto& stage : shape.stages)
        for (const auto& [buffer, wait] : stage.waits) words += words_of(program, buffer) * wait;
    return words;
}

void lay_out(const ir::Program& program, StreamShape& shape) {
    const auto& tile = shape.tile;
    int stray = 0;
    for (const int k : tile.kernels)
        for (const auto& node : kernel_of(program, k).code.nodes)
            if (node.op == ir::Op::load && tile.field(node.index) != nullptr)
                stray = std::max(stray,
                                 1 + std::abs(node.offsets[0]) + tile.threads[0] * std::abs(node.offsets[1]));
    shape.shared_front = shape.exchanges.empty() ? 0 : round_up(8 * stray, 16);
    int offset = 0;
    for (auto& exchange : shape.exchanges) {
        for (auto& slot : exchange.slot)
            if (slot == 0 || exchange.mapped) slot = exchange.slots++;
        exchange.shared_offset = offset;
        offset +=
            round_up(4 * words_of(program, exchange.buffer) * exchange.slots * tile.thread_count(), 16) +
            shape.shared_front; // for reads that go astray from this exchange and the next one
    }
    shape.shared_half = offset;
    shape.tile.shared_bytes = shape.shared_front + 2 * offset;
}

// Planes of a chunk: few enough that all processors are busy to the end, not so few that the planes around a
// chunk weigh. Sets how many times as long as with all processors always busy the march takes.
// @param extent of what is in memory
double choose_chunk(TileShape& tile, const ir::Shape& extent, int asked, int extra) {
    const auto planes = static_cast<int>(extent[2]);
    const auto columns =
        ((extent[0] + tile.kept[0] - 1) / tile.kept[0]) * ((extent[1] + tile.kept[1] - 1) / tile.kept[1]);
    const std::int64_t slots = std::int64_t{processors} * tile.blocks_a_processor;
    double best = 0;
    for (int chunks = 1; chunks <= planes; ++chunks) {
        const int chunk = asked > 1 ? std::min(asked, planes) : (planes + chunks - 1) / chunks;
        const auto blocks = columns * ((planes + chunk - 1) / chunk);
        const auto rounds = (blocks + slots - 1) / slots;
        const double time =
            static_cast<double>(rounds * slots) * (chunk + extra) / static_cast<double>(columns * planes);
        if (chunks == 1 || time < 0.99 * best) {
            best = time;
            tile.kept[2] = chunk;
        }
    }
    return best;
}

// Bytes from and to memory for each kept cell and step, those of halos mostly from the cache, and operations.
double cost_of(const ir::Program& program, const StreamShape& shape, double waiting) {
    constexpr double halo = 0.3;
    const auto& tile = shape.tile;
    const double all = static_cast<double>(tile.side[0]) * tile.side[1] / (tile.kept[0] * tile.kept[1]);
    double bytes = 0, operations = 0;
    for (const auto& field : tile.fields)
        bytes += 4 * words_of(program, field.buffer) * (2 + (field.in_place ? 0 : halo * (all - 1)));
    for (const int k : tile.kernels) {
        const auto& kernel = kernel_of(program, k);
        std::map<int, bool> seen;
        for (const auto& node : kernel.code.nodes) {
            operations += node.in[0] >= 0 ? 1 : 0;
            if (node.op != ir::Op::load || tile.field(node.index) != nullptr || seen[node.index]) continue;
            seen[node.index] = true; // read-only
            if (buffer_of(program, node.index).axis < 0)
                bytes += 4 * words_of(program, node.index) * tile.steps;
        }
    }
    const double memory = bytes / tile.steps / 4.2; // TB/s
    const double arithmetic = operations * all / 7.0;
    return waiting * (std::max(memory, arithmetic) + 0.5 * std::min(memory, arithmetic));
}

std::optional<StreamShape> with_steps(const ir::Program& program, const std::vector<int>& kernels, int steps,
                                      const Sides& block) {
    const Schedule schedule(program, kernels, steps);
    StreamShape shape;
    auto& tile = shape.tile;
    tile.kernels = kernels;
    tile.steps = steps;
    schedule.fill(shape);
    const int words = words_a_cell(program, shape);
    int cells = 8;
    while (cells > 2 && cells * words > 84) cells /= 2;
    if (cells * words > 190) return std::nullopt;
    tile.patch = {2, cells / 2, 1};
    const int registers = round_up(cells * words + 52, 8);
    const int most_threads = std::min(512, 65536 / registers / 128 * 128);
    tile.threads = {32, most_threads / 32, 1};
    for (std::size_t a = 0; a < 2; ++a) {
        if (block[0] > 0) tile.threads[a] = std::max(1, block[a] / tile.patch[a]);
        tile.side[a] = tile.patch[a] * tile.threads[a];
    }
    if (tile.thread_count() > most_threads) return std::nullopt;
    add_fields(program, reach_of(program, kernels, {}, steps), tile);
    for (std::size_t a = 0; a < 2; ++a) {
        tile.kept[a] = tile.side[a] - tile.low[a] - tile.high[a];
        if (tile.kept[a] < 1) return std::nullopt;
    }
    shape.exchanges.clear();
    schedule.fill(shape); // now that the patch is known
    lay_out(program, shape);
    if (tile.shared_bytes > most_shared_bytes) return std::nullopt;
    tile.blocks_a_processor = std::max(1, most_threads / tile.thread_count());
    while (tile.blocks_a_processor * (tile.shared_bytes + 1024) > most_shared_bytes)
        --tile.blocks_a_processor;
    const auto memory = in_memory(program, kernel_of(program, kernels[0]).grid);
    ir::Shape extent;
    for (std::size_t a = 0; a < 3; ++a) extent[a] = memory.last[a] - memory.first[a];
    const double waiting = choose_chunk(tile, extent, block[0] > 0 ? block[2] : 0,
                                        tile.low[2] + std::max(shape.last_final(), tile.high[2]));
    tile.side[2] = tile.kept[2] + tile.low[2] + tile.high[2];
    tile.cost = cost_of(program, shape, waiting);
    return shape;
}

} // namespace

const Exchange* StreamShape::exchange(std::size_t stage, int buffer, int z_offset) const {
    const int depth = stages[stage].lag - z_offset;
    const Exchange* found = nullptr;
    for (const auto& e : exchanges)
        if (e.buffer == buffer && e.depth == depth && e.after < static_cast<int>(stage) &&
            (found == nullptr || e.after > found->after))
            found = &e;
    return found;
}

int StreamShape::last_final() const {
    int last = 0;
    for (const auto& [buffer, window] : windows) last = std::max(last, window.final);
    return last;
}

std::optional<StreamShape> shape_columns(const ir::Program& program, const std::vector<int>& kernels,
                                         int steps, const std::array<int, 3>& block) {
    if (kernels.empty() || kernels.size() > 32) return std::nullopt;
    const int grid = kernel_of(program, kernels[0]).grid;
    if (program.grids[static_cast<std::size_t>(grid)].rank != 3) return std::nullopt;
    const auto written = written_by(program, kernels);
    if (written.empty()) return std::nullopt;
    for (const int k : kernels)
        if (kernel_of(program, k).grid != grid || !stays_along_z(program, kernel_of(program, k), written))
            return std::nullopt;
    return with_steps(program, kernels, steps, block);
}

} // namespace farfield::stencil::codegen::cuda
