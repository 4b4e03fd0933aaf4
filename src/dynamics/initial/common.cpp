#include "dynamics/initial/common.h"

#include "math/compensated_sum.h"

#include <farfield/error.h>

#include <fmt/format.h>

namespace farfield {
namespace {

constexpr std::uint32_t initial_purpose = 1; // of the random numbers: streams of other uses never meet these

void subtract_mean(std::vector<double>& vectors, const std::vector<double>& mass, int threads) {
    std::array<double, 4> sums{}; // along each axis, and of the masses
    parallel_for(threads, std::ssize(sums), [&](std::int64_t number) {
        const auto axis = static_cast<std::size_t>(number);
        CompensatedSum sum; // a million bodies are centred to rounding
        for (std::size_t i = 0; i < mass.size(); ++i)
            sum.add(axis < 3 ? mass[i] * vectors[3 * i + axis] : mass[i]);
        sums[axis] = sum.value();
    });
    const std::array mean{sums[0] / sums[3], sums[1] / sums[3], sums[2] / sums[3]};
    parallel_parts(threads, mass.size(), [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i)
            for (std::size_t axis = 0; axis < 3; ++axis) vectors[3 * i + axis] -= mean[axis];
    });
}

} // namespace

void require_initial(bool ok, std::string_view key, double value, std::string_view allowed) {
    if (!ok)
        throw InvalidArgument(
            fmt::format("[initial] {} = {} is not allowed: it must be {}", key, value, allowed));
}

void require_count(const InitialOptions& options, std::int64_t least) {
    constexpr std::int64_t most = std::int64_t{1} << 40;
    if (options.n < least || options.n > most)
        throw InvalidArgument(
            fmt::format("[initial] n = {} is not allowed for kind = \"{}\": it must be from {} to "
                        "{}; set n to the number of bodies",
                        options.n, name_of(options.kind), least, most));
}

Bodies equal_masses(std::int64_t n) {
    const auto count = static_cast<std::size_t>(n);
    Bodies bodies;
    bodies.position.resize(3 * count);
    bodies.velocity.resize(3 * count);
    bodies.mass.assign(count, 1.0 / static_cast<double>(n));
    bodies.id.resize(count);
    for (std::size_t i = 0; i < count; ++i) bodies.id[i] = i + 1;
    return bodies;
}

RandomStream body_stream(const InitialOptions& options, std::int64_t index) {
    return {options.seed, initial_purpose, static_cast<std::uint64_t>(index)};
}

void set_body(Bodies& bodies, std::int64_t index, const std::array<double, 3>& position,
              const std::array<double, 3>& velocity) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        bodies.position[3 * static_cast<std::size_t>(index) + axis] = position[axis];
        bodies.velocity[3 * static_cast<std::size_t>(index) + axis] = velocity[axis];
    }
}

void to_rest(Bodies& bodies, int threads) { subtract_mean(bodies.velocity, bodies.mass, threads); }

void to_centre_of_mass(Bodies& bodies, int threads) {
    subtract_mean(bodies.position, bodies.mass, threads);
    subtract_mean(bodies.velocity, bodies.mass, threads);
}

} // namespace farfield
