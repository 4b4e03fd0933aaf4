#include "sums/gauss/grid/planes_of_ranks.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"
#include "base/aligned.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace farfield {
namespace {

constexpr int spread_tag = 721, wanted_tag = 722;
constexpr std::size_t numbers_of_a_part = std::size_t{1} << 15;

} // namespace

PlaneRange PlaneRange::with(const PlaneRange& other) const {
    const auto first = std::max(begin, other.begin);
    return {first, std::max(first, std::min(end, other.end))};
}

PlanesOfRanks::PlanesOfRanks(std::int64_t planes, std::vector<TouchedPlanes> touched, std::int64_t reach)
    : planes_(planes), reach_(reach), touched_(std::move(touched)) {}

PlaneRange PlanesOfRanks::own(std::size_t rank) const {
    const auto count = static_cast<std::int64_t>(ranks()), r = static_cast<std::int64_t>(rank);
    return {planes_ * r / count, planes_ * (r + 1) / count};
}

PlaneRange PlanesOfRanks::folded(std::size_t rank) const {
    const auto& at = touched_[rank].targets;
    if (at.size() == 0) return at;
    return {std::max<std::int64_t>(0, at.begin - reach_), std::min(planes_, at.end + reach_)};
}

void add_spread_planes(const GridOfRanks& grid) {
    const auto& plan = *grid.plan;
    const auto rank = static_cast<std::size_t>(grid.ranks->rank());
    const auto numbers = [&](std::int64_t planes) { return static_cast<std::size_t>(planes * grid.plane); };
    std::size_t room = 0;
    for (std::size_t r = 0; r < plan.ranks(); ++r)
        if (r != rank) room += numbers(plan.spread(r, rank).size());
    RawVector<double> arrived(room);
    std::vector<comm::ConstBytes> to;
    std::vector<comm::Bytes> from;
    std::size_t place = 0;
    for (std::size_t r = 0; r < plan.ranks(); ++r) {
        const auto leaving = r == rank ? PlaneRange() : plan.spread(rank, r);
        const auto coming = r == rank ? PlaneRange() : plan.spread(r, rank);
        const double* const first = grid.numbers + leaving.begin * grid.plane;
        to.push_back(comm::bytes_of(std::span(first, numbers(leaving.size()))));
        from.push_back(comm::bytes_of(std::span(arrived).subspan(place, numbers(coming.size()))));
        place += numbers(coming.size());
    }
    comm::exchange(*grid.ranks, to, from, spread_tag);
    const auto own = plan.own(rank), mine = plan.spread(rank, rank);
    parallel_parts(
        grid.threads, static_cast<std::size_t>(own.size()),
        [&](std::size_t begin, std::size_t end) {
            const PlaneRange part{own.begin + static_cast<std::int64_t>(begin),
                                  own.begin + static_cast<std::int64_t>(end)};
            for (auto plane = part.begin; plane < part.end; ++plane)
                if (plane < mine.begin || plane >= mine.end)
                    std::fill_n(grid.numbers + plane * grid.plane, grid.plane, 0.0);
            const double* others = arrived.data();
            for (std::size_t r = 0; r < plan.ranks(); ++r) {
                if (r == rank) continue;
                const auto coming = plan.spread(r, rank), some = coming.with(part);
                const double* const at = others + (some.begin - coming.begin) * grid.plane;
                double* const sum = grid.numbers + some.begin * grid.plane;
                for (std::int64_t i = 0; i < some.size() * grid.plane; ++i) sum[i] += at[i];
                others += numbers(coming.size());
            }
        },
        std::max<std::size_t>(1, numbers_of_a_part / static_cast<std::size_t>(grid.plane)));
}

void bring_wanted_planes(const GridOfRanks& grid) {
    const auto& plan = *grid.plan;
    const auto rank = static_cast<std::size_t>(grid.ranks->rank());
    const auto place = [&](const PlaneRange& planes) {
        return std::span(grid.numbers + planes.begin * grid.plane,
                         static_cast<std::size_t>(planes.size() * grid.plane));
    };
    std::vector<comm::ConstBytes> to;
    std::vector<comm::Bytes> from;
    for (std::size_t r = 0; r < plan.ranks(); ++r) {
        to.push_back(
            comm::bytes_of(std::span<const double>(place(r == rank ? PlaneRange() : plan.wanted(rank, r)))));
        from.push_back(comm::bytes_of(place(r == rank ? PlaneRange() : plan.wanted(r, rank))));
    }
    comm::exchange(*grid.ranks, to, from, wanted_tag);
}

} // namespace farfield
