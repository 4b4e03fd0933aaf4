// Truth values of rows to intervals. Work is cut into blocks of rows, or where there are few rows into pieces
// of them.
#include "stencil/analysis/rasterise.h"

#include "backend/threads/parallel.h"
#include "stencil/ir/op_info.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
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

struct Work {
    ir::Shape shape;
    const ir::Code& code;
    std::span<const ir::BufferView> buffers;
    bool along_row = true; ///< whether the cells of a row differ
    std::int64_t most = 0; ///< intervals in all rows that differ
    std::atomic<std::int64_t> found = 0;

    bool too_many() const { return found.load(std::memory_order_relaxed) > most; }

    /// The intervals of a row from cell `first` to before `last`.
    void row(ir::RowEvaluator& evaluator, std::int64_t row, std::int64_t first, std::int64_t last,
             std::vector<Interval>& out) const {
        const auto row_begin = out.size();
        if (!along_row) {
            evaluator.compute(row, first, 1);
            if (evaluator.truth(code.result)[0] != 0) out.push_back({first, last});
        }
        for (auto i = first; along_row && i < last; i += ir::RowEvaluator::most) {
            evaluator.compute(row, i, std::min(ir::RowEvaluator::most, last - i));
            append_runs(evaluator.truth(code.result), i, row_begin, out);
        }
    }

    /// Rows `begin` to `end`, of which many may be alike.
    ir::CellSet rows(std::int64_t begin, std::int64_t end) {
        ir::RowEvaluator evaluator(shape, code, buffers);
        ir::CellSet::Builder builder({shape[0], end - begin, 1});
        std::vector<Interval> intervals;
        for (auto r = begin; r < end && !too_many(); ++r) {
            const auto before = builder.intervals();
            intervals.clear();
            row(evaluator, r, 0, shape[0], intervals);
            for (const auto& interval : intervals) builder.add(interval);
            builder.end_row();
            found.fetch_add(builder.intervals() - before, std::memory_order_relaxed);
        }
        return builder.finish();
    }
};

// Every row is as the first.
std::optional<ir::CellSet> repeated(Work& work, std::int64_t rows) {
    const auto first = work.rows(0, 1);
    if (work.too_many()) return std::nullopt;
    ir::CellSet::Builder builder(work.shape);
    builder.add_rows(first);
    for (std::int64_t row = 1; row < rows; ++row) builder.repeat_row(0);
    return builder.finish();
}

// Few rows, in pieces.
std::optional<ir::CellSet> pieced(Work& work, std::int64_t rows, std::int64_t pieces, std::int64_t piece) {
    std::vector<std::vector<Interval>> parts(static_cast<std::size_t>(rows * pieces));
    parallel_for(thread_count(0), rows * pieces, [&](std::int64_t task) {
        const auto first = std::min(task % pieces * piece, work.shape[0]);
        auto& part = parts[static_cast<std::size_t>(task)];
        ir::RowEvaluator evaluator(work.shape, work.code, work.buffers);
        const auto last = std::min(first + piece, work.shape[0]);
        for (auto from = first; from < last && !work.too_many(); from += ir::RowEvaluator::most) {
            const auto before = part.size();
            work.row(evaluator, task / pieces, from, std::min(from + ir::RowEvaluator::most, last), part);
            work.found.fetch_add(static_cast<std::int64_t>(part.size() - before), std::memory_order_relaxed);
        }
    });
    if (work.too_many()) return std::nullopt;
    ir::CellSet::Builder builder(work.shape);
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t p = 0; p < pieces; ++p)
            for (const auto& interval : parts[static_cast<std::size_t>(row * pieces + p)])
                builder.add(interval);
        builder.end_row();
    }
    return builder.finish();
}

// Tells how many of the blocks of rows are done, one thread at a time.
class Told {
public:
    Told(std::int64_t blocks, const Progress& progress) : blocks_(blocks), progress_(progress) {}
    void one_more() {
        if (!progress_) return;
        const std::lock_guard lock(mutex_);
        progress_(static_cast<double>(++done_) / static_cast<double>(blocks_));
    }

private:
    std::int64_t blocks_;
    const Progress& progress_;
    std::mutex mutex_;
    std::int64_t done_ = 0;
};

} // namespace

std::optional<ir::CellSet> rasterise(const ir::Shape& shape, const ir::Code& code,
                                     std::span<const ir::BufferView> buffers, std::int64_t most,
                                     const Progress& progress) {
    const auto axes = axes_of(code, buffers);
    Work work{shape, code, buffers, axes[0], most};
    const auto rows = shape[1] * shape[2];
    if (!axes[1] && !axes[2] && rows > 1) return repeated(work, rows);

    constexpr std::int64_t blocks_wanted = 64;
    const auto chunks = (shape[0] + ir::RowEvaluator::most - 1) / ir::RowEvaluator::most;
    const auto pieces = axes[0] ? std::clamp(blocks_wanted / rows, std::int64_t{1}, chunks) : 1;
    if (pieces > 1)
        return pieced(work, rows, pieces, (chunks + pieces - 1) / pieces * ir::RowEvaluator::most);
    const auto rows_a_block = (rows + blocks_wanted - 1) / blocks_wanted;
    std::vector<ir::CellSet> blocks(static_cast<std::size_t>((rows + rows_a_block - 1) / rows_a_block));
    Told told(static_cast<std::int64_t>(blocks.size()), progress);
    parallel_for(thread_count(0), static_cast<std::int64_t>(blocks.size()), [&](std::int64_t b) {
        blocks[static_cast<std::size_t>(b)] =
            work.rows(b * rows_a_block, std::min((b + 1) * rows_a_block, rows));
        told.one_more();
    });
    if (work.too_many()) return std::nullopt;
    ir::CellSet::Builder builder(shape);
    for (const auto& block : blocks) builder.add_rows(block);
    return builder.finish();
}

} // namespace farfield::stencil
