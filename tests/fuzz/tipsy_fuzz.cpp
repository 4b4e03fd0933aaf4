// Any bytes given to the Tipsy reader are refused with one of our errors, or give bodies of consistent
// lengths.
#include "io/tipsy.h"

#include <farfield/error.h>

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const auto bodies = farfield::parse_tipsy(std::as_bytes(std::span(data, size)), "fuzz.tipsy").bodies;
        const auto n = bodies.mass.size();
        if (n == 0 || bodies.position.size() != 3 * n || bodies.velocity.size() != 3 * n ||
            bodies.id.size() != n)
            std::abort();
    } catch (const farfield::InvalidArgument&) {
    } catch (const farfield::IoError&) {
    }
    return 0;
}
