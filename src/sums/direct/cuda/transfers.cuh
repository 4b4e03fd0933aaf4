// Arrays of callers, on the host or on the current GPU, any strides, in and out of contiguous doubles on the
// GPU.
#pragma once

#include "backend/cuda/memory.h"
#include "sums/direct/cuda/layout.cuh"
#include "sums/points/prepared.h"

#include <farfield/array.h>

#include <array>
#include <string_view>

namespace farfield::cuda {

/// What reading an array found.
struct ReadResult {
    std::array<Extent, 3> ranges{}; ///< of each column
    long long bad = -1;             ///< the place in `out` of the first element that is not finite
    double bad_value = 0.0;
};

/// The buffers that copying needs, kept from call to call.
class Transfers {
public:
    explicit Transfers(int device) : device_(device) {}

    /// Reads a checked view of rows×columns (1, 2 or 3 of them) into `out`, whose rows are `out_row` numbers
    /// apart (0: columns), and waits for it.
    /// @throws InvalidArgument where the memory belongs to another GPU.
    ReadResult read(const ConstArrayView& view, long long rows, int columns, double* out,
                    std::string_view what, cudaStream_t stream, int out_row = 0);

    /// Writes rows×columns values of the GPU into a checked view and waits for it.
    void write(const double* values, const ArrayView& view, long long rows, int columns, cudaStream_t stream);

    /// @throws InvalidArgument where the memory belongs to another GPU.
    void check_device(const ConstArrayView& view, std::string_view what) const;

private:
    int device_;
    DeviceArray<std::byte> staging_;
    DeviceArray<Bounds> bounds_;
    PinnedArray<Bounds> seen_bounds_;
};

} // namespace farfield::cuda
