#include "sums/gauss/ranks/dealt_rows.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace farfield {
namespace {

constexpr int rows_tag = 711;

/// How many rows a rank sends another, how many of them come before its own, and how many are its own.
struct Counts {
    std::int64_t rows = 0, before_own = 0, own = 0;
};

/// The rows to each rank, or from each, of an array of `width` numbers a row.
template <class T>
std::vector<std::span<T>> pieces(T* array, std::span<const KeyRows> rows, std::int64_t width) {
    std::vector<std::span<T>> out;
    for (const auto& some : rows)
        out.emplace_back(array + width * some.begin, static_cast<std::size_t>(width * some.size()));
    return out;
}

template <class T>
void exchange_pieces(comm::Transport& ranks, const std::vector<std::span<const T>>& to,
                     const std::vector<std::span<T>>& from) {
    std::vector<comm::ConstBytes> leaving;
    std::vector<comm::Bytes> coming;
    leaving.reserve(to.size());
    coming.reserve(from.size());
    for (const auto& piece : to) leaving.push_back(comm::bytes_of(piece));
    for (const auto& piece : from) coming.push_back(comm::bytes_of(piece));
    comm::exchange(ranks, leaving, coming, rows_tag);
}

std::vector<RowRanges> as_ranges(std::span<const KeyRows> rows) {
    std::vector<RowRanges> out(rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r)
        if (rows[r].size() > 0) out[r].emplace_back(rows[r].begin, rows[r].end);
    return out;
}

} // namespace

DealtRows::DealtRows(comm::Transport& ranks, SortedKeys given, std::span<const KeyRange> own,
                     std::span<const KeyRange> wide, int threads)
    : ranks_(ranks), threads_(threads), given_(std::move(given)) {
    const auto count = own.size();
    to_.reserve(count);
    own_to_.reserve(count);
    std::vector<Counts> counts;
    for (std::size_t r = 0; r < count; ++r) {
        to_.push_back(rows_in(given_.keys, wide[r]));
        own_to_.push_back(rows_in(given_.keys, own[r]));
        counts.push_back({to_[r].size(), own_to_[r].begin - to_[r].begin, own_to_[r].size()});
    }
    const auto all = comm::all_gathered(ranks_, std::span<const Counts>(counts),
                                        std::vector(count, static_cast<std::int64_t>(count)));
    std::vector<std::int64_t> runs{0};
    for (std::size_t r = 0; r < count; ++r) {
        const auto& some = all[r * count + static_cast<std::size_t>(ranks_.rank())];
        const auto begin = runs.back();
        runs.push_back(begin + some.rows);
        from_.push_back({begin, runs.back()});
        own_from_.push_back({begin + some.before_own, begin + some.before_own + some.own});
    }
    RawVector<std::uint64_t> keys(static_cast<std::size_t>(runs.back()));
    exchange_pieces(ranks_, pieces(std::as_const(given_.keys).data(), to_, 1), pieces(keys.data(), from_, 1));
    auto merged = merge_keys(std::move(keys), runs);
    keys_ = std::move(merged.keys);
    place_ = std::move(merged.from);
    own_ = rows_in(keys_, own[static_cast<std::size_t>(ranks_.rank())]);
    given_.keys = {};
}

void DealtRows::bring(std::span<const double> given, std::int64_t width, RawVector<double>& rows) {
    const auto w = static_cast<std::size_t>(width);
    double* const leaving = leaving_.take(given.size());
    double* const arrived = arrived_.take(place_.size() * w);
    rows.resize(place_.size() * w);
    const auto copy_rows = [&](const RawVector<std::int32_t>& order, const double* from, double* to) {
        parallel_parts(threads_, order.size(), [&](std::size_t begin, std::size_t end) {
            for (auto i = begin; i < end; ++i)
                for (std::size_t k = 0; k < w; ++k)
                    to[w * i + k] = from[w * static_cast<std::size_t>(order[i]) + k];
        });
    };
    copy_rows(given_.from, given.data(), leaving);
    exchange_pieces(ranks_, pieces<const double>(leaving, to_, width), pieces(arrived, from_, width));
    copy_rows(place_, arrived, rows.data());
}

void DealtRows::bring_back(const SumRows& mine, const SumRows& given) {
    const auto rows = place_.size();
    double* const arrived = arrived_.take(rows * static_cast<std::size_t>(mine.arrays()));
    std::vector<double*> leaving;
    for (std::int64_t k = 0; k < mine.arrays(); ++k)
        leaving.push_back(arrived + static_cast<std::size_t>(k) * rows);
    parallel_parts(threads_, static_cast<std::size_t>(own_.size()), [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = 0; k < leaving.size(); ++k) {
            const double* const from = mine.array(static_cast<std::int64_t>(k)) + own_.begin;
            for (auto i = begin; i < end; ++i)
                leaving[k][place_[i + static_cast<std::size_t>(own_.begin)]] = from[i];
        }
    });
    exchange_rows(ranks_, SumRows(leaving), as_ranges(own_from_), given, as_ranges(own_to_));
}

} // namespace farfield
