#include "base/random.h"

namespace farfield {

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xD2511F53U} * counter[0];
        const std::uint64_t b = std::uint64_t{0xCD9E8D57U} * counter[2];
        counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
                   static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
        key[0] += 0x9E3779B9U;
        key[1] += 0xBB67AE85U;
    }
    return counter;
}

RandomStream::RandomStream(std::uint64_t seed, std::uint32_t purpose, std::uint64_t index)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      counter_{0, purpose, static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32)} {}

std::uint64_t RandomStream::next_bits() {
    if (half_used_) {
        half_used_ = false;
        return std::uint64_t{block_[3]} << 32 | block_[2];
    }
    block_ = philox4x32(counter_, key_);
    ++counter_[0];
    half_used_ = true;
    return std::uint64_t{block_[1]} << 32 | block_[0];
}

double RandomStream::next_uniform() { return static_cast<double>(next_bits() >> 11) * 0x1p-53; }

double RandomStream::next_open_uniform() { return (static_cast<double>(next_bits() >> 12) + 0.5) * 0x1p-52; }

} // namespace farfield
