// host_copy in a build without CUDA, where all memory is the host's.
#include "backend/cuda/host_copy.h"

#include "base/arrays.h"

#include <algorithm>

namespace farfield::cuda {

std::vector<double> host_copy(const ConstArrayView& view, std::int64_t rows, std::int64_t columns) {
    return copy_of(view, rows, columns);
}

void wait_for_stream(void* /*stream*/) {}

void write_anywhere(const ArrayView& view, const double* values, std::int64_t rows, std::int64_t columns) {
    write_values(view, values, rows, columns);
}

void copy_anywhere(std::span<std::byte> to, std::span<const std::byte> from) {
    std::copy_n(from.begin(), to.size(), to.begin());
}

} // namespace farfield::cuda
