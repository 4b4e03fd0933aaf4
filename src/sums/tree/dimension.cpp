#include "sums/tree/dimension.h"

#include "backend/threads/parallel.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace farfield {
namespace {

using Keys = RawVector<std::uint64_t>;

// The end of the run of equal prefixes that begins at `begin`: steps of 1, 2, 4, … and a search in the last.
std::size_t run_end(const Keys& keys, std::size_t begin, int shift) {
    const auto prefix = keys[begin] >> shift;
    std::size_t step = 1;
    while (begin + step < keys.size() && keys[begin + step] >> shift == prefix) step *= 2;
    const auto at = [&](std::size_t place) { return keys.begin() + static_cast<std::ptrdiff_t>(place); };
    const auto end = std::partition_point(at(begin + step / 2), at(std::min(begin + step, keys.size())),
                                          [&](std::uint64_t key) { return key >> shift == prefix; });
    return static_cast<std::size_t>(end - keys.begin());
}

// Others in its cell that a point has, in the mean.
double others_in_cell(const Keys& keys, int shift, int threads) {
    const auto pairs = parallel_results(threads, keys.size(), [&](std::size_t begin, std::size_t end) {
        std::int64_t sum = 0;
        auto first = begin; // of the first run that begins here
        if (begin > 0 && keys[begin - 1] >> shift == keys[begin] >> shift)
            first = run_end(keys, begin, shift);
        while (first < end) {
            const auto behind = run_end(keys, first, shift);
            const auto points = static_cast<std::int64_t>(behind - first);
            sum += points * (points - 1);
            first = behind;
        }
        return sum;
    });
    return static_cast<double>(std::accumulate(pairs.begin(), pairs.end(), std::int64_t{0})) /
           static_cast<double>(keys.size());
}

} // namespace

double dimension_of(const Keys& keys, int finest, double others, int threads) {
    constexpr double space = 3.0;
    if (keys.empty()) return space;
    double before = 0.0;
    for (int level = 0; level <= finest; ++level) {
        const double found = others_in_cell(keys, 3 * (finest - level), threads);
        if (found <= others)
            return before > 0.0 && found > 0.0 ? std::min(space, std::log2(before / found)) : space;
        before = found;
    }
    return space;
}

} // namespace farfield
