#include "sums/direct/cpu/sums_of_ranks.h"

#include "backend/comm/transport.h"
#include "base/aligned.h"

#include <algorithm>
#include <numeric>

namespace farfield {

SumRows::SumRows(const TileSums& sums) {
    const auto add = [&](double* array) {
        if (array != nullptr) arrays_.push_back(array);
    };
    add(sums.potential);
    for (auto* component : sums.field) add(component);
    for (auto* component : sums.hessian) add(component);
    add(sums.potential_imaginary);
}

void SumRows::pack(std::int64_t begin, std::int64_t end, std::vector<double>& numbers) const {
    for (const auto* array : arrays_) numbers.insert(numbers.end(), array + begin, array + end);
}

std::span<const double> SumRows::unpack(std::int64_t begin, std::int64_t end,
                                        std::span<const double> numbers) const {
    const auto rows = static_cast<std::size_t>(end - begin);
    for (auto* array : arrays_) {
        std::copy_n(numbers.begin(), rows, array + begin);
        numbers = numbers.subspan(rows);
    }
    return numbers;
}

namespace {

std::int64_t count_of(const RowRanges& part) {
    std::int64_t count = 0;
    for (const auto& [begin, end] : part) count += end - begin;
    return count;
}

} // namespace

void gather_rows(comm::Transport& ranks, const SumRows& rows, std::span<const RowRanges> parts) {
    std::vector<double> mine;
    for (const auto& [begin, end] : parts[static_cast<std::size_t>(ranks.rank())])
        rows.pack(begin, end, mine);
    std::vector<std::int64_t> counts;
    counts.reserve(parts.size());
    for (const auto& part : parts) counts.push_back(count_of(part) * rows.arrays());
    const auto all = comm::all_gathered(ranks, std::span<const double>(mine), counts);
    std::span<const double> rest(all);
    for (const auto& part : parts)
        for (const auto& [begin, end] : part) rest = rows.unpack(begin, end, rest);
}

/// A part of an array as one run of numbers: those that lie so already, or a copy.
class RowExchange::Run {
public:
    Run(double* array, const RowRanges& rows)
        : array_(array), rows_(rows), together_(rows.size() <= 1),
          copy_(together_ ? 0 : static_cast<std::size_t>(count_of(rows))) {}

    [[nodiscard]] std::span<double> numbers() {
        if (!together_) return copy_;
        if (rows_.empty()) return {};
        const auto [begin, end] = rows_.front();
        return {array_ + begin, static_cast<std::size_t>(end - begin)};
    }
    void pack() {
        copy([](double* at, double* in_array) { *at = *in_array; });
    }
    void unpack() {
        copy([](const double* at, double* in_array) { *in_array = *at; });
    }

private:
    template <class Copy>
    void copy(const Copy& one) {
        if (together_) return;
        auto* next = copy_.data();
        for (const auto& [begin, end] : rows_)
            for (auto row = begin; row < end; ++row) one(next++, array_ + row);
    }

    double* array_;
    const RowRanges& rows_;
    bool together_;
    RawVector<double> copy_;
};

// A message for each array: rows that lie together need no copy on their side, however they lie on the other.
RowExchange::RowExchange(comm::Transport& ranks, const SumRows& mine, std::vector<RowRanges> to,
                         const SumRows& theirs, std::vector<RowRanges> from)
    : to_(std::move(to)), from_(std::move(from)) {
    constexpr int tag = 101;
    leaving_.reserve(to_.size() * static_cast<std::size_t>(mine.arrays()));
    coming_.reserve(from_.size() * static_cast<std::size_t>(theirs.arrays()));
    std::vector<comm::ConstBytes> leaving;
    std::vector<comm::Bytes> coming;
    for (const auto& rows : to_)
        for (std::int64_t k = 0; k < mine.arrays(); ++k) {
            leaving_.emplace_back(mine.array(k), rows).pack();
            leaving.emplace_back(comm::bytes_of(leaving_.back().numbers()));
        }
    for (const auto& rows : from_)
        for (std::int64_t k = 0; k < theirs.arrays(); ++k)
            coming.push_back(comm::bytes_of(coming_.emplace_back(theirs.array(k), rows).numbers()));
    messages_ = comm::begin_exchange(ranks, leaving, coming, tag, static_cast<std::size_t>(mine.arrays()));
}

RowExchange::~RowExchange() = default;

void RowExchange::end() {
    for (auto& message : messages_) message->wait();
    messages_.clear();
    for (auto& run : coming_) run.unpack();
}

void exchange_rows(comm::Transport& ranks, const SumRows& mine, std::vector<RowRanges> to,
                   const SumRows& theirs, std::vector<RowRanges> from) {
    RowExchange(ranks, mine, std::move(to), theirs, std::move(from)).end();
}

std::vector<std::size_t> first_of_ranks(std::span<const double> work, int ranks) {
    const double all = std::accumulate(work.begin(), work.end(), 0.0);
    double before = 0.0;
    std::vector<std::size_t> firsts{0};
    for (std::size_t t = 0; t < work.size(); ++t) {
        // a task belongs to the rank in whose part its middle lies
        const double middle = before + 0.5 * work[t];
        while (std::ssize(firsts) < ranks && middle * ranks >= all * static_cast<double>(firsts.size()))
            firsts.push_back(t);
        before += work[t];
    }
    firsts.resize(static_cast<std::size_t>(ranks) + 1, work.size());
    return firsts;
}

} // namespace farfield
