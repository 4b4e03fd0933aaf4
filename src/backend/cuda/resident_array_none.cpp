// ResidentArray in a build without CUDA: there is none.
#include "backend/cuda/devices.h"
#include "backend/cuda/resident_array.h"

#include <farfield/error.h>

namespace farfield::cuda {

ResidentArray::ResidentArray(std::span<const double> /*values*/, std::int64_t /*columns*/, int /*gpu*/)
    : rows_(0), columns_(0), gpu_(0) {
    throw BackendUnavailable(why_no_device());
}

ArrayView ResidentArray::view() const { return {}; }

void ResidentCopy::take(const ConstArrayView& /*view*/, std::int64_t /*rows*/, std::int64_t /*columns*/,
                        void* /*stream*/) {
    throw BackendUnavailable(why_no_device());
}

} // namespace farfield::cuda
