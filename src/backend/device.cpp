// device.h: the spelling of devices, and the GPUs of this machine.
#include <farfield/device.h>

#include "backend/cuda/devices.h"
#include "base/text.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace farfield {
namespace {

constexpr std::string_view cuda_prefix = "cuda:";

[[noreturn]] void refuse(std::string_view name) {
    constexpr std::array<std::string_view, 3> kinds{"auto", "cpu", "cuda"};
    const auto kind = name.substr(0, name.find(':'));
    const auto near =
        kind == "gpu" ? "cuda" : nearest_word(kind, kinds); // one letter from "cpu", but not meant so
    const bool is_near = !near.empty() && near != kind;
    throw InvalidArgument(
        fmt::format("device '{}' is not known; use 'auto', 'cpu', 'cuda', one GPU as 'cuda:1' "
                    "or several as 'cuda:0,1'{}",
                    name, is_near ? fmt::format("; did you mean '{}'?", near) : ""));
}

std::vector<int> read_numbers(std::string_view list, std::string_view name) {
    std::vector<int> numbers;
    for (;;) {
        const auto comma = list.find(',');
        const auto word = list.substr(0, comma);
        int number = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (error != std::errc{} || end != word.data() + word.size() || number < 0) refuse(name);
        numbers.push_back(number);
        if (comma == std::string_view::npos) return numbers;
        list.remove_prefix(comma + 1);
    }
}

} // namespace

DeviceChoice device_from_name(std::string_view name) {
    if (name == "auto") return {};
    if (name == "cpu") return {.kind = DeviceKind::cpu};
    if (name == "cuda") return {.kind = DeviceKind::cuda};
    if (!name.starts_with(cuda_prefix)) refuse(name);
    return {.kind = DeviceKind::cuda, .gpus = read_numbers(name.substr(cuda_prefix.size()), name)};
}

std::string name_of(const DeviceChoice& device) {
    if (device.kind == DeviceKind::automatic) return "auto";
    if (device.kind == DeviceKind::cpu) return "cpu";
    return device.gpus.empty() ? "cuda" : fmt::format("{}{}", cuda_prefix, joined(device.gpus, ","));
}

std::vector<GpuInfo> gpus() {
    std::vector<GpuInfo> out;
    for (const auto& device : cuda::devices())
        out.push_back({.index = device.index,
                       .name = device.name,
                       .major = device.major,
                       .minor = device.minor,
                       .multiprocessors = device.multiprocessors,
                       .memory_bytes = device.memory_bytes});
    return out;
}

std::string why_no_gpu() { return cuda::why_no_device(); }

} // namespace farfield
