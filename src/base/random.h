// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror & Shaw 2011, "Parallel random numbers: as
// easy as 1, 2, 3"). A number depends on (seed, purpose, index, place in the stream) alone, never on what was
// drawn before for others: body i gets the same numbers whatever the number of bodies, threads or machines.
#pragma once

#include <array>
#include <cstdint>

namespace farfield {

/// One block of Philox4x32-10: 128 random bits for a 128-bit counter and a 64-bit key.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

/// The numbers of one item (a body, say) for one purpose. Each of 2^32 blocks holds two doubles.
class RandomStream {
public:
    RandomStream(std::uint64_t seed, std::uint32_t purpose, std::uint64_t index);

    /// 64 random bits.
    std::uint64_t next_bits();
    /// A multiple of 2^-53, uniform in [0, 1).
    double next_uniform();
    /// An odd multiple of 2^-53, uniform in (0, 1): never 0, never 1.
    double next_open_uniform();

private:
    std::array<std::uint32_t, 2> key_;
    std::array<std::uint32_t, 4> counter_; ///< block, purpose, index (low, high)
    std::array<std::uint32_t, 4> block_{};
    bool half_used_ = false;
};

} // namespace farfield
