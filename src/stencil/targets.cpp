// The table of targets; a new one is a row.
#include "stencil/targets.h"

#include "backend/comm/communicator_access.h"
#include "backend/cuda/devices.h"
#include "base/text.h"
#include "stencil/runtime/cpu/cpu_executor.h"
#include "stencil/runtime/cuda/cuda_executor.h"
#include "stencil/runtime/interpreter/interpreter.h"
#include "stencil/runtime/ranks/ranks_executor.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <array>

namespace farfield::stencil {
namespace {

using ProgramPtr = std::shared_ptr<const ir::Program>;

struct Target {
    std::string_view name;
    std::unique_ptr<Executor> (*make)(ProgramPtr, const ExecutorOptions&);
};

template <class T>
std::unique_ptr<Executor> make(ProgramPtr program, const ExecutorOptions& options) {
    return std::make_unique<T>(std::move(program), options);
}

constexpr std::array targets{
    Target{"interpreter", make<Interpreter>},
    Target{"cpu", make<cpu::CpuExecutor>},
    Target{"cuda", cuda::make_cuda_executor},
};

} // namespace

std::vector<std::string_view> target_names() {
    std::vector<std::string_view> names;
    names.reserve(targets.size());
    for (const auto& target : targets) names.push_back(target.name);
    return names;
}

bool has_gpus(int count) {
    return cuda::is_usable() && static_cast<int>(farfield::cuda::devices().size()) >= count;
}

std::unique_ptr<Executor> make_executor(std::string_view name, ProgramPtr program,
                                        const ExecutorOptions& options) {
    for (const auto& target : targets)
        if (target.name == name) return target.make(std::move(program), options);
    throw InvalidArgument(
        fmt::format("there is no target '{}'; choose one of {}", name, joined(target_names(), ", ")));
}

std::unique_ptr<Executor> make_executor(std::string_view name, ProgramPtr program,
                                        const ExecutorOptions& options, const Communicator& communicator) {
    if (communicator.size() == 1) return make_executor(name, std::move(program), options);
    auto own = options;
    if (const auto gpus = static_cast<int>(farfield::cuda::devices().size()); name == "cuda" && gpus > 0)
        own.device = (options.device + CommunicatorAccess::transport(communicator)->local_rank()) % gpus;
    return std::make_unique<ranks::RanksExecutor>(
        std::move(program), communicator,
        [&](ProgramPtr part) { return make_executor(name, std::move(part), own); }, options.time_tile,
        options.mpi_gpu);
}

} // namespace farfield::stencil
