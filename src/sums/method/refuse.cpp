#include "sums/method/refuse.h"

#include "base/spelling.h"

#include <farfield/error.h>

#include <fmt/core.h>

namespace farfield {

void refuse_coincident(bool self, std::int64_t target, std::int64_t source, bool rounded,
                       std::string_view softener) {
    const char* where = rounded ? " once rounded to float" : "";
    const auto remedy =
        fmt::format("{}remove one of them, or use {}",
                    softener.empty() ? std::string() : fmt::format("set {} > 0, ", spelled(softener)),
                    spelled("coincident", "skip"));
    if (self)
        throw InvalidArgument(
            fmt::format("sources: rows {} and {} are at the same place{} and nothing softens them; {}",
                        target, source, where, remedy));
    throw InvalidArgument(
        fmt::format("targets: row {} is at the place of row {} of the sources{} and nothing "
                    "softens them; {}",
                    target, source, where, remedy));
}

std::string why_not_so_many_gpus(const SumOptions& options, const DeviceChoice& device) {
    if (options.communicator.size() == 1 || device.gpus.size() <= 1) return {};
    return fmt::format("each rank has one GPU, not {}; use {}", device.gpus.size(),
                       spelled("device", "cuda"));
}

std::string why_no_bounds(std::string_view method) {
    return fmt::format("method '{}' has no bounds of its errors; leave {} out or use {}", method,
                       spelled("guaranteed"), spelled("method", "fmm"));
}

} // namespace farfield
