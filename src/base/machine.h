// What machine and what compiler this is, for reports.
#pragma once

#include <cstdint>
#include <string>

namespace farfield {

struct Machine {
    std::string cpu;      ///< model name, such as "AMD EPYC 9654 96-Core Processor"; "unknown" where not told
    int logical_cpus;     ///< that this process may use
    std::string system;   ///< "Linux 6.1.0 x86_64"
    std::string compiler; ///< that built the library
};

Machine this_machine();

/// Bytes of main memory.
std::int64_t physical_memory();

} // namespace farfield
