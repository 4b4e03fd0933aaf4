// The paths of few bodies: through where they were at several moments, with their velocities.
#pragma once

#include <farfield/simulation.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace farfield::picture {

inline constexpr std::int64_t few_bodies = 200; ///< fewer are drawn as discs, each seen by itself
inline bool are_few(const Bodies& bodies) { return bodies.size() < few_bodies; }

using PathPoint = std::array<double, 3>;

/// The path of one body. It has a gap where two moments are so far apart that the path between them is not
/// known: if the body turns by more than about 150 degrees or does not get as far as its speed would take it.
struct Trail {
    std::vector<std::vector<PathPoint>> lines;
    std::size_t gaps = 0;
};

/// Where bodies were: a moment after the other, in each the bodies by growing ids.
struct TrailMoments {
    std::vector<std::uint64_t> ids; ///< growing
    std::vector<double> times;      ///< growing
    std::vector<double> positions, velocities;
};

class Trails {
public:
    Trails() = default;
    /// Goes on from moments; without them where their lengths do not fit together.
    explicit Trails(TrailMoments moments);

    /// Where the bodies are at a time; moments may come in any order, one that is there already is left out.
    /// Beyond a few thousand, or fewer of more bodies, every second moment is forgotten.
    /// @throws InvalidArgument where these are not the bodies of the other moments.
    void add(double time, const Bodies& bodies);

    [[nodiscard]] const TrailMoments& moments() const { return moments_; }
    /// The path up to a time of the body with an id, empty for one that is not known.
    [[nodiscard]] Trail of(std::uint64_t id, double until) const;

private:
    [[nodiscard]] std::size_t width() const { return 3 * moments_.ids.size(); }
    void thin();

    TrailMoments moments_;
};

/// The ids of bodies, numbered from 1 where they have none.
std::vector<std::uint64_t> ids_of(const Bodies& bodies);

} // namespace farfield::picture
