// A build without CUDA: what needs a GPU says so.
#include "backend/cuda/devices.h"
#include "studies/hermite/evaluations.h"

#include <farfield/error.h>

namespace farfield::hermite {

struct EvaluationRuns::Impl {};

EvaluationRuns::EvaluationRuns(const Problem& /*problem*/) {
    throw BackendUnavailable(cuda::why_no_device());
}
EvaluationRuns::EvaluationRuns(EvaluationRuns&&) noexcept = default;
EvaluationRuns& EvaluationRuns::operator=(EvaluationRuns&&) noexcept = default;
EvaluationRuns::~EvaluationRuns() = default;
double EvaluationRuns::milliseconds(Variant /*variant*/, int /*repeats*/) {
    throw BackendUnavailable(cuda::why_no_device());
}
cuda::RungResources EvaluationRuns::resources(Variant /*variant*/) const {
    throw BackendUnavailable(cuda::why_no_device());
}
std::string EvaluationRuns::kernel_name(Variant /*variant*/) const {
    throw BackendUnavailable(cuda::why_no_device());
}
std::vector<float> EvaluationRuns::fetch() const { throw BackendUnavailable(cuda::why_no_device()); }

} // namespace farfield::hermite
