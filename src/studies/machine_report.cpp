#include "studies/machine_report.h"

#include "backend/comm/mpi_job.h"
#include "backend/cuda/devices.h"
#include "backend/threads/parallel.h"
#include "base/json.h"
#include "base/machine.h"
#include "sums/costs/cost_file.h"

#include <farfield/error.h>
#include <farfield/version.h>

#include <fmt/format.h>
namespace farfield {
namespace {

std::string isa_list(const std::vector<Isa>& isas) {
    std::string out;
    for (auto isa : isas) out += fmt::format("{}{}", out.empty() ? "" : ", ", name_of(isa));
    return out;
}

void add_cost_table(MachineReport& report) {
    try {
        const auto& in_use = cost_table_in_use();
        report.cost_table = in_use.hash;
        report.cost_table_file = in_use.file.string();
    } catch (const Error& error) {
        report.cost_table_problem = error.what();
    }
}

std::string cost_table_text(const MachineReport& report) {
    if (!report.cost_table_problem.empty()) return "none: " + report.cost_table_problem;
    return fmt::format("{}, {}", report.cost_table,
                       report.cost_table_file.empty()
                           ? "shipped; `farfield tune` measures this machine instead"
                           : report.cost_table_file + " over the shipped one");
}

} // namespace

MachineReport machine_report() {
    auto machine = this_machine();
    MachineReport report;
    report.version = version();
    report.compiler = std::move(machine.compiler);
    report.system = std::move(machine.system);
    report.cpu = std::move(machine.cpu);
    report.logical_cpus = machine.logical_cpus;
    report.threads = thread_count(0);
    for (auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512})
        if (is_available(isa)) report.isas_found.push_back(isa);
    report.isa_used = best_isa();
    report.mpi = comm::has_mpi();
    report.mpi_library = comm::mpi_in_words();
    report.cuda = cuda::built_with_cuda();
    const auto versions = cuda::versions();
    report.cuda_driver = versions.driver;
    report.cuda_runtime = versions.runtime;
    report.gpus = gpus();
    report.why_no_gpu = why_no_gpu();
    add_cost_table(report);
    return report;
}

std::string to_json(const MachineReport& report) {
    Json json;
    json["version"] = report.version;
    json["compiler"] = report.compiler;
    json["system"] = report.system;
    json["cpu"] = report.cpu;
    json["logical_cpus"] = report.logical_cpus;
    json["threads"] = report.threads;
    for (auto isa : report.isas_found) json["isas_found"].push_back(name_of(isa));
    json["isa_used"] = name_of(report.isa_used);
    json["cuda"] = report.cuda;
    json["cuda_driver"] = report.cuda_driver;
    json["cuda_runtime"] = report.cuda_runtime;
    json["mpi"] = report.mpi;
    json["mpi_library"] = report.mpi_library;
    json["devices"] = Json::array();
    for (const auto& gpu : report.gpus)
        json["devices"].push_back({{"device", fmt::format("cuda:{}", gpu.index)},
                                   {"name", gpu.name},
                                   {"compute_capability", fmt::format("{}.{}", gpu.major, gpu.minor)},
                                   {"multiprocessors", gpu.multiprocessors},
                                   {"memory_bytes", gpu.memory_bytes}});
    json["why_no_gpu"] = report.why_no_gpu;
    json["cost_table"] = {{"hash", report.cost_table},
                          {"file", report.cost_table_file},
                          {"problem", report.cost_table_problem}};
    return json.dump(2) + '\n';
}

std::string to_text(const MachineReport& report) {
    std::string out = fmt::format("farfield {}\n", report.version);
    const auto add = [&](std::string_view what, std::string_view value) {
        out += fmt::format("  {:<12}{}\n", what, value);
    };
    add("compiler", report.compiler);
    add("system", report.system);
    add("CPU", fmt::format("{} ({} logical CPUs)", report.cpu, report.logical_cpus));
    add("ISA", fmt::format("{} used; found: {}", name_of(report.isa_used), isa_list(report.isas_found)));
    add("threads", fmt::format("{} by default", report.threads));
    add("CUDA", !report.cuda                 ? "not in this build: everything runs on the CPU"
                : report.cuda_driver.empty() ? "in this build"
                                             : fmt::format("runtime {}; the driver supports {}",
                                                           report.cuda_runtime, report.cuda_driver));
    add("MPI", report.mpi_library);
    if (report.gpus.empty()) add("devices", "none besides the CPU: " + report.why_no_gpu);
    for (const auto& gpu : report.gpus)
        add(gpu.index == 0 ? "devices" : "",
            fmt::format("cuda:{}  {}, compute capability {}.{}, {} multiprocessors, {:.1f} GiB", gpu.index,
                        gpu.name, gpu.major, gpu.minor, gpu.multiprocessors,
                        static_cast<double>(gpu.memory_bytes) / 0x1p30));
    add("cost table", cost_table_text(report));
    return out;
}

} // namespace farfield
