#include "stencil/tuning/choice.h"

#include "backend/jit/cache_folder.h"
#include "backend/jit/sha256.h"
#include "backend/threads/parallel.h"
#include "base/machine.h"

#include <farfield/device.h>
#include <farfield/version.h>

#include <fmt/format.h>

#include <sstream>

namespace farfield::stencil {
namespace {

constexpr std::string_view first_line = "farfield stencil choice 1";

std::string device_name(std::string_view target, const ExecutorOptions& options) {
    if (target != "cuda")
        return fmt::format("{}, {} threads", this_machine().cpu, thread_count(options.threads));
    for (const auto& gpu : gpus())
        if (gpu.index == options.device) return gpu.name;
    return "unknown";
}

} // namespace

std::string choice_name(std::string_view program, std::string_view target, const ExecutorOptions& options) {
    const auto key = fmt::format("{}\n{}\n{}\n{}", version(), target, device_name(target, options), program);
    return jit::sha256_hex(key) + ".choice";
}

std::optional<Choice> read_choice(const std::string& name) {
    const auto text = jit::CacheFolder::open().read(name);
    if (!text || !text->starts_with(first_line)) return std::nullopt;
    std::istringstream in(text->substr(first_line.size()));
    Choice choice;
    int mask = 0;
    in >> mask >> choice.time_tile >> choice.block[0] >> choice.block[1] >> choice.block[2] >> choice.fuse >>
        choice.cell_steps_per_second;
    if (!in || mask < 0 || mask > static_cast<int>(Mask::spans)) return std::nullopt;
    choice.mask = static_cast<Mask>(mask);
    return choice;
}

void write_choice(const std::string& name, const Choice& choice) {
    jit::CacheFolder::open().write(name, fmt::format("{}\n{} {} {} {} {} {:d} {}\n", first_line,
                                                     static_cast<int>(choice.mask), choice.time_tile,
                                                     choice.block[0], choice.block[1], choice.block[2],
                                                     choice.fuse, choice.cell_steps_per_second));
}

ExecutorOptions with_choice(ExecutorOptions options, const std::optional<Choice>& choice) {
    const bool open = options.mask == Mask::automatic && options.time_tile == 0 &&
                      options.block == std::array<int, 3>{} && options.fuse;
    if (!choice || !open) return options;
    options.mask = choice->mask;
    options.time_tile = choice->time_tile;
    options.block = choice->block;
    options.fuse = choice->fuse;
    return options;
}

} // namespace farfield::stencil
