// What is said of a sum from files to files: a report as JSON, and a few lines for people.
#pragma once

#include "sums/run/sum_files.h"

#include <farfield/density.h>
#include <farfield/sum.h>
#include <farfield/sum_sigmas.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace farfield {

/// Seconds of the stages, and what each execution told.
struct SumTimings {
    double read = 0.0;
    double plan = 0.0;
    double write = 0.0;
    double total = 0.0;
    std::int64_t vectors = 1; ///< of strengths
    std::vector<SumReport> executions;
    std::optional<DensityReport> density{}; ///< of a density; its sum is the last execution's
    std::optional<SigmasReport> sigmas{};   ///< of a sum of several widths, likewise
};

std::string sum_report_json(const SumFilesTask& task, const SumTimings& timings);
/// In one or two lines, with the files made.
std::string sum_summary(const SumFilesTask& task, const SumTimings& timings);

} // namespace farfield
