// Several vectors of strengths over the same points: strengths N×(k·columns), outputs M×(k·width), the
// numbers of one vector side by side.
#pragma once

#include "sums/method/problem.h"

#include <farfield/sum.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace farfield {

/// Columns [first, first + columns) of a view; a view of one dimension has one.
template <class Pointer>
BasicArrayView<Pointer> columns_of(BasicArrayView<Pointer> view, std::int64_t first, std::int64_t columns) {
    using Byte = std::conditional_t<std::is_same_v<Pointer, void*>, std::byte, const std::byte>;
    if (view.ndim == 1 || !view) return view;
    view.data = static_cast<Byte*>(view.data) +
                first * view.strides[1] * static_cast<std::int64_t>(size_of(view.dtype));
    view.shape[1] = columns;
    return view;
}

inline SumStrengths strengths_of_vector(const SumProblem& problem, const SumStrengths& strengths,
                                        std::int64_t vector) {
    const int columns = problem.kernel->strength.columns;
    return {.charges = columns_of(strengths.charges, vector * columns, columns),
            .dipoles = columns_of(strengths.dipoles, vector * problem.dimension, problem.dimension)};
}

inline SumOutputs outputs_of_vector(const SumProblem& problem, const SumOutputs& outputs,
                                    std::int64_t vector) {
    SumOutputs out;
    for (const auto& info : problem.kernel->outputs) {
        const auto width = problem.kernel->width(info, problem.dimension);
        out.of(info.output) = columns_of(outputs.of(info.output), vector * width, width);
    }
    return out;
}

} // namespace farfield
