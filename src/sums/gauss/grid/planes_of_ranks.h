// Planes of a grid, along its last axis, that ranks have between them. Each rank spreads its sources into
// some planes; a plane belongs to one rank, which adds what all ranks spread into it and folds it along the
// other axes; and for values at its targets a rank needs planes as far as the fold along the last axis
// reaches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace farfield {
namespace comm {
class Transport;
}

/// Planes begin ≤ p < end; none where they are equal.
struct PlaneRange {
    std::int64_t begin = 0, end = 0;
    [[nodiscard]] std::int64_t size() const { return end - begin; }
    /// What both have.
    [[nodiscard]] PlaneRange with(const PlaneRange& other) const;
    friend bool operator==(const PlaneRange&, const PlaneRange&) = default;
};

/// The planes that one rank's points touch.
struct TouchedPlanes {
    PlaneRange sources, targets;
};

/// What goes where. Pure data.
class PlanesOfRanks {
public:
    /// @param touched  by each rank's points @param reach  of the fold
    PlanesOfRanks(std::int64_t planes, std::vector<TouchedPlanes> touched, std::int64_t reach);

    /// Those that belong to a rank.
    [[nodiscard]] PlaneRange own(std::size_t rank) const;
    /// Those that the fold along the last axis takes for a rank's targets.
    [[nodiscard]] PlaneRange folded(std::size_t rank) const;
    /// Those that `giver` spread into and `owner` has.
    [[nodiscard]] PlaneRange spread(std::size_t giver, std::size_t owner) const {
        return touched_[giver].sources.with(own(owner));
    }
    /// Those that `owner` has and `taker` folds.
    [[nodiscard]] PlaneRange wanted(std::size_t owner, std::size_t taker) const {
        return own(owner).with(folded(taker));
    }
    [[nodiscard]] std::size_t ranks() const { return touched_.size(); }

private:
    std::int64_t planes_, reach_;
    std::vector<TouchedPlanes> touched_;
};

/// A grid of planes of so many numbers, of which each rank has some at their places.
struct GridOfRanks {
    comm::Transport* ranks = nullptr;
    const PlanesOfRanks* plan = nullptr;
    double* numbers = nullptr;
    std::int64_t plane = 0;
    int threads = 1;
};

/// From what each rank spread to the sums of all at the owners' planes: this rank's own first, others after
/// it by their rank. Planes that this rank did not spread into need not be 0.
void add_spread_planes(const GridOfRanks& grid);
/// From planes at their owners to the planes that each rank folds.
void bring_wanted_planes(const GridOfRanks& grid);

} // namespace farfield
