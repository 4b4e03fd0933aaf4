// Which sums a pair loop makes, as a bit set and a template argument, on every machine.
#pragma once

#include <cstdint>

namespace farfield {

enum LoopOutputs : std::int32_t {
    potential_only = 1,
    field_only = 2,
    field_and_potential = 3,
    hessian_too = 4 ///< or'ed to one of them
};

} // namespace farfield
