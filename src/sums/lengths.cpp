#include "sums/lengths.h"

#include "base/text.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <system_error>
#include <vector>

namespace farfield {
namespace {

void check_lengths(const Lengths& lengths) {
    for (const double length : lengths)
        if (!(length >= 0.0 && std::isfinite(length)))
            throw InvalidArgument(
                fmt::format("a length is {}; lengths are finite and > 0, or 0 along open axes", length));
}

} // namespace

std::string text_of_lengths(const Lengths& lengths) {
    check_lengths(lengths);
    const bool equal = lengths[1] == lengths[0] && lengths[2] == lengths[0];
    return equal ? fmt::format("{}", lengths[0]) : joined(lengths, ",");
}

Lengths lengths_from_text(std::string_view text) {
    std::vector<double> read;
    for (std::size_t start = 0; start <= text.size();) {
        const auto comma = std::min(text.find(',', start), text.size());
        auto word = text.substr(start, comma - start);
        while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
        while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
        double length = 0.0;
        const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), length);
        if (code != std::errc() || end != word.data() + word.size())
            throw InvalidArgument(
                fmt::format("'{}' is no length; give one for all axes, such as 10, or three, "
                            "such as 10,10,20 (0 along open axes)",
                            word));
        read.push_back(length);
        start = comma + 1;
    }
    if (read.size() != 1 && read.size() != 3)
        throw InvalidArgument(fmt::format("'{}' has {} lengths; give one for all axes, or three, such as "
                                          "10,10,20 (0 along open axes)",
                                          text, read.size()));
    const Lengths lengths =
        read.size() == 1 ? Lengths{read[0], read[0], read[0]} : Lengths{read[0], read[1], read[2]};
    check_lengths(lengths);
    return lengths;
}

} // namespace farfield
