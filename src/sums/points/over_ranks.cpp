#include "sums/points/over_ranks.h"

#include "backend/comm/transport.h"
#include "sums/points/float_range.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace farfield {

std::array<Extent, 3> extents_over_ranks(comm::Transport& ranks, const std::array<Extent, 3>& mine) {
    auto out = mine;
    for (const auto& other : comm::all_values(ranks, mine))
        for (std::size_t axis = 0; axis < 3; ++axis) {
            out[axis].low = std::min(out[axis].low, other[axis].low);
            out[axis].high = std::max(out[axis].high, other[axis].high);
        }
    return out;
}

std::array<Extent, 3> extents_of(comm::Transport* ranks, std::span<const double> sources,
                                 std::span<const double> targets, int threads) {
    std::array<Extent, 3> ranges;
    for (const auto points : {sources, targets}) extend(ranges, points, threads);
    return ranks != nullptr ? extents_over_ranks(*ranks, ranges) : ranges;
}

int strength_exponent_over_ranks(comm::Transport& ranks, std::span<const double> strengths,
                                 std::span<const double> dipoles, int lengths, int threads) {
    const auto largest = [&](std::span<const double> values) {
        const auto all = comm::all_values(ranks, largest_magnitude(values, threads));
        return *std::max_element(all.begin(), all.end());
    };
    const double charge = largest(strengths);
    return strength_exponent(charge, largest(dipoles), lengths);
}

Frame frame_over_ranks(comm::Transport& ranks, std::span<const double> sources,
                       std::span<const double> targets, double softening, int threads) {
    return choose_frame(extents_of(&ranks, sources, targets, threads), softening);
}

namespace {

bool any_beyond_float(comm::Transport& ranks, std::span<const double> sources,
                      std::span<const double> targets, const Frame& frame, double softening,
                      Precision precision, int threads) {
    const auto any = [&](std::span<const double> points) {
        return may_go_beyond_float(points, frame, softening, precision, threads);
    };
    return comm::any_rank(ranks, any(sources) || any(targets));
}

} // namespace

std::optional<LostPair> pair_beyond_float_over_ranks(comm::Transport& ranks, std::span<const double> sources,
                                                     std::span<const double> targets, const Frame& frame,
                                                     double softening, Precision precision, int threads) {
    if (!any_beyond_float(ranks, sources, targets, frame, softening, precision, threads)) return std::nullopt;
    return pair_beyond_float(all_of_ranks(ranks, sources), all_of_ranks(ranks, targets), frame, softening,
                             precision, threads);
}

void require_float_range_over_ranks(comm::Transport& ranks, std::span<const double> sources,
                                    std::span<const double> targets, const Frame& frame, double softening,
                                    Precision precision, int threads) {
    if (any_beyond_float(ranks, sources, targets, frame, softening, precision, threads))
        require_float_range(all_of_ranks(ranks, sources), all_of_ranks(ranks, targets), frame, softening,
                            precision, threads);
}

bool need_double(comm::Transport* ranks, std::span<const double> sources, std::span<const double> targets,
                 double softening, Precision precision, bool may_have_it, int threads) {
    const auto frame = choose_frame(extents_of(ranks, sources, targets, threads), softening);
    if (may_have_it)
        return (ranks != nullptr ? pair_beyond_float_over_ranks(*ranks, sources, targets, frame, softening,
                                                                precision, threads)
                                 : pair_beyond_float(sources, targets, frame, softening, precision, threads))
            .has_value();
    if (ranks != nullptr)
        require_float_range_over_ranks(*ranks, sources, targets, frame, softening, precision, threads);
    else
        require_float_range(sources, targets, frame, softening, precision, threads);
    return false;
}

std::vector<double> all_of_ranks(comm::Transport& ranks, std::span<const double> mine) {
    return comm::all_gathered(ranks, mine, comm::all_values(ranks, static_cast<std::int64_t>(mine.size())));
}

} // namespace farfield
