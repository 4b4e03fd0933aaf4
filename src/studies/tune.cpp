#include "studies/tune.h"

#include "backend/cuda/devices.h"
#include "backend/threads/parallel.h"
#include "base/json.h"
#include "base/machine.h"
#include "base/spelling.h"
#include "io/atomic_file.h"
#include "studies/tune_fmm.h"
#include "studies/tune_measure.h"
#include "sums/costs/cost_file.h"

#include <farfield/error.h>
#include <farfield/version.h>

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <system_error>

namespace farfield {
namespace {

namespace fs = std::filesystem;

// Three digits: more would be noise.
double rounded(double value) { return std::strtod(fmt::format("{:.2e}", value).c_str(), nullptr); }

// The file to write, in a folder that is there.
fs::path file_of(const CostTuneTask& task) {
    if (!task.out.empty()) return task.out;
    auto path = user_cost_file();
    if (path.empty())
        throw InvalidArgument("there is no place for the cost table: none of FARFIELD_COST_TABLE, "
                              "XDG_CONFIG_HOME and HOME is set; name a file with --out");
    if (task.dry_run || !path.has_parent_path()) return path;
    std::error_code problem;
    fs::create_directories(path.parent_path(), problem);
    if (problem)
        throw IoError(fmt::format("{} cannot be made: {}; name another file with --out",
                                  path.parent_path().string(), problem.message()));
    return path;
}

CostTable earlier_costs(const fs::path& file, std::vector<std::string>& notes) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) return {};
    try {
        return read_cost_file(file);
    } catch (const Error& error) {
        notes.push_back(fmt::format("the earlier file counts for nothing: {}", error.what()));
        return {};
    }
}

struct Gpu {
    int index = 0;
    std::string name; ///< empty: none
    double seconds_to_ask = 0.0;
};

bool leaves_gpu_out(const CostTuneTask& task) {
    return task.device.kind == DeviceKind::cpu || task.method == Method::fmm;
}

// The GPU to measure.
Gpu gpu_of(const CostTuneTask& task) {
    Gpu gpu;
    if (leaves_gpu_out(task)) return gpu;
    if (!task.device.gpus.empty()) gpu.index = task.device.gpus.front();
    std::vector<cuda::DeviceInfo> found;
    gpu.seconds_to_ask = seconds_of([&] { found = cuda::devices(); });
    for (const auto& one : found)
        if (one.index == gpu.index) gpu.name = one.name;
    if (gpu.name.empty() && task.device.kind == DeviceKind::cuda) cuda::use_device(gpu.index); // says why
    return gpu;
}

void check(const CostTuneTask& task) {
    if (task.threads < 0 || task.repeats < 1 || task.points < 64)
        throw InvalidArgument(
            fmt::format("threads = {}, repeats = {}, points = {} is not allowed: they must be "
                        "at least 0, 1 and 64",
                        task.threads, task.repeats, task.points));
    if (task.method != Method::direct && task.method != Method::fmm && task.method != Method::automatic)
        throw InvalidArgument(fmt::format(
            "method '{}' has no costs to measure; use 'direct', 'fmm' or 'auto'", name_of(task.method)));
    if (task.method == Method::fmm && task.device.kind == DeviceKind::cuda)
        throw InvalidArgument(
            fmt::format("method 'fmm' runs on the CPU only; use {}", spelled("device", "cpu")));
    if (task.device.gpus.size() > 1) throw InvalidArgument("one device is measured at a time; name one GPU");
}

// The coefficient `name`, which may be of this GPU, in a table that may know the GPU by another word.
double cost_by_name(const CostTable& table, const std::string& name, const std::string& gpu_name) {
    const auto word = fmt::format("gpu.{}.", cost_word(gpu_name));
    const auto place = name.find(word);
    if (gpu_name.empty() || place == std::string::npos) return cost_of(table, name);
    auto pattern = name;
    return cost_of_gpu(table, pattern.replace(place, word.size(), "gpu.MODEL."), gpu_name);
}

// Fills the report's rows, hashes and the new content of the file.
void compare(const CostTable& measured, const std::string& gpu_name, CostTuneReport& report) {
    const auto shipped = shipped_cost_table();
    const auto earlier = earlier_costs(report.file, report.notes);
    const auto before = overlaid(shipped, earlier);
    const auto in_file = overlaid(earlier, measured);
    report.hash_before = hash_of(before);
    report.hash_after = hash_of(overlaid(shipped, in_file));
    for (const auto& [name, value] : measured.costs)
        report.rows.push_back(
            {name, cost_by_name(shipped, name, gpu_name), cost_by_name(before, name, gpu_name), value});
    report.text = cost_file_text(
        in_file, fmt::format("What sums cost on this machine; written by `farfield tune` of version {}.\n"
                             "CPU: {}, {} threads. GPU: {}.\n"
                             "Delete this file to go back to the table that comes with Farfield.",
                             version(), report.cpu, report.threads, report.gpu));
}

} // namespace

CostTuneReport tune_costs(const CostTuneTask& task) {
    check(task);
    stay_with_shipped_costs();
    CostTuneReport report;
    report.file = file_of(task);
    report.is_user_file = report.file == user_cost_file();
    report.threads = thread_count(task.threads);
    report.cpu = this_machine().cpu;
    const auto gpu = gpu_of(task);
    report.gpu = !gpu.name.empty()      ? gpu.name
                 : leaves_gpu_out(task) ? "left out"
                                        : "none: " + cuda::why_no_device();
    const MeasureSettings settings{task.threads, task.repeats, task.points, task.progress,
                                   task.stop_requested};
    CostTable measured;
    // The GPU first: the start of CUDA can be measured only once.
    const bool on_cpu = task.device.kind != DeviceKind::cuda;
    const bool done =
        (gpu.name.empty() || measure_gpu(settings, gpu.index, gpu.name, gpu.seconds_to_ask, measured)) &&
        (!on_cpu || task.method == Method::fmm || measure_cpu(settings, measured)) &&
        (!on_cpu || task.method == Method::direct || measure_fmm(settings, measured));
    report.stopped = !done;
    if (report.stopped) return report;
    for (auto& cost : measured.costs) cost.second = rounded(cost.second);

    compare(measured, gpu.name, report);
    if (!task.dry_run) {
        write_file_atomically(report.file, report.text);
        report.written = true;
    }
    return report;
}

std::string to_text(const CostTuneReport& report) {
    auto out = fmt::format("Costs of sums on {}, {} thread{}. GPU: {}.\n", report.cpu, report.threads,
                           report.threads == 1 ? "" : "s", report.gpu);
    std::size_t width = 0;
    for (const auto& row : report.rows) width = std::max(width, row.name.size());
    out += fmt::format("{:{}} {:>10} {:>10} {:>10}\n", "", width, "shipped", "before", "measured");
    for (const auto& row : report.rows)
        out += fmt::format("{:{}} {:>10.2e} {:>10.2e} {:>10.2e}\n", row.name, width, row.shipped, row.before,
                           row.measured);
    for (const auto& note : report.notes) out += note + '\n';
    out += fmt::format("Hash of the table: {} before, {} {}.\n", report.hash_before, report.hash_after,
                       report.written ? "now" : "with these figures");
    if (!report.written) return out + "Nothing was written, as --dry-run asks.\n";
    const auto file = report.file.string();
    if (report.is_user_file)
        out += "`auto` now follows these figures; delete the file to go back to the shipped table.\n";
    else
        out += fmt::format("To follow these figures, set FARFIELD_COST_TABLE={}.\n", file);
    return out + fmt::format("Files made:\n  {}\n", file);
}

std::string to_json(const CostTuneReport& report) {
    auto rows = Json::array();
    for (const auto& row : report.rows)
        rows.push_back({{"name", row.name},
                        {"shipped", row.shipped},
                        {"before", row.before},
                        {"measured", row.measured}});
    const Json all = {{"cpu", report.cpu},
                      {"threads", report.threads},
                      {"gpu", report.gpu},
                      {"file", report.file.string()},
                      {"written", report.written},
                      {"hash_before", report.hash_before},
                      {"hash_after", report.hash_after},
                      {"costs", rows},
                      {"notes", report.notes}};
    return all.dump(2) + '\n';
}

void write_json(const CostTuneReport& report, const fs::path& path) {
    write_file_atomically(path, to_json(report));
}

} // namespace farfield
