// Sums whose ranks, threads of one process here, each have points of their own, beside the sum of one rank.
#pragma once

#include "backend/comm/communicator_access.h"
#include "backend/comm/in_process.h"
#include "effort.h"
#include "expect_error.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace farfield::test {

using Values = std::vector<double>;

/// A sum of one rank, and how its points are divided.
struct Whole {
    SumOptions options;
    int dimension = 3;
    std::int64_t sources = 0, targets = 0; ///< targets: 0: the sources
    std::int64_t vectors = 1;
    int numbers = 1; ///< of a strength, and of a potential
    bool hessian = false;
    bool neutral = false; ///< strengths come in pairs that add up to 0

    [[nodiscard]] bool self() const { return targets == 0; }
    [[nodiscard]] std::int64_t rows() const { return self() ? sources : targets; }
    [[nodiscard]] std::int64_t columns() const { return vectors * numbers; }
};

inline Values numbers(std::int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    Values out(static_cast<std::size_t>(count));
    for (auto& value : out) value = normal(random);
    return out;
}

struct Arrays {
    Values sources, targets, strengths, dipoles;
};

inline Arrays arrays_of(const Whole& whole) {
    Arrays all{.sources = numbers(whole.sources * whole.dimension, 1),
               .targets = numbers(whole.targets * whole.dimension, 2),
               .strengths = numbers(whole.sources * whole.columns(), 3),
               .dipoles = whole.options.dipoles ? numbers(3 * whole.sources, 4) : Values()};
    for (std::size_t i = 1; whole.neutral && i < all.strengths.size(); i += 2)
        all.strengths[i] = -all.strengths[i - 1];
    return all;
}

struct Outputs {
    Values potential, field, hessian;
    friend bool operator==(const Outputs&, const Outputs&) = default;
};

/// Rows [begin, end) of an array of rows.
inline std::span<const double> part(const Values& values, std::int64_t begin, std::int64_t end,
                                    std::int64_t width) {
    return std::span(values).subspan(static_cast<std::size_t>(begin * width),
                                     static_cast<std::size_t>((end - begin) * width));
}

using Range = std::pair<std::int64_t, std::int64_t>;

inline Outputs compute(const Whole& whole, const Arrays& all, const SumOptions& options, Range sources,
                       Range targets, const SumHooks& hooks = {}, SumReport* report = nullptr) {
    const auto points =
        matrix_view(part(all.sources, sources.first, sources.second, whole.dimension), whole.dimension);
    SumPlan plan =
        whole.self() ? SumPlan(points, options)
                     : SumPlan(points,
                               matrix_view(part(all.targets, targets.first, targets.second, whole.dimension),
                                           whole.dimension),
                               options);
    const auto m = static_cast<std::size_t>(targets.second - targets.first);
    const auto fields = whole.vectors * whole.dimension;
    Outputs out{Values(m * static_cast<std::size_t>(whole.columns())),
                Values(m * static_cast<std::size_t>(fields)), Values(whole.hessian ? 6 * m : 0)};
    SumOutputs views{.potential = matrix_view(std::span(out.potential), whole.columns()),
                     .field = matrix_view(std::span(out.field), fields)};
    if (whole.hessian) views.hessian = matrix_view(std::span(out.hessian), 6 * whole.vectors);
    SumStrengths strengths{
        .charges = matrix_view(part(all.strengths, sources.first, sources.second, whole.columns()),
                               whole.columns())};
    if (!all.dipoles.empty())
        strengths.dipoles = matrix_view(part(all.dipoles, sources.first, sources.second, 3), 3);
    plan.execute(strengths, views, hooks);
    if (report != nullptr) *report = plan.report();
    EXPECT_EQ(plan.report().sources, whole.sources);
    EXPECT_EQ(plan.report().targets, whole.rows());
    return out;
}

/// How points are dealt out.
enum class Division { even, all_on_the_last, on_every_other };

inline const char* name_of(Division division) {
    return division == Division::even              ? "even"
           : division == Division::all_on_the_last ? "all on the last"
                                                   : "on every other";
}

inline Range range_of(std::int64_t count, int rank, int ranks, Division division) {
    if (division == Division::all_on_the_last) return rank == ranks - 1 ? Range{0, count} : Range{0, 0};
    const auto from_even_ranks = [&](int first) { return count * ((first + 1) / 2) / ((ranks + 1) / 2); };
    if (division == Division::on_every_other) return {from_even_ranks(rank), from_even_ranks(rank + 1)};
    return {count * rank / ranks, count * (rank + 1) / ranks};
}

inline Outputs compute_on_ranks(const Whole& whole, const Arrays& all, int ranks, Division division) {
    std::vector<Outputs> parts(static_cast<std::size_t>(ranks));
    comm::run_ranks(ranks, [&](std::shared_ptr<comm::Transport> transport) {
        const int rank = transport->rank();
        auto options = whole.options;
        options.threads = 1 + rank % 2;
        options.communicator = CommunicatorAccess::of(std::move(transport));
        const auto sources = range_of(whole.sources, rank, ranks, division);
        const auto targets = whole.self() ? sources : range_of(whole.targets, rank, ranks, division);
        parts[static_cast<std::size_t>(rank)] = compute(whole, all, options, sources, targets);
    });
    Outputs joined;
    for (const auto& one : parts) {
        const auto append = [](const Values& from, Values& to) {
            to.insert(to.end(), from.begin(), from.end());
        };
        append(one.potential, joined.potential);
        append(one.field, joined.field);
        append(one.hessian, joined.hessian);
    }
    return joined;
}

inline void expect_bits_of_one(const Whole& whole, const Arrays& all,
                               const std::vector<Division>& divisions = {Division::even,
                                                                         Division::all_on_the_last}) {
    auto options = whole.options;
    options.threads = 2;
    const auto one = compute(whole, all, options, {0, whole.sources}, {0, whole.rows()});
    for (const int ranks : sized(std::vector{1, 2, 3, 5, 8}, std::vector{3}))
        for (const auto division : divisions)
            EXPECT_TRUE(compute_on_ranks(whole, all, ranks, division) == one)
                << ranks << " ranks, " << name_of(division);
}

inline void expect_bits_of_one(const Whole& whole) { expect_bits_of_one(whole, arrays_of(whole)); }

/// Runs `work(rank, communicator)` on so many ranks, each of which has to fail with that message.
template <class Work>
std::string common_error(int ranks, const Work& work) {
    std::vector<std::string> messages(static_cast<std::size_t>(ranks));
    comm::run_ranks(ranks, [&](std::shared_ptr<comm::Transport> transport) {
        const int rank = transport->rank();
        const auto communicator = CommunicatorAccess::of(std::move(transport));
        messages[static_cast<std::size_t>(rank)] =
            error_of<InvalidArgument>([&] { work(rank, communicator); });
    });
    for (const auto& message : messages) EXPECT_EQ(message, messages.front());
    return messages.front();
}

/// How many of three ranks give a sum up where the second is asked to: sum(rank, options, hooks).
template <class Sum>
int interrupted_of_three(const SumOptions& options, const Sum& sum) {
    std::atomic<int> interrupted{0};
    comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
        const int rank = transport->rank();
        auto mine = options;
        mine.threads = 1;
        mine.communicator = CommunicatorAccess::of(std::move(transport));
        try {
            sum(rank, mine, SumHooks{.progress = {}, .stop_requested = [rank] { return rank == 1; }});
        } catch (const Interrupted&) {
            ++interrupted;
        }
    });
    return interrupted;
}

/// The same of a sum of rows that are dealt out evenly.
inline int interrupted_of_three(const Whole& whole) {
    const auto all = arrays_of(whole);
    return interrupted_of_three(
        whole.options, [&](int rank, const SumOptions& options, const SumHooks& hooks) {
            const auto sources = range_of(whole.sources, rank, 3, Division::even);
            const auto targets = whole.self() ? sources : range_of(whole.targets, rank, 3, Division::even);
            (void)compute(whole, all, options, sources, targets, hooks);
        });
}

} // namespace farfield::test
