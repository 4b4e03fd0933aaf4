#include "sums/direct/cpu/sums_of_ranks.h"

#include "backend/comm/transport.h"

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

void exchange_rows(comm::Transport& ranks, const SumRows& mine, std::span<const RowRanges> to,
                   const SumRows& theirs, std::span<const RowRanges> from) {
    constexpr int tag = 101;
    const auto rank = static_cast<std::size_t>(ranks.rank());
    std::vector<std::vector<double>> leaving(to.size()), coming(from.size());
    std::vector<comm::MessageHandle> messages;
    for (std::size_t r = 0; r < from.size(); ++r) {
        if (r == rank) continue;
        coming[r].resize(static_cast<std::size_t>(count_of(from[r]) * theirs.arrays()));
        if (!coming[r].empty())
            messages.push_back(ranks.receive(comm::bytes_of(std::span(coming[r])), static_cast<int>(r), tag));
    }
    for (std::size_t r = 0; r < to.size(); ++r) {
        for (const auto& [begin, end] : to[r]) mine.pack(begin, end, leaving[r]);
        if (r != rank && !leaving[r].empty())
            messages.push_back(
                ranks.send(comm::bytes_of(std::span<const double>(leaving[r])), static_cast<int>(r), tag));
    }
    coming[rank] = std::move(leaving[rank]);
    for (auto& message : messages) message->wait();
    for (std::size_t r = 0; r < from.size(); ++r) {
        std::span<const double> rest(coming[r]);
        for (const auto& [begin, end] : from[r]) rest = theirs.unpack(begin, end, rest);
    }
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
