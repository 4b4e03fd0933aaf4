// What is costly to make, by ranks together.
#pragma once

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"
#include "base/last_made.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace farfield {

/// Rows 0 … count − 1 of `width` numbers, one behind the other. make(row, numbers) fills one; of P ranks each
/// makes every P-th row, and all get all. Null: this process makes all.
template <class T, class Make>
std::vector<T> made_in_turn(comm::Transport* ranks, std::int64_t count, std::size_t width, int threads,
                            const Make& make) {
    const std::int64_t size = ranks != nullptr ? ranks->size() : 1,
                       rank = ranks != nullptr ? ranks->rank() : 0;
    const auto rows_of = [&](std::int64_t r) { return (count - r + size - 1) / size; };
    std::vector<T> mine(static_cast<std::size_t>(rows_of(rank)) * width);
    parallel_for(threads, rows_of(rank), [&](std::int64_t i) {
        make(rank + i * size, std::span(mine).subspan(static_cast<std::size_t>(i) * width, width));
    });
    if (ranks == nullptr) return mine;
    std::vector<std::int64_t> counts;
    for (std::int64_t r = 0; r < size; ++r) counts.push_back(rows_of(r) * static_cast<std::int64_t>(width));
    const auto by_rank = comm::all_gathered(*ranks, std::span<const T>(mine), counts);
    std::vector<T> out(by_rank.size());
    auto from = by_rank.begin();
    for (std::int64_t r = 0; r < size; ++r)
        for (std::int64_t row = r; row < count; row += size, from += static_cast<std::ptrdiff_t>(width))
            std::copy_n(from, width, out.begin() + row * static_cast<std::ptrdiff_t>(width));
    return out;
}

/// What was kept of the last ones, or made: by ranks, which all ask for the same, together unless all have
/// it.
template <class Key, class Made, class Make>
std::shared_ptr<const Made> kept_or_made(LastMade<Key, Made>& kept, const Key& key, comm::Transport* ranks,
                                         const Make& make) {
    if (ranks == nullptr) return kept.find(key, make);
    // ranks that are threads would wait in `find` for one that waits for them
    if (auto known = kept.known(key); !comm::any_rank(*ranks, known == nullptr)) return known;
    auto made = make();
    return kept.find(key, [&] { return std::move(made); });
}

} // namespace farfield
