// Sums whose ranks, threads of one process here, have a GPU each; GPUs are dealt out in turn, so that one
// plays several.
#pragma once

#include "backend/comm/communicator_access.h"
#include "backend/comm/in_process.h"

#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace farfield::test {

using Values = std::vector<double>;

inline Values numbers(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    Values out(count);
    for (auto& value : out) value = normal(random);
    return out;
}

/// Charges that need not cancel, in a cube that some of `numbers` lie outside of.
inline SumOptions in_box(Method method) {
    return {.kernel = Kernel::coulomb,
            .method = method,
            .period = {4.0, 4.0, 4.0},
            .background = Background::uniform,
            .tolerance = 1e-5,
            .device = {.kind = DeviceKind::cuda}};
}

/// The same of a method of boxes alone; of others in open space, in double, without a tolerance.
inline SumOptions by(Method method) {
    if (method == Method::pme || method == Method::ewald) return in_box(method);
    return {.kernel = Kernel::coulomb,
            .method = method,
            .precision = Precision::float64,
            .device = {.kind = DeviceKind::cuda}};
}

inline std::string told(const SumOptions& options) {
    return std::string(name_of(options.method)) + (options.period[0] > 0.0 ? " in a box" : "");
}

struct Outputs {
    Values potential, field;
    friend bool operator==(const Outputs&, const Outputs&) = default;
};

// Of rows [begin, end).
inline Outputs compute(const Values& points, const Values& strengths, std::size_t begin, std::size_t end,
                       const SumOptions& options) {
    const auto rows = end - begin;
    Outputs out{Values(rows), Values(3 * rows)};
    SumPlan plan(matrix_view(std::span(points).subspan(3 * begin, 3 * rows), 3), options);
    plan.execute(std::span(strengths).subspan(begin, rows),
                 {.potential = std::span(out.potential), .field = matrix_view(std::span(out.field), 3)});
    EXPECT_EQ(plan.report().device.kind, DeviceKind::cuda);
    return out;
}

// Each rank has its share of the points. @param gpu_memory  messages may hold that of GPUs
inline Outputs joined_of_ranks(int ranks, const Values& points, const Values& strengths,
                               const SumOptions& options, bool gpu_memory = false) {
    const auto n = strengths.size(), count = static_cast<std::size_t>(ranks);
    Outputs joined{Values(n), Values(3 * n)};
    comm::run_ranks(
        ranks,
        [&](std::shared_ptr<comm::Transport> transport) {
            const auto rank = static_cast<std::size_t>(transport->rank());
            const auto begin = n * rank / count, end = n * (rank + 1) / count;
            auto mine = options;
            mine.communicator = CommunicatorAccess::of(std::move(transport));
            const auto own = compute(points, strengths, begin, end, mine);
            std::copy(own.potential.begin(), own.potential.end(), joined.potential.begin() + begin);
            std::copy(own.field.begin(), own.field.end(), joined.field.begin() + 3 * begin);
        },
        gpu_memory);
    return joined;
}

/// What a rank of an uneven division has: of two or more the last has nothing.
struct Part {
    std::size_t begin, end;
    Part(const comm::Transport& ranks, std::size_t n) {
        const auto rank = static_cast<std::size_t>(ranks.rank());
        const auto parts = static_cast<std::size_t>(ranks.size()) - 1;
        begin = n * std::min(rank, parts) / parts;
        end = n * std::min(rank + 1, parts) / parts;
    }
    [[nodiscard]] std::size_t rows() const { return end - begin; }
    [[nodiscard]] Values of(const Values& all, std::size_t width) const {
        return {all.begin() + static_cast<std::ptrdiff_t>(width * begin),
                all.begin() + static_cast<std::ptrdiff_t>(width * end)};
    }
};

} // namespace farfield::test
