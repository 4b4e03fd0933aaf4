// Any bytes given to the .npy reader are refused with one of our errors, or give an array that fits its
// shape.
#include "io/npy.h"

#include <farfield/error.h>

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const auto array = farfield::parse_npy(std::as_bytes(std::span(data, size)), "fuzz.npy");
        std::uint64_t elements = 1;
        bool empty = false;
        for (const auto extent : array.shape) {
            elements *= static_cast<std::uint64_t>(extent);
            empty = empty || extent == 0;
        }
        if ((empty ? 0 : elements) != array.values.size() || array.values.size() > size) std::abort();
    } catch (const farfield::InvalidArgument&) {
    } catch (const farfield::IoError&) {
    }
    return 0;
}
