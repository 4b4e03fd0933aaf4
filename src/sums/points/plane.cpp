#include "sums/points/plane.h"

#include "backend/threads/parallel.h"
#include "sums/points/power_of_two.h"

#include <algorithm>
#include <cstddef>

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

std::array<RawVector<double>, 2> strength_columns(std::span<const double> strengths, int columns,
                                                  int exponent, std::span<const std::int32_t> from,
                                                  int threads) {
    const auto width = static_cast<std::size_t>(columns);
    const auto n = strengths.size() / width;
    const PowerOfTwo scale(exponent);
    std::array<RawVector<double>, 2> out{RawVector<double>(n), RawVector<double>(columns == 2 ? n : 0)};
    const auto any = parallel_results(threads, n, [&](std::size_t begin, std::size_t end) {
        char found = 0;
        for (auto i = begin; i < end; ++i) {
            const auto row = from.empty() ? i : static_cast<std::size_t>(from[i]);
            out[0][i] = scale.product(strengths[width * row]);
            if (columns == 1) continue;
            out[1][i] = scale.product(strengths[width * row + 1]);
            if (strengths[width * row + 1] != 0.0) found = 1;
        }
        return found;
    });
    if (std::find(any.begin(), any.end(), char{1}) == any.end()) out[1].clear();
    return out;
}

double sum_of(std::span<const double> values, int threads) {
    const auto parts = parallel_results(threads, values.size(), [&](std::size_t begin, std::size_t end) {
        long double sum = 0.0L;
        for (auto i = begin; i < end; ++i) sum += values[i];
        return sum;
    });
    long double sum = 0.0L;
    for (const auto part : parts) sum += part;
    return static_cast<double>(sum);
}

} // namespace farfield
