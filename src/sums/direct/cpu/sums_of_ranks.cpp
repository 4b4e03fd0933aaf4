#include "sums/direct/cpu/sums_of_ranks.h"

#include "backend/comm/transport.h"

#include <algorithm>

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

void gather_rows(comm::Transport& ranks, const SumRows& rows, std::span<const RowRanges> parts) {
    std::vector<double> mine;
    for (const auto& [begin, end] : parts[static_cast<std::size_t>(ranks.rank())])
        rows.pack(begin, end, mine);
    std::vector<std::int64_t> counts;
    counts.reserve(parts.size());
    for (const auto& part : parts) {
        std::int64_t count = 0;
        for (const auto& [begin, end] : part) count += (end - begin) * rows.arrays();
        counts.push_back(count);
    }
    const auto all = comm::all_gathered(ranks, std::span<const double>(mine), counts);
    std::span<const double> rest(all);
    for (const auto& part : parts)
        for (const auto& [begin, end] : part) rest = rows.unpack(begin, end, rest);
}

} // namespace farfield
