// The GPU that a study measures, if any, and what stands in the columns of a GPU that is not there.
#pragma once

#include "studies/reproduce.h"

#include <optional>
#include <string>

namespace farfield {

struct StudyDevice {
    std::optional<int> gpu{};
    std::string name;    ///< of the GPU, "none" or "left out"
    std::string missing; ///< what stands in a table where there is no GPU
    std::string why;     ///< there is none
};

/// @throws BackendUnavailable for a GPU that was asked for and cannot be used; InvalidArgument for several.
StudyDevice study_device(const DeviceChoice& device);

/// An empty study of this machine. @throws InvalidArgument for options out of range.
Study begin_study(std::string name, std::string title, const ReproduceOptions& options,
                  const StudyDevice& device);

} // namespace farfield
