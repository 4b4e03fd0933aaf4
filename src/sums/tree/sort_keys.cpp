// A radix sort from the lowest digit up. Bits that are the same in all keys are left out. The lowest bits
// tell few keys apart: they are sorted last, within the short runs of keys that are the same above.
#include "sums/tree/sort_keys.h"

#include "backend/threads/parallel.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <numeric>
#include <vector>

namespace farfield {
namespace {

constexpr int longest_digit = 11; ///< bits
constexpr std::size_t most_values = std::size_t{1} << longest_digit;
constexpr std::int64_t least_part = 1 << 15; ///< keys that are worth a task

using Counts = std::array<std::int32_t, most_values>;

/// Of a key: some of its bits.
struct Digit {
    int shift = 0;
    int bits = longest_digit;

    [[nodiscard]] std::size_t values() const { return std::size_t{1} << bits; }
    [[nodiscard]] std::size_t of(std::uint64_t key) const {
        return static_cast<std::size_t>(key >> shift) & (values() - 1);
    }
};

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

/// How many times as many keys as on average, as a power of two, begin with the same bits as the commonest
/// ones do: of a sample, by their highest bits. 0 where keys are spread evenly.
int bits_of_crowding(const RawVector<std::uint64_t>& keys, std::uint64_t differ) {
    constexpr int bits = 9;
    constexpr std::size_t sample = 4096;
    const Digit highest{.shift = std::max(0, static_cast<int>(std::bit_width(differ)) - bits), .bits = bits};
    std::array<std::int32_t, std::size_t{1} << bits> counts{};
    for (std::size_t s = 0; s < sample; ++s) ++counts[highest.of(keys[s * keys.size() / sample])];
    const auto most = *std::max_element(counts.begin(), counts.end());
    const auto crowded = static_cast<std::size_t>(most) * counts.size() / sample;
    return crowded < 4 ? 0 : static_cast<int>(std::bit_width(crowded)) - 1; // chance alone makes it 3
}

/// One pass: parts count their digits, each part learns where its own keys of a digit begin, parts move them.
class Pass {
public:
    Pass(std::int64_t n, int threads)
        : threads_(threads), parts_(std::clamp<std::int64_t>(n / least_part, 1, 4 * std::int64_t{threads})),
          n_(n), counts_(static_cast<std::size_t>(parts_)) {}

    /// @param in  `from` may be empty: those keys are in their first order
    void move(const SortedKeys& in, SortedKeys& out, Digit digit) {
        each_part([&](Counts& counts, std::size_t begin, std::size_t end) {
            std::fill_n(counts.begin(), digit.values(), 0);
            for (auto i = begin; i < end; ++i) ++counts[digit.of(in.keys[i])];
        });
        std::int32_t sum = 0;
        for (std::size_t d = 0; d < digit.values(); ++d)
            for (auto& counts : counts_) {
                const auto count = counts[d];
                counts[d] = sum;
                sum += count;
            }
        if (in.from.empty())
            move_parts(in, out, digit, [](std::size_t i) { return static_cast<std::int32_t>(i); });
        else
            move_parts(in, out, digit, [from = in.from.data()](std::size_t i) { return from[i]; });
    }

private:
    template <class From>
    void move_parts(const SortedKeys& in, SortedKeys& out, Digit digit, const From& from) {
        each_part([&](Counts& next, std::size_t begin, std::size_t end) {
            for (auto i = begin; i < end; ++i) {
                const auto to = static_cast<std::size_t>(next[digit.of(in.keys[i])]++);
                out.keys[to] = in.keys[i];
                out.from[to] = from(i);
            }
        });
    }

    template <class Body>
    void each_part(const Body& body) {
        parallel_apart(threads_, parts_, [&](std::int64_t part) {
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
    const int bits = std::max(1, static_cast<int>(std::bit_width(differ)) - low);
    const int passes = (bits + longest_digit - 1) / longest_digit;
    Digit digit{.shift = low, .bits = (bits + passes - 1) / passes}; // fewer values are told apart faster
    for (; digit.shift < 64 && differ >> digit.shift != 0; digit.shift += digit.bits) {
        while ((differ >> digit.shift & 1U) == 0) ++digit.shift;
        pass.move(sorted, other, digit);
        sorted.from.resize(n); // it was empty at first
        std::swap(sorted, other);
    }
}

} // namespace

SortedKeys sort_keys(RawVector<std::uint64_t> keys, int threads) {
    SortedKeys sorted{std::move(keys), {}};
    const auto n = sorted.keys.size();
    if (n == 0) return sorted;
    if (std::is_sorted(sorted.keys.begin(), sorted.keys.end())) { // seen at once where they are not
        sorted.from.resize(n);
        std::iota(sorted.from.begin(), sorted.from.end(), 0);
        return sorted;
    }
    const auto differ = bits_that_differ(sorted.keys, threads);
    // So many bits that runs are short.
    const int wanted = static_cast<int>(std::bit_width(n)) + 6 + bits_of_crowding(sorted.keys, differ);
    const int low = std::max(0, static_cast<int>(std::bit_width(differ)) - wanted);
    sort_by_digits(sorted, differ, low, threads);
    if (low > 0 && !sort_runs(sorted, low, threads)) sort_by_digits(sorted, differ, 0, threads);
    return sorted;
}

namespace {

/// Two runs of keys, one behind the other, become one in `to`. From both ends at once, which do not wait for
/// each other, and without branches that are hard to foresee. @param from  of a place
template <class From>
void merge_two(const std::uint64_t* keys, const From& from, std::size_t begin, std::size_t middle,
               std::size_t end, SortedKeys& to) {
    auto left = begin, right = middle, out = begin;
    auto left_end = middle, right_end = end, out_end = end;
    const auto put = [&](std::size_t number, std::size_t place) {
        to.keys[number] = keys[place];
        to.from[number] = from(place);
    };
    const auto put_first = [&] {
        const bool takes_right = keys[right] < keys[left];
        put(out++, takes_right ? right : left);
        right += takes_right ? 1 : 0;
        left += takes_right ? 0 : 1;
    };
    const auto put_last = [&] {
        const bool takes_left = keys[right_end - 1] < keys[left_end - 1];
        put(--out_end, (takes_left ? left_end : right_end) - 1);
        left_end -= takes_left ? 1 : 0;
        right_end -= takes_left ? 0 : 1;
    };
    for (auto both = std::min(middle - begin, end - middle); both > 0; --both) {
        put_first();
        put_last();
    }
    const auto both_are_left = [&] { return left < left_end && right < right_end; };
    while (both_are_left()) put_first();
    while (left < left_end) put(out++, left++);
    while (right < right_end) put(out++, right++);
}

} // namespace

KeyRows rows_in(std::span<const std::uint64_t> sorted, const KeyRange& range) {
    const auto rows_before = [&](std::uint64_t key) {
        return std::int64_t{std::lower_bound(sorted.begin(), sorted.end(), key) - sorted.begin()};
    };
    return {rows_before(range.begin), rows_before(range.end)};
}

SortedKeys merge_keys(RawVector<std::uint64_t> keys, std::span<const std::int64_t> parts) {
    const auto n = keys.size();
    SortedKeys sorted{std::move(keys), RawVector<std::int32_t>(n)};
    std::vector<std::size_t> begins(parts.begin(), parts.end());
    if (n == 0 || std::is_sorted(sorted.keys.begin(), sorted.keys.end())) {
        std::iota(sorted.from.begin(), sorted.from.end(), 0);
        return sorted;
    }
    SortedKeys other{RawVector<std::uint64_t>(n), RawVector<std::int32_t>(n)};
    for (bool first = true; begins.size() > 2; first = false) {
        std::vector<std::size_t> left{0};
        for (std::size_t part = 0; part + 1 < begins.size(); part += 2) {
            const auto middle = begins[part + 1];
            left.push_back(part + 2 < begins.size() ? begins[part + 2] : middle);
            const auto merge = [&](const auto& from) {
                merge_two(sorted.keys.data(), from, begins[part], middle, left.back(), other);
            };
            if (first)
                merge([](std::size_t place) { return static_cast<std::int32_t>(place); });
            else
                merge([&](std::size_t place) { return sorted.from[place]; });
        }
        std::swap(sorted, other);
        begins = std::move(left);
    }
    return sorted;
}

} // namespace farfield
