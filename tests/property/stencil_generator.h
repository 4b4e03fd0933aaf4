// Random programs of the stencil language, as text.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace farfield::testing {

/// One small world: a grid of 1 to 3 axes with fields, arrays, subdomains, a coefficient, updates, sources
/// and records, all with names that end in `suffix`, so that several of them make one program. Most are
/// without mistakes; the compiler says.
struct RandomWorld {
    std::string declarations; ///< up to the records
    std::vector<std::string> step;
};

RandomWorld random_world(std::uint64_t seed, const std::string& suffix);

/// Worlds side by side in one program.
std::string program_of(const std::vector<RandomWorld>& worlds);

} // namespace farfield::testing
