// Four numbers that move in 16-byte pieces.
#pragma once

namespace farfield::cuda {

template <class Real>
struct alignas(16) Vec4 {
    Real x, y, z, w;
};

} // namespace farfield::cuda
