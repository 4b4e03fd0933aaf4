// The widths of windows, and the reaches of rows T, that a GPU has loops for.
#pragma once

namespace farfield {

/// One of up to `most_float_width` in float, in two and three dimensions; one from `least_double_width` to
/// `most_double_width` in double.
inline constexpr int least_grid_width = 3, most_float_width = 8;
inline constexpr int least_double_width = 7, most_double_width = 14;
/// The largest of rules that have such windows.
inline constexpr int most_float_reach = 16, most_double_reach = 22;

} // namespace farfield
