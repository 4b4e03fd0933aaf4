// Any text as a case file, its first line as an override: either a case or an InvalidArgument, nothing else.
#include "dynamics/case_file/case_file.h"

#include <farfield/error.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

// What every accepted case promises to the code behind it.
void check(const farfield::Case& c) {
    const bool sound = c.time.step > 0 && std::isfinite(c.time.step) && std::isfinite(c.time.end) &&
                       c.force.softening >= 0 && std::isfinite(c.force.softening) && c.force.G > 0 &&
                       c.output.snapshot_every >= 0 && !c.name.empty() && c.initial.n >= 0 &&
                       c.force.theta >= 0 && c.force.theta <= 1;
    if (!sound) std::abort();
    for (const double length : c.force.period)
        if (!(length >= 0) || std::isinf(length)) std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    // Bodies are not read here: their readers have targets of their own.
    if (text.find("path") != std::string_view::npos) return 0;
    const auto line = text.substr(0, text.find('\n'));
    try {
        check(farfield::parse_case(text, "fuzz.toml"));
    } catch (const farfield::InvalidArgument&) {
    }
    try {
        const std::string minimal = "[initial]\nkind = 'plummer'\nn = 10\n[time]\nstep = 1\nend = 1\n";
        check(farfield::parse_case(minimal, "fuzz.toml", {std::string(line)}));
    } catch (const farfield::InvalidArgument&) {
    }
    return 0;
}
