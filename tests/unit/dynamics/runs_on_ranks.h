// Runs on ranks that are threads of this process, and their files beside those of one.
#pragma once

#include "run_support.h"

#include "backend/comm/communicator_access.h"
#include "backend/comm/in_process.h"

#include <farfield/run.h>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace farfield::test {

/// Runs on so many ranks; the stop of rank `stopper` comes at its first look. Returns what rank 0 does.
inline RunResult run_on(int ranks, const Case& simulation_case, const RunSettings& settings,
                        int stopper = -1) {
    RunResult result;
    std::atomic<int> alike{0};
    comm::run_ranks(ranks, [&](std::shared_ptr<comm::Transport> transport) {
        const int rank = transport->rank();
        auto mine = simulation_case;
        mine.force.threads = 1;
        mine.force.communicator = CommunicatorAccess::of(std::move(transport));
        const auto here = run_case(mine, settings,
                                   {.progress = {},
                                    .stop_requested = [=] { return rank == stopper; },
                                    .message = [rank](const std::string&) { EXPECT_EQ(rank, 0); }});
        if (rank == 0) result = here;
        if (rank == 0 || here.files.empty()) ++alike;
    });
    EXPECT_EQ(alike, ranks);
    return result;
}

/// The errors that forces were found to have, without them the text of a file of diagnostics.
inline std::vector<double> taken_errors(std::string& diagnostics) {
    std::istringstream lines(diagnostics);
    std::string line, kept;
    std::vector<double> errors;
    std::getline(lines, line); // the names
    if (!line.ends_with(",acceleration_error,potential_error")) return errors;
    while (std::getline(lines, line)) {
        auto end = line.size();
        for (int column = 0; column < 2; ++column) {
            end = line.rfind(',', end - 1);
            errors.push_back(std::stod(line.substr(end + 1)));
        }
        kept += line.substr(0, end) + "\n";
    }
    diagnostics = kept;
    return errors;
}

/// The same bytes, but for the last digits of those errors: each rank adds up its part of the exact sums.
inline void expect_results_of(const fs::path& out, const fs::path& one) {
    auto found = results_in(out), expected = results_in(one);
    const auto found_errors = taken_errors(found["diagnostics.csv"]);
    const auto errors = taken_errors(expected["diagnostics.csv"]);
    EXPECT_EQ(found, expected);
    ASSERT_EQ(found_errors.size(), errors.size());
    for (std::size_t k = 0; k < errors.size(); ++k) EXPECT_NEAR(found_errors[k], errors[k], 1e-9 * errors[k]);
}

} // namespace farfield::test
