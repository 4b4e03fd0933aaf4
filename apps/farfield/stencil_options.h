// Options that several stencil commands share.
#pragma once

#include "parser.h"

#include <farfield/stencil.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace farfield::app {

/// The whole of `text` as a number.
std::optional<std::int64_t> whole_number(std::string_view text);

/// --mask; @param options are kept alive.
void add_mask(CommandParser app, const std::shared_ptr<StencilOptions>& options);
/// --time-tile and --block, alike.
void add_tiles(CommandParser app, const std::shared_ptr<StencilOptions>& options);

} // namespace farfield::app
