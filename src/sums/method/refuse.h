// What methods say alike about points that meet.
#pragma once

#include <cstdint>

namespace farfield {

/// @throws InvalidArgument naming both rows of a coincident pair. `self`: targets are the sources; `rounded`:
/// they meet only once rounded to float.
[[noreturn]] void refuse_coincident(bool self, std::int64_t target, std::int64_t source, bool rounded);

} // namespace farfield
