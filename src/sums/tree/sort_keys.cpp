// A radix sort from the lowest digit up. Bits that are the same in all keys are left out. The lowest bits
// tell few keys apart: they are sorted last, within the short runs of keys that are the same above.
#include "sums/tree/sort_keys.h"

#include "backend/threads/parallel.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <vector>

namespace farfield {
namespace {

constexpr int digit_bits = 11;
constexpr std::size_t values_of_a_digit = std::size_t{1} << digit_bits;
constexpr std::int64_t least_part = 1 << 15; ///< keys that are worth a task

using Counts = std::array<std::int32_t, values_of_a_digit>;

std::size_t digit_of(std::uint64_t key, int shift) {
    return static_cast<std::size_t>(key >> shift) & (values_of_a_digit - 1);
}

std::uint64_t bits_that_differ(const RawVector<std::uint64_t>& keys, int threads) {
    std::uint64_t differ = 0;
    for (const auto of_part : parallel_results(threads, keys.size(), [&](std::size_t begin, std::size_t end) {
             std::uint64_t found = 0;
             for (auto i = begin; i < end; ++i) found |= keys[i] ^ keys.front();
             return found;
         }))
        differ |= of_part;
    return differ;
}

/// One pass: parts count their digits, each part learns where its own keys of a digit begin, parts move them.
class Pass {
public:
    Pass(std::int64_t n, int threads)
        : threads_(threads), parts_(std::clamp<std::int64_t>(n / least_part, 1, 4 * std::int64_t{threads})),
          n_(n), counts_(static_cast<std::size_t>(parts_)) {}

    void move(const SortedKeys& in, SortedKeys& out, int shift) {
        each_part([&](Counts& counts, std::size_t begin, std::size_t end) {
            counts.fill(0);
            for (auto i = begin; i < end; ++i) ++counts[digit_of(in.keys[i], shift)];
        });
        std::int32_t sum = 0;
        for (std::size_t d = 0; d < values_of_a_digit; ++d)
            for (auto& counts : counts_) {
                const auto count = counts[d];
                counts[d] = sum;
                sum += count;
            }
        each_part([&](Counts& next, std::size_t begin, std::size_t end) {
            for (auto i = begin; i < end; ++i) {
                const auto to = static_cast<std::size_t>(next[digit_of(in.keys[i], shift)]++);
                out.keys[to] = in.keys[i];
                out.from[to] = in.from[i];
            }
        });
    }

private:
    template <class Body>
    void each_part(const Body& body) {
        parallel_for(threads_, parts_, [&](std::int64_t part) {
            body(counts_[static_cast<std::size_t>(part)], static_cast<std::size_t>(n_ * part / parts_),
                 static_cast<std::size_t>(n_ * (part + 1) / parts_));
        });
    }

    int threads_;
    std::int64_t parts_, n_;
    std::vector<Counts> counts_;
};

/// Keys that are the same above the bits that are left out. A longer run is no short one.
constexpr std::size_t longest_run = 256;

// Stable. Runs are short: most have one key.
void sort_run(SortedKeys& keys, std::size_t begin, std::size_t end) {
    for (auto i = begin + 1; i < end; ++i) {
        const auto key = keys.keys[i];
        const auto from = keys.from[i];
        auto to = i;
        for (; to > begin && keys.keys[to - 1] > key; --to) {
            keys.keys[to] = keys.keys[to - 1];
            keys.from[to] = keys.from[to - 1];
        }
        keys.keys[to] = key;
        keys.from[to] = from;
    }
}

/// Sorts the runs of keys that are the same above `low` bits; false if one is too long for that.
bool sort_runs(SortedKeys& keys, int low, int threads) {
    std::atomic<bool> done = true;
    const auto n = keys.keys.size();
    const auto starts = [&](std::size_t i) {
        return i == 0 || i == n || keys.keys[i] >> low != keys.keys[i - 1] >> low;
    };
    const auto parts = static_cast<std::int64_t>(n) / least_part + 1;
    std::vector<std::size_t> bounds; // where runs start, as no other part may change them
    for (std::int64_t part = 0; part <= parts; ++part) {
        auto i = static_cast<std::size_t>(static_cast<std::int64_t>(n) * part / parts);
        while (!starts(i)) ++i;
        bounds.push_back(i);
    }
    parallel_for(threads, parts, [&](std::int64_t part) {
        const auto last = bounds[static_cast<std::size_t>(part) + 1];
        for (auto begin = bounds[static_cast<std::size_t>(part)]; begin < last;) {
            auto end = begin + 1;
            while (end < last && keys.keys[end] >> low == keys.keys[begin] >> low) ++end;
            if (end - begin > longest_run)
                done = false;
            else
                sort_run(keys, begin, end);
            begin = end;
        }
    });
    return done;
}

/// By the bits from `low` on that differ.
void sort_by_digits(SortedKeys& sorted, std::uint64_t differ, int low, int threads) {
    const auto n = sorted.keys.size();
    SortedKeys other{RawVector<std::uint64_t>(n), RawVector<std::int32_t>(n)};
    Pass pass(static_cast<std::int64_t>(n), threads);
    for (int shift = low; shift < 64 && differ >> shift != 0; shift += digit_bits) {
        while ((differ >> shift & 1U) == 0) ++shift;
        pass.move(sorted, other, shift);
        std::swap(sorted, other);
    }
}

} // namespace

SortedKeys sort_keys(RawVector<std::uint64_t> keys, int threads) {
    SortedKeys sorted{std::move(keys), {}};
    const auto n = sorted.keys.size();
    sorted.from.resize(n);
    parallel_parts(threads, n, [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) sorted.from[i] = static_cast<std::int32_t>(i);
    });
    if (n < 2) return sorted;
    const auto differ = bits_that_differ(sorted.keys, threads);
    // So many digits that runs of evenly spread keys are short.
    const int wanted = (static_cast<int>(std::bit_width(n)) + 6 + digit_bits - 1) / digit_bits * digit_bits;
    const int low = std::max(0, static_cast<int>(std::bit_width(differ)) - wanted);
    sort_by_digits(sorted, differ, low, threads);
    if (low > 0 && !sort_runs(sorted, low, threads)) sort_by_digits(sorted, differ, 0, threads);
    return sorted;
}

} // namespace farfield
