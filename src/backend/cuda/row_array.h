// An array on a GPU as rows of bytes, for those who move rows about.
#pragma once

#include "backend/cuda/memory.h"

#include <cstddef>

namespace farfield::cuda {

struct RowArray {
    std::byte* data = nullptr;
    std::size_t row_bytes = 0;
};

/// Copies rows [begin, end) to the same rows of `to`, which may be on another GPU.
inline void copy_rows(const RowArray& to, const RowArray& from, std::size_t begin, std::size_t end,
                      cudaStream_t stream) {
    const auto first = begin * to.row_bytes;
    copy(to.data + first, from.data + first, (end - begin) * to.row_bytes, stream);
}

} // namespace farfield::cuda
