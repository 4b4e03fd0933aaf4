// What the initial models share: checks of options, one random stream a body, the centre-of-mass frame.
#pragma once

#include "backend/threads/parallel.h"
#include "base/random.h"

#include <farfield/run.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace farfield {

/// @throws InvalidArgument "[initial] key = value is not allowed: it must be …" unless `ok`.
void require_initial(bool ok, std::string_view key, double value, std::string_view allowed);
/// @throws InvalidArgument unless 1 ≤ n ≤ 2^40.
void require_count(const InitialOptions& options, std::int64_t least = 1);

/// n bodies with ids 1…n and equal masses 1/n, all at rest at the origin.
Bodies equal_masses(std::int64_t n);

/// The stream of body `index` (from 0) of a model.
RandomStream body_stream(const InitialOptions& options, std::int64_t index);

/// Calls body(i, its stream) for each of options.n bodies, by threads.
template <class Body>
void each_body(const InitialOptions& options, int threads, const Body& body) {
    constexpr std::size_t bodies_a_task = 4096;
    parallel_parts(
        threads, static_cast<std::size_t>(options.n),
        [&](std::size_t begin, std::size_t end) {
            for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i)
                body(i, body_stream(options, i));
        },
        bodies_a_task);
}

/// Places body `index`.
void set_body(Bodies& bodies, std::int64_t index, const std::array<double, 3>& position,
              const std::array<double, 3>& velocity);

/// Moves bodies to the frame where the centre of mass rests at the origin. Compensated sums in body order.
void to_centre_of_mass(Bodies& bodies, int threads);

/// Takes the mean velocity away and leaves the places: for models whose few bodies far out would move their
/// cusp off the origin by more than its size.
void to_rest(Bodies& bodies, int threads);

constexpr std::array<double, 3> scaled(const std::array<double, 3>& v, double factor) {
    return {v[0] * factor, v[1] * factor, v[2] * factor};
}

} // namespace farfield
