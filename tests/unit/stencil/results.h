// What can be seen of a run of a stencil program: its fields in the order of their buffers, then the series
// of its records; and the comparison of two runs.
#pragma once

#include "stencil/runtime/executor.h"
#include "stencil/targets.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace farfield::testing {

using Results = std::vector<std::vector<double>>;

/// The same bits, or both NaN: machines differ in the sign of a NaN.
inline bool same(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
           (std::isnan(a) && std::isnan(b));
}

inline Results fields_of(stencil::Executor& executor) {
    Results fields;
    const auto& program = executor.program();
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        if (program.buffers[b].kind != stencil::ir::BufferKind::field) continue;
        const auto& shape = program.grids[static_cast<std::size_t>(program.buffers[b].grid)].shape;
        executor.read(static_cast<int>(b),
                      fields.emplace_back(static_cast<std::size_t>(shape[0] * shape[1] * shape[2])));
    }
    return fields;
}

inline Results series_of(stencil::Executor& executor) {
    Results series;
    for (std::size_t r = 0; r < executor.program().records.size(); ++r)
        series.push_back(executor.take_series(static_cast<int>(r)));
    return series;
}

/// Fields and series after `counts` steps, one count after the other: the state between them must be
/// complete.
inline Results results_of(stencil::Executor& executor, const std::vector<int>& counts) {
    for (const int count : counts) executor.advance(count);
    auto results = fields_of(executor);
    for (auto& series : series_of(executor)) results.push_back(std::move(series));
    return results;
}

/// Fields after each of `counts` steps, and at last the series.
inline std::vector<Results> history_of(stencil::Executor& executor, const std::vector<int>& counts) {
    std::vector<Results> history;
    for (const int count : counts) {
        executor.advance(count);
        history.push_back(fields_of(executor));
    }
    history.push_back(series_of(executor));
    return history;
}

/// What judges a form of a program: the interpreter, which of all masks is told to multiply.
inline std::unique_ptr<stencil::Executor> judge_of(const std::shared_ptr<const stencil::ir::Program>& program,
                                                   stencil::Mask mask) {
    stencil::ExecutorOptions options;
    if (mask == stencil::Mask::multiply) options.mask = mask;
    return stencil::make_executor("interpreter", program, options);
}

inline Results multiplied(const std::shared_ptr<const stencil::ir::Program>& program,
                          const std::vector<int>& counts) {
    return results_of(*judge_of(program, stencil::Mask::multiply), counts);
}

/// The first difference, as text; empty if there is none.
/// @param equal whether two values agree.
template <class Equal>
std::string difference(const Results& found, const Results& wanted, Equal&& equal) {
    if (found.size() != wanted.size()) return fmt::format("{} results, not {}", found.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (found[i].size() != wanted[i].size())
            return fmt::format("result {} has {} values, not {}", i, found[i].size(), wanted[i].size());
        for (std::size_t j = 0; j < wanted[i].size(); ++j)
            if (!equal(found[i][j], wanted[i][j]))
                return fmt::format("result {} [{}] is {} ({:a}), not {} ({:a})", i, j, found[i][j],
                                   found[i][j], wanted[i][j], wanted[i][j]);
    }
    return {};
}

inline std::string difference(const Results& found, const Results& wanted) {
    return difference(found, wanted, same);
}

/// The same where −0 is +0, as with the mask `multiply` and without it while all values are finite.
inline std::string difference_but_zeros(const Results& found, const Results& wanted) {
    return difference(found, wanted, [](double a, double b) { return same(a, b) || (a == 0 && b == 0); });
}

} // namespace farfield::testing
