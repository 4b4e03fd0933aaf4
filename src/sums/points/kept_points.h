// A caller's points, kept for later.
#pragma once

#include "backend/cuda/resident_array.h"
#include "base/aligned.h"

#include <farfield/array.h>

#include <cstdint>
#include <span>

namespace farfield {

/// Points of the host are copied; those of a GPU stay in its memory until the host asks for them, which
/// would take it longer than a sum takes the GPU.
class KeptPoints {
public:
    /// Keeps rows×columns of a checked view. @param stream  of a GPU: as ResidentCopy::take has it
    void keep(int threads, const ConstArrayView& view, std::int64_t rows, std::int64_t columns, void* stream);
    /// Those kept last, row-major.
    [[nodiscard]] std::span<const double> on_host();

private:
    RawVector<double> host_;
    cuda::ResidentCopy there_;
    bool is_there_ = false; ///< and not on the host
    std::int64_t rows_ = 0, columns_ = 0;
};

} // namespace farfield
