#include "sums/points/plane.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"
#include "sums/points/power_of_two.h"
#include "sums/points/rows_of_ranks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace farfield {
namespace {

constexpr int usual_extent_exponent = 10; // of choose_frame

} // namespace

RawVector<double> lifted(std::span<const double> plane, int threads) {
    RawVector<double> out(plane.size() / 2 * 3);
    parallel_parts(threads, plane.size() / 2, [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) {
            out[3 * i] = plane[2 * i];
            out[3 * i + 1] = plane[2 * i + 1];
            out[3 * i + 2] = 0.0;
        }
    });
    return out;
}

Frame choose_plane_frame(std::span<const double> sources, std::span<const double> targets, double core,
                         int threads) {
    auto frame = choose_frame(sources, targets, core, threads);
    frame.exponent -= usual_extent_exponent;
    return frame;
}

Frame choose_plane_frame(const std::array<Extent, 3>& ranges, double core) {
    auto frame = choose_frame(ranges, core);
    frame.exponent -= usual_extent_exponent;
    return frame;
}

bool are_complex(std::span<const double> strengths, int columns, int threads) {
    if (columns == 1) return false;
    const auto any = parallel_results(threads, strengths.size() / 2, [&](std::size_t begin, std::size_t end) {
        char found = 0;
        for (auto i = begin; i < end && found == 0; ++i) found = strengths[2 * i + 1] != 0.0 ? 1 : 0;
        return found;
    });
    return std::find(any.begin(), any.end(), char{1}) != any.end();
}

std::array<RawVector<double>, 2> strength_columns(std::span<const double> strengths, int columns,
                                                  bool complex, int exponent,
                                                  std::span<const std::int32_t> from, int threads) {
    const auto width = static_cast<std::size_t>(columns);
    const auto n = strengths.size() / width;
    const PowerOfTwo scale(exponent);
    std::array<RawVector<double>, 2> out{RawVector<double>(n), RawVector<double>(complex ? n : 0)};
    parallel_parts(threads, n, [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) {
            const auto row = from.empty() ? i : static_cast<std::size_t>(from[i]);
            out[0][i] = scale.product(strengths[width * row]);
            if (complex) out[1][i] = scale.product(strengths[width * row + 1]);
        }
    });
    return out;
}

namespace {

constexpr std::size_t rows_of_a_part = std::size_t{1} << 14;

long double added_to(long double sum, std::span<const double> values) {
    for (const double value : values) sum += value;
    return sum;
}

std::vector<long double> sums_of_parts(std::span<const double> values, int threads) {
    return parallel_results(
        threads, values.size(),
        [&](std::size_t begin, std::size_t end) {
            return added_to(0.0L, values.subspan(begin, end - begin));
        },
        rows_of_a_part);
}

double total(std::span<const long double> parts) {
    long double sum = 0.0L;
    for (const auto part : parts) sum += part;
    return static_cast<double>(sum);
}

} // namespace

double sum_of(std::span<const double> values, int threads) { return total(sums_of_parts(values, threads)); }

// Parts are those of one rank. One may begin on a rank and end on another: the later rank gets the sum so far
// and goes on from it. A rank on which the part ends that it begins in sends before it waits.
double sum_of_all(comm::Transport& ranks, std::span<const double> mine, int threads) {
    constexpr int tag = 105;
    const RowsOfRanks rows(ranks, std::ssize(mine));
    const auto first = static_cast<std::size_t>(rows.first());
    const auto head = std::min((rows_of_a_part - first % rows_of_a_part) % rows_of_a_part, mine.size());
    const bool ends_head = (first + head) % rows_of_a_part == 0;
    const bool is_open = (first + mine.size()) % rows_of_a_part != 0; // the last part goes on
    auto parts = sums_of_parts(mine.subspan(head), threads);
    const bool is_last = rows.rank() + 1 == ranks.size();
    long double open = 0.0L, before = 0.0L;
    comm::MessageHandle leaving;
    const auto send = [&] {
        const auto bytes = comm::bytes_of(std::span<const long double>(&open, 1));
        if (!is_last) leaving = ranks.send(bytes, rows.rank() + 1, tag);
    };
    if (ends_head && is_open) {
        open = parts.back();
        parts.pop_back();
    }
    if (ends_head) send();
    if (rows.rank() > 0) ranks.receive(comm::bytes_of(std::span(&before, 1)), rows.rank() - 1, tag)->wait();
    const auto with_head = added_to(before, mine.first(head));
    if (!ends_head) {
        open = with_head;
        send();
    } else if (first % rows_of_a_part != 0) {
        parts.insert(parts.begin(), with_head);
    }
    if (is_last && is_open) parts.push_back(open);
    if (leaving) leaving->wait();
    return total(comm::all_gathered(ranks, std::span<const long double>(parts),
                                    comm::all_values(ranks, static_cast<std::int64_t>(parts.size()))));
}

} // namespace farfield
