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
    int threads = 0;                  ///< used by default
    std::vector<Isa> isas_found;      ///< in this build and on this CPU, slowest first
    Isa isa_used = Isa::automatic;    ///< what `automatic` stands for here
    bool cuda = false;                ///< in this build
    bool mpi = false;                 ///< in this build
    std::vector<std::string> devices; ///< accelerators that can be used
};

MachineReport machine_report();

/// As JSON text, two spaces an indent, newline at the end.
std::string to_json(const MachineReport& report);

/// As lines for people.
std::string to_text(const MachineReport& report);

} // namespace farfield
