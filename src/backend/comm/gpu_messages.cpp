#include "backend/comm/gpu_messages.h"

#include "base/spelling.h"

#include <farfield/error.h>

#include <fmt/format.h>

namespace farfield::comm {

bool sends_gpu_memory(Transport& ranks, MpiGpu wanted) {
    const bool able = !any_rank(ranks, wanted == MpiGpu::off || !ranks.takes_gpu_memory());
    if (wanted == MpiGpu::on && !able)
        throw BackendUnavailable(fmt::format(
            "the MPI of these ranks does not say that its messages may hold memory of a GPU; use {}, which "
            "sends copies in memory of the host, or an MPI that was built with CUDA",
            spelled("mpi_gpu", "auto")));
    return able;
}

} // namespace farfield::comm
