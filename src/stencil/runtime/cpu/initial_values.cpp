// Initial values, row by row with the host's evaluation of code.
#include "stencil/runtime/cpu/initial_values.h"

#include "backend/threads/parallel.h"
#include "stencil/ir/row_evaluator.h"

#include <algorithm>
#include <vector>

namespace farfield::stencil::cpu {
namespace {

struct Grown {
    std::vector<double> wide;
    std::vector<float> narrow;
};

std::int64_t length(const ir::Program& program, const ir::Buffer& buffer) {
    const auto& shape = program.grids[buffer.grid].shape;
    return buffer.axis < 0 ? shape[0] * shape[1] * shape[2] : shape[buffer.axis];
}

// The code of a buffer in each of its cells; along one axis the other indices are 0.
std::vector<double> evaluate(const ir::Program& program, const ir::Buffer& buffer,
                             const std::vector<ir::BufferView>& views, int threads) {
    auto shape = program.grids[buffer.grid].shape;
    std::vector<double> values(static_cast<std::size_t>(length(program, buffer)));
    if (buffer.axis >= 0)
        for (int axis = 0; axis < 3; ++axis)
            if (axis != buffer.axis) shape[axis] = 1;
    const auto rows = shape[1] * shape[2];
    const auto pieces = std::min<std::int64_t>(rows, 8 * std::int64_t{threads});
    parallel_for(threads, pieces, [&](std::int64_t piece) {
        ir::RowEvaluator evaluator(program.grids[buffer.grid].shape, buffer.initial, views);
        for (auto r = rows * piece / pieces; r < rows * (piece + 1) / pieces; ++r) {
            // Rows of an array along axis 2 are those with y = 0.
            const auto row = buffer.axis == 2 ? r * program.grids[buffer.grid].shape[1] : r;
            for (std::int64_t x = 0; x < shape[0]; x += ir::RowEvaluator::most) {
                const auto count = std::min(ir::RowEvaluator::most, shape[0] - x);
                evaluator.compute(row, x, count);
                const auto found = evaluator.real64(buffer.initial.result);
                std::copy(found.begin(), found.end(), values.begin() + r * shape[0] + x);
            }
        }
    });
    return values;
}

} // namespace

void initial_values(const ir::Program& program, int threads,
                    const std::function<void(int, std::span<const double>)>& take) {
    // Later buffers may read earlier ones that nothing writes.
    std::vector<Grown> kept(program.buffers.size());
    std::vector<ir::BufferView> views(program.buffers.size());
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        const auto& buffer = program.buffers[b];
        auto& own = kept[b];
        if (!buffer.initial.nodes.empty())
            own.wide = evaluate(program, buffer, views, threads);
        else if (!buffer.values.empty())
            own.wide = buffer.values;
        else
            own.wide.assign(static_cast<std::size_t>(length(program, buffer)), 0.0);
        views[b] = {program.grids[buffer.grid].shape, buffer.axis, buffer.precision, buffer.boundary,
                    nullptr};
        if (buffer.precision == Precision::single_precision) {
            own.narrow.assign(own.wide.begin(), own.wide.end());
            std::copy(own.narrow.begin(), own.narrow.end(), own.wide.begin());
            views[b].values = own.narrow.data();
        } else {
            views[b].values = own.wide.data();
        }
        take(static_cast<int>(b), own.wide);
        if (buffer.written) own = {};
    }
}

} // namespace farfield::stencil::cpu
