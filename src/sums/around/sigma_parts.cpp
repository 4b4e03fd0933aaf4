#include "sums/around/sigma_parts.h"

#include <farfield/error.h>
#include <farfield/sum_sigmas.h>

#include <fmt/format.h>

#include <cstddef>
#include <map>

namespace farfield {

std::vector<SigmaSources> group_by_sigma(std::span<const double> sigmas) {
    std::map<double, Rows> rows;
    for (std::size_t i = 0; i < sigmas.size(); ++i) {
        if (!(sigmas[i] > 0.0))
            throw InvalidArgument(fmt::format(
                "the width sigma of row {} is {}; widths are > 0: correct or remove the row", i, sigmas[i]));
        rows[sigmas[i]].push_back(static_cast<std::int64_t>(i));
        if (rows.size() > most_sigmas)
            throw InvalidArgument(
                fmt::format("there are more than {} different widths sigma, and each takes a sum of its own; "
                            "round them to fewer, such as to powers of 1.1",
                            most_sigmas));
    }
    std::vector<SigmaSources> out;
    out.reserve(rows.size());
    for (auto& [sigma, of_it] : rows) out.push_back({sigma, std::move(of_it)});
    return out;
}

std::vector<SigmaPart> parts_of(std::span<const SigmaSources> groups, std::int64_t sources, bool self,
                                bool without_own) {
    std::vector<SigmaPart> out;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        if (!self || (!without_own && groups.size() > 1)) {
            out.push_back({.group = g, .all = true});
            continue;
        }
        const auto& own = groups[g].rows;
        out.push_back({.group = g, .self = true, .targets = own});
        if (groups.size() == 1) continue;
        SigmaPart others{.group = g};
        auto next = own.begin();
        for (std::int64_t i = 0; i < sources; ++i)
            if (next != own.end() && *next == i)
                ++next;
            else
                others.targets.push_back(i);
        out.push_back(std::move(others));
    }
    return out;
}

std::vector<double> rows_at(std::span<const double> values, std::size_t width, const Rows& rows) {
    std::vector<double> out;
    out.reserve(rows.size() * width);
    for (const auto row : rows) {
        const auto first =
            values.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(row) * width);
        out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(width));
    }
    return out;
}

} // namespace farfield
