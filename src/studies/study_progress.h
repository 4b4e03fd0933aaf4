// How long measurements tell what they are doing.
#pragma once

#include <functional>
#include <string>

namespace farfield {

/// Called with what is measured next, such as "symmetric, double, N = 65536"; may be empty.
using StudyProgress = std::function<void(const std::string&)>;

} // namespace farfield
