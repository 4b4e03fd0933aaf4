// --mask, --time-tile and --block.
#include "stencil_options.h"

#include "options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace farfield::app {
namespace {

void set_block(const std::string& text, StencilOptions& options) {
    std::size_t axis = 0;
    std::string_view rest = text;
    options.block = {};
    while (true) {
        const auto cross = std::min(rest.find('x'), rest.size());
        const auto side = whole_number(rest.substr(0, cross));
        if (!side || *side < 1 || *side > 1'000'000 || axis == 3)
            throw InvalidArgument(
                fmt::format("--block {} is not understood; give whole numbers for x and y (and "
                            "z), for example --block 32x8",
                            text));
        options.block[axis++] = static_cast<int>(*side);
        if (cross == rest.size()) return;
        rest.remove_prefix(cross + 1);
    }
}

} // namespace

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

void add_mask(CommandParser app, const std::shared_ptr<StencilOptions>& options) {
    add_choice(app, "--mask", options->mask, "How cells outside a subdomain are left alone");
}

void add_tiles(CommandParser app, const std::shared_ptr<StencilOptions>& options) {
    app.add_read(
           "--time-tile",
           [options](const std::string& text) {
               const auto steps = whole_number(text);
               if (text != "auto" && (!steps || *steps < 1 || *steps > 1024))
                   throw InvalidArgument(fmt::format(
                       "--time-tile {} is not understood; give auto, or steps a pass from 1 to 1024", text));
               options->time_tile = text == "auto" ? 0 : static_cast<int>(*steps);
           },
           "Steps taken in one pass over memory")
        .type_name("auto|N")
        .default_text("auto");
    app.add_read(
           "--block", [options](const std::string& text) { set_block(text, *options); },
           "Cells of a GPU's tile, or threads of its block where updates are not fused; of a CPU the last "
           "side alone: rows (3D: planes) of one update done at a time")
        .type_name("XxY[xZ]");
}

} // namespace farfield::app
