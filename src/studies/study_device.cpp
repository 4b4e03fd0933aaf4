#include "studies/study_device.h"

#include "backend/cuda/devices.h"
#include "backend/threads/parallel.h"
#include "base/machine.h"

#include <farfield/error.h>

#include <fmt/core.h>

#include <utility>

namespace farfield {

StudyDevice study_device(const DeviceChoice& device) {
    if (device.gpus.size() > 1)
        throw InvalidArgument(fmt::format(
            "--device {} is not allowed: one GPU is measured at a time; name one of them", name_of(device)));
    if (device.kind == DeviceKind::cpu) return {{}, "left out", "-", "the CPU alone was asked for"};
    const auto found = cuda::devices();
    if (device.kind == DeviceKind::automatic && found.empty())
        return {{}, "none", "no GPU", cuda::why_no_device()};
    const int index = device.gpus.empty() ? 0 : device.gpus.front();
    cuda::use_device(index);
    return {index, found.at(static_cast<std::size_t>(index)).name, "", ""};
}

Study begin_study(std::string name, std::string title, const ReproduceOptions& options,
                  const StudyDevice& device) {
    if (options.repeats < 1)
        throw InvalidArgument(fmt::format("repeats is {}; it must be ≥ 1", options.repeats));
    if (options.most_points < 2)
        throw InvalidArgument(fmt::format("n is {}; it must be ≥ 2", options.most_points));
    Study study;
    study.name = std::move(name);
    study.title = std::move(title);
    study.cpu = this_machine().cpu;
    study.threads = thread_count(options.threads);
    study.device = device.name;
    study.repeats = options.repeats;
    if (!device.gpu) study.lacking = "Nothing was measured on a GPU: " + device.why + ".";
    return study;
}

} // namespace farfield
