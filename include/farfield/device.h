// Where work is done: on the CPU, or on one or several GPUs of this machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {

/// Kinds of place for work. `automatic` takes the GPU if the cost table (docs/guide/gpus.md) says that it is
/// faster.
enum class DeviceKind : std::uint8_t { automatic, cpu, cuda };

/// Where work is to be done, as `--device` spells it: "auto", "cpu", "cuda", "cuda:1", "cuda:0,1".
struct DeviceChoice {
    DeviceKind kind = DeviceKind::automatic;
    /// cuda: a GPU for each part of the work, in CUDA's numbers; empty for the first GPU. A GPU may be named
    /// more than once and then plays several: results are the same, which is how several GPUs are tested on
    /// one.
    std::vector<int> gpus{};
    friend bool operator==(const DeviceChoice&, const DeviceChoice&) = default;
};

/// Reads the spelling above. @throws InvalidArgument naming the text and what is allowed.
DeviceChoice device_from_name(std::string_view name);

/// The spelling above; "cuda:0" for the first GPU by number, "cuda" where `gpus` is empty.
std::string name_of(const DeviceChoice& device);

/// How several GPUs are driven: a CPU thread each, or one CPU thread for all.
enum class MultiGpu : std::uint8_t { threads, single };

/// How several GPUs exchange data: staged in portable pinned memory, read from mapped pinned memory, staged
/// in write-combined pinned memory, or copied from GPU to GPU. `automatic` takes `peer` where the GPUs can.
enum class Exchange : std::uint8_t { automatic, host, mapped, write_combined, peer };

/// Whether messages between ranks hold memory of their GPUs, as an MPI that knows of GPUs allows, instead of
/// copies in pinned memory of the host. `automatic`: where the MPI says that it can.
enum class MpiGpu : std::uint8_t { automatic, on, off };

/// A GPU of this machine.
struct GpuInfo {
    int index = 0; ///< CUDA's number
    std::string name;
    int major = 0; ///< compute capability
    int minor = 0;
    int multiprocessors = 0;
    std::int64_t memory_bytes = 0;
};

/// The GPUs that can be used; empty where there is none, no driver, or no CUDA in this build.
std::vector<GpuInfo> gpus();

/// Why `gpus()` is empty, in one line with the remedy; empty where it is not.
std::string why_no_gpu();

std::string_view name_of(MultiGpu multi_gpu);
std::string_view name_of(Exchange exchange);
std::string_view name_of(MpiGpu mpi_gpu);

} // namespace farfield
