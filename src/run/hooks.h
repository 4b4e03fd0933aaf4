// What runs tell their caller and ask of it. A hook that the caller left empty is not called.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>

namespace farfield {

/// `Hooks` of a run have the members `message` and `stop_requested`.
template <class Hooks>
void say(const Hooks& hooks, const std::string& text) {
    if (hooks.message) hooks.message(text);
}

template <class Hooks>
bool stop_requested(const Hooks& hooks) {
    return hooks.stop_requested && hooks.stop_requested();
}

/// A restart that finds no checkpoint is a fresh run.
template <class Hooks>
void say_no_checkpoint(const Hooks& hooks, const std::filesystem::path& folder) {
    say(hooks, fmt::format("no checkpoint in '{}': starting from the beginning", folder.string()));
}

/// What `left` steps will take if they are like the `done` ones. @pre done > 0
inline double seconds_left(double seconds, double done, double left) { return seconds / done * left; }

} // namespace farfield
