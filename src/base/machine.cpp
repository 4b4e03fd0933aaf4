#include "base/machine.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <thread>

namespace farfield {
namespace {

std::string cpu_model() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        const auto colon = line.find(": ");
        if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
    }
    return "unknown";
}

int usable_cpus() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    return static_cast<int>(std::thread::hardware_concurrency());
}

std::string system_text() {
    utsname names{};
    if (uname(&names) != 0) return "unknown";
    return std::string(names.sysname) + " " + names.release + " " + names.machine;
}

std::string compiler_text() {
#if defined(__clang__)
    return "Clang " __clang_version__;
#else
    return "GCC " __VERSION__;
#endif
}

} // namespace

Machine this_machine() { return {cpu_model(), usable_cpus(), system_text(), compiler_text()}; }

std::int64_t physical_memory() {
    return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<std::int64_t>(sysconf(_SC_PAGE_SIZE));
}

} // namespace farfield
