// Fewer bodies and steps, but the same kernels, where FARFIELD_GPU_TESTS=small: for tools that make kernels a
// thousand times slower, such as compute-sanitizer's racecheck.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <vector>

/// In tests that do what others do, with more bodies.
#define NEEDS_LARGE()                                                                                        \
    if (::farfield::gpu_test::small()) GTEST_SKIP() << "the kernels of smaller tests, with more bodies"

namespace farfield::gpu_test {

inline bool small() {
    const char* text = std::getenv("FARFIELD_GPU_TESTS");
    return text != nullptr && std::string_view(text) == "small";
}

template <class T>
T sized(T full, T if_small) {
    return small() ? if_small : full;
}

/// `sizes`; of these, where tests are to be small, those up to `most`.
inline std::vector<std::size_t> sizes_up_to(std::size_t most, std::vector<std::size_t> sizes) {
    if (small()) std::erase_if(sizes, [&](std::size_t n) { return n > most; });
    return sizes;
}

} // namespace farfield::gpu_test
