// What methods say alike: about points that meet, and bounds that they have not.
#pragma once

#include "sums/kernels/kernel.h"

#include <farfield/sum_options.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace farfield {

/// @throws InvalidArgument naming both rows of a coincident pair. `self`: targets are the sources; `rounded`:
/// they meet only once rounded to float. `softener`: the option that would keep them apart, or empty.
[[noreturn]] void refuse_coincident(bool self, std::int64_t target, std::int64_t source, bool rounded,
                                    std::string_view softener = "softening");

/// The option that keeps points of a kernel apart, or nothing.
inline std::string_view softener_of(const KernelInfo& kernel) {
    return kernel.softens ? "softening" : kernel.has_sigma ? "sigma" : "";
}

/// The methods that sum boxes which are periodic along all axes, or along some: "--method a or --method b".
std::string methods_of_boxes(bool all_axes);

/// Why this method does not take SumOptions::period, with the methods that do.
std::string why_no_period(std::string_view method);

/// Why ranks do not have several GPUs each; empty where they do not.
std::string why_not_so_many_gpus(const SumOptions& options, const DeviceChoice& device);

/// Why this method does not take SumOptions::guaranteed.
std::string why_no_bounds(std::string_view method);

} // namespace farfield
