// SHA-256 (FIPS 180-4), for names and check sums of cached files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace farfield::jit {

class Sha256 {
public:
    void add(std::string_view bytes);
    /// The length first, so that ("ab", "c") differs from ("a", "bc").
    void add_field(std::string_view bytes);
    /// 64 lower-case hexadecimal digits. Once, at the end.
    std::string hex();

private:
    void block(const unsigned char* bytes);
    std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<unsigned char, 64> rest_{};
    std::uint64_t size_ = 0;
};

std::string sha256_hex(std::string_view bytes);

} // namespace farfield::jit
