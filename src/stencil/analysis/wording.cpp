// Cells and regions in messages.
#include "stencil/analysis/wording.h"

#include "base/text.h"

#include <fmt/format.h>

#include <array>
#include <span>

namespace farfield::stencil {

std::string cell_text(const Grid& grid, const std::array<std::int64_t, 3>& cell) {
    if (grid.axes.size() == 1) return fmt::format("{}", cell[0]);
    return fmt::format("({})", joined(std::span(cell).first(grid.axes.size()), ", "));
}

std::string quoted_text(const lang::SourceText& source, Span span) {
    constexpr std::size_t longest = 40;
    std::string out;
    for (const char c : source.text(span))
        if (c != '\n' && c != '\r' && (c != ' ' || !out.ends_with(' '))) out += c;
    if (out.size() > longest) {
        auto cut = longest;
        while (cut > 0 && (static_cast<unsigned char>(out[cut]) & 0xC0U) == 0x80U)
            --cut; // within a character
        out = out.substr(0, cut) + "…";
    }
    return "'" + out + "'";
}

std::string region_text(const lang::SourceText& source, const lang::Expr* where) {
    return where == nullptr ? "the whole grid" : quoted_text(source, where->span);
}

std::string cells_text(std::int64_t count) { return fmt::format("{} cell{}", count, count == 1 ? "" : "s"); }

std::string bytes_text(double bytes) {
    constexpr std::array units{"bytes", "KB", "MB", "GB", "TB", "PB"};
    std::size_t unit = 0;
    for (; bytes >= 1000 && unit + 1 < units.size(); ++unit) bytes /= 1000;
    return fmt::format("{:.3g} {}", bytes, units[unit]);
}

char axis_letter(const Grid& grid, std::size_t axis) {
    return "xyz"[static_cast<std::size_t>(grid.axes[axis].coordinate)];
}

std::array<std::int64_t, 3> first_cell(const ir::CellSet& set) {
    for (std::int64_t r = 0; r < set.rows(); ++r)
        if (!set.row(r).empty()) return {set.row(r).front().first, r % set.shape()[1], r / set.shape()[1]};
    return {};
}

} // namespace farfield::stencil
