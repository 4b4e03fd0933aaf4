// A build without CUDA: what needs a GPU says so.
#include "backend/cuda/devices.h"
#include "studies/m2l_2d/translations.h"

#include <farfield/error.h>

namespace farfield::m2l2d {

struct TranslationRuns::Impl {};

TranslationRuns::TranslationRuns(const Problem& /*problem*/) {
    throw BackendUnavailable(cuda::why_no_device());
}
TranslationRuns::TranslationRuns(TranslationRuns&&) noexcept = default;
TranslationRuns& TranslationRuns::operator=(TranslationRuns&&) noexcept = default;
TranslationRuns::~TranslationRuns() = default;
TranslationTime TranslationRuns::write_all(Variant /*variant*/, int /*repeats*/) {
    throw BackendUnavailable(cuda::why_no_device());
}
double TranslationRuns::fused(Variant /*variant*/, int /*repeats*/) {
    throw BackendUnavailable(cuda::why_no_device());
}
TransferTime TranslationRuns::transfers(int /*repeats*/) { throw BackendUnavailable(cuda::why_no_device()); }
double TranslationRuns::fill(int /*repeats*/) { throw BackendUnavailable(cuda::why_no_device()); }
cuda::RungResources TranslationRuns::resources(Variant /*variant*/, bool /*is_fused*/) const {
    throw BackendUnavailable(cuda::why_no_device());
}
std::string TranslationRuns::kernel_name(Variant /*variant*/, bool /*is_fused*/) const {
    throw BackendUnavailable(cuda::why_no_device());
}
std::vector<Number> TranslationRuns::fetch() const { throw BackendUnavailable(cuda::why_no_device()); }
double rated_memory_bytes() { throw BackendUnavailable(cuda::why_no_device()); }

} // namespace farfield::m2l2d
