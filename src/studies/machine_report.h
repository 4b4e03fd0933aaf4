// What Farfield can do on this machine: for `farfield info`, for reports and for bug reports.
#pragma once

#include <farfield/sum.h>

#include <string>
#include <vector>

namespace farfield {

struct MachineReport {
    std::string version;
    std::string compiler;
    std::string system;
    std::string cpu;
    int logical_cpus = 0;
    int threads = 0;               ///< used by default
    std::vector<Isa> isas_found;   ///< in this build and on this CPU, slowest first
    Isa isa_used = Isa::automatic; ///< what `automatic` stands for here
    bool cuda = false;             ///< in this build
    std::string cuda_driver;       ///< the newest CUDA the driver supports, as 13.0; empty without a driver
    std::string cuda_runtime;      ///< what this build was linked with; likewise
    std::vector<GpuInfo> gpus;
    std::string why_no_gpu;         ///< in one line; empty where there is one
    bool mpi = false;               ///< ranks of a launcher find each other
    std::string mpi_library;        ///< its MPI, or why there is none
    std::string cost_table;         ///< hash of the table that `auto` follows; empty where it cannot be read
    std::string cost_table_file;    ///< the user's; empty: the shipped table
    std::string cost_table_problem; ///< why it cannot be read
};

MachineReport machine_report();

/// As JSON text, two spaces an indent, newline at the end.
std::string to_json(const MachineReport& report);

/// As lines for people.
std::string to_text(const MachineReport& report);

} // namespace farfield
