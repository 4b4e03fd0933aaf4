#include "ranks.h"

#include "options.h"

#include "backend/comm/mpi_job.h"

#include <farfield/error.h>

#include <fmt/format.h>

namespace farfield::app {
namespace {

// Ranks that fail alike come to their end at about the same time.
constexpr double seconds_to_wait = 2.0;

/// Started by a launcher with others.
bool is_one_of_several() { return comm::ranks_of_launcher() > 1; }

} // namespace

bool speaks() { return !is_one_of_several() || comm::rank_of_launcher() == 0; }

void require_one_process(std::string_view command) {
    if (is_one_of_several())
        throw InvalidArgument(
            fmt::format("farfield {} computes in one process, and {} were started together; "
                        "start it without mpirun",
                        command, comm::ranks_of_launcher()));
}

int end_with_failure(int code, const std::string& message) {
    if (speaks()) say(message);
    if (!is_one_of_several() || comm::all_ranks_arrive(seconds_to_wait)) return code;
    if (!speaks()) say_of_any_rank(fmt::format("rank {}: {}", comm::rank_of_launcher(), message));
    comm::end_job(code);
    return code;
}

} // namespace farfield::app
