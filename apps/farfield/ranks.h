// The processes that a launcher such as mpirun started together: rank 0 speaks and writes, all compute.
#pragma once

#include <string>
#include <string_view>

namespace farfield::app {

/// Rank 0, or alone: it alone prints.
bool speaks();
/// @throws InvalidArgument where a command that computes in one process was started as several
void require_one_process(std::string_view command);
/// The end of a process that failed: one message for all ranks that failed alike; otherwise the others are
/// ended. Returns the exit code.
int end_with_failure(int code, const std::string& message);

} // namespace farfield::app
