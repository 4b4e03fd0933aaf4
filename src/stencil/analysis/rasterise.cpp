// Truth values of rows to intervals. Work is cut into blocks of rows, or where there are few rows into pieces
// of them.
#include "stencil/analysis/rasterise.h"

#include "backend/threads/parallel.h"
#include "stencil/ir/op_info.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

namespace farfield::stencil {
namespace {

using ir::Interval;

// Along which axes the result of a code differs.
std::array<bool, 3> axes_of(const ir::Code& code, std::span<const ir::BufferView> buffers) {
    std::vector<bool> needed(code.nodes.size(), false);
    needed[static_cast<std::size_t>(code.result)] = true;
    std::array<bool, 3> axes = {};
    for (std::size_t i = code.nodes.size(); i-- > 0;) {
        if (!needed[i]) continue;
        const auto& node = code.nodes[i];
        for (int k = 0; k < ir::operands_of(node.op); ++k)
            needed[static_cast<std::size_t>(node.in[static_cast<std::size_t>(k)])] = true;
        if (node.op == ir::Op::cell) axes[static_cast<std::size_t>(node.index)] = true;
        if (node.op != ir::Op::load) continue;
        const int along = buffers[static_cast<std::size_t>(node.index)].axis;
        for (std::size_t axis = 0; axis < 3; ++axis)
            axes[axis] = axes[axis] || along < 0 || static_cast<std::size_t>(along) == axis;
    }
    return axes;
}

// Appends the runs of ones, which start at cell `first`; a run that touches the last one continues it.
void append_runs(std::span<const std::uint8_t> truth, std::int64_t first, std::size_t row_begin,
                 std::vector<Interval>& out) {
    const auto add = [&](std::int64_t from, std::int64_t to) {
        if (out.size() > row_begin && out.back().last == from)
            out.back().last = to;
        else
            out.push_back({from, to});
    };
    const auto n = static_cast<std::int64_t>(truth.size());
    for (std::int64_t i = 0; i < n;) {
        const auto* from = truth.data() + i;
        const auto* one =
            static_cast<const std::uint8_t*>(std::memchr(from, 1, static_cast<std::size_t>(n - i)));
        if (one == nullptr) return;
        const auto* zero = static_cast<const std::uint8_t*>(
            std::memchr(one, 0, static_cast<std::size_t>(truth.data() + n - one)));
        const auto begin = one - truth.data();
        i = zero == nullptr ? n : zero - truth.data();
        add(first + begin, first + i);
    }
}

// The intervals of consecutive rows, or of a piece of one.
struct Block {
    std::vector<Interval> intervals;
    std::vector<std::size_t> row_ends;
};

struct Work {
    ir::Shape shape;
    const ir::Code& code;
    std::span<const ir::BufferView> buffers;
    bool along_row = true; ///< whether the cells of a row differ
    std::int64_t most = 0; ///< intervals in all blocks together
    std::atomic<std::int64_t> found = 0;

    bool too_many() const { return found.load(std::memory_order_relaxed) > most; }

    void rows(std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t last, Block& block) {
        ir::RowEvaluator evaluator(shape, code, buffers);
        std::size_t counted = 0;
        for (auto row = begin; row < end; ++row) {
            const auto row_begin = block.intervals.size();
            if (!along_row) {
                evaluator.compute(row, first, 1);
                if (evaluator.truth(code.result)[0] != 0) block.intervals.push_back({first, last});
            }
            for (auto i = first; along_row && i < last; i += ir::RowEvaluator::most) {
                const auto count = std::min(ir::RowEvaluator::most, last - i);
                evaluator.compute(row, i, count);
                append_runs(evaluator.truth(code.result), i, row_begin, block.intervals);
                found.fetch_add(static_cast<std::int64_t>(block.intervals.size() -
                                                          std::exchange(counted, block.intervals.size())),
                                std::memory_order_relaxed);
                if (too_many()) return;
            }
            block.row_ends.push_back(block.intervals.size());
        }
    }
};

void append(const Block& block, std::size_t row, ir::CellSet::Builder& builder) {
    for (auto i = row == 0 ? 0 : block.row_ends[row - 1]; i < block.row_ends[row]; ++i)
        builder.add(block.intervals[i]);
}

// Every row is as the first.
std::optional<ir::CellSet> repeated(Work& work, std::int64_t rows) {
    Block block;
    work.rows(0, 1, 0, work.shape[0], block);
    if (static_cast<double>(block.intervals.size()) * static_cast<double>(rows) >
        static_cast<double>(work.most))
        return std::nullopt;
    ir::CellSet::Builder builder(work.shape);
    for (std::int64_t row = 0; row < rows; ++row) {
        append(block, 0, builder);
        builder.end_row();
    }
    return builder.finish();
}

} // namespace

std::optional<ir::CellSet> rasterise(const ir::Shape& shape, const ir::Code& code,
                                     std::span<const ir::BufferView> buffers, std::int64_t most) {
    const auto axes = axes_of(code, buffers);
    Work work{shape, code, buffers, axes[0], most};
    const auto rows = shape[1] * shape[2];
    if (!axes[1] && !axes[2] && rows > 1) return repeated(work, rows);

    constexpr std::int64_t blocks_wanted = 64;
    const auto rows_a_block = (rows + blocks_wanted - 1) / blocks_wanted;
    const auto row_blocks = (rows + rows_a_block - 1) / rows_a_block;
    const auto chunks = (shape[0] + ir::RowEvaluator::most - 1) / ir::RowEvaluator::most;
    const auto pieces =
        rows_a_block > 1 || !axes[0] ? 1 : std::clamp(blocks_wanted / rows, std::int64_t{1}, chunks);
    const auto piece = (chunks + pieces - 1) / pieces * ir::RowEvaluator::most;
    std::vector<Block> blocks(static_cast<std::size_t>(row_blocks * pieces));
    parallel_for(thread_count(0), row_blocks * pieces, [&](std::int64_t task) {
        const auto begin = task / pieces * rows_a_block;
        const auto first = std::min(task % pieces * piece, shape[0]);
        work.rows(begin, std::min(begin + rows_a_block, rows), first, std::min(first + piece, shape[0]),
                  blocks[static_cast<std::size_t>(task)]);
    });
    if (work.too_many()) return std::nullopt;
    ir::CellSet::Builder builder(shape);
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t p = 0; p < pieces; ++p)
            append(blocks[static_cast<std::size_t>(row / rows_a_block * pieces + p)],
                   static_cast<std::size_t>(row % rows_a_block), builder);
        builder.end_row();
    }
    return builder.finish();
}

} // namespace farfield::stencil
