// Typed options and early checks of paths.
#include "options.h"
#include "ranks.h"

#include <farfield/stencil.h>

#include <fmt/format.h>

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

namespace farfield::app {
namespace fs = std::filesystem;
namespace {

template <class T>
bool parse(const std::string& text, T& value) {
    const auto* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    return result.ec == std::errc() && result.ptr == end;
}

std::string with_remedy(const std::string& remedy) { return remedy.empty() ? "" : "; " + remedy; }

void require_writable_folder(const fs::path& folder, const fs::path& path, std::string_view option) {
    std::error_code ignored;
    if (!fs::exists(folder, ignored))
        throw InvalidArgument(fmt::format("{} {}: there is no folder {}; make it first or choose another",
                                          option, path.string(), folder.string()));
    if (!fs::is_directory(folder, ignored))
        throw InvalidArgument(fmt::format("{} {}: {} is a file, not a folder; choose another place", option,
                                          path.string(), folder.string()));
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        throw InvalidArgument(fmt::format("{} {}: cannot write to {}: {}; choose a folder you may write to",
                                          option, path.string(), folder.string(), std::strerror(errno)));
}

CommandOption add_number(CommandParser app, const std::string& option, double& value, const std::string& doc,
                         std::function<bool(double)> allowed, const std::string& allowed_text) {
    return app
        .add_read(
            option,
            [&value, option, allowed = std::move(allowed), allowed_text](const std::string& text) {
                value = read_number(option, text, allowed, allowed_text);
            },
            doc)
        .type_name("X");
}

} // namespace

void say_of_any_rank(const std::string& text) { std::fputs(text.c_str(), stderr); }

void say(const std::string& text) {
    if (speaks()) say_of_any_rank(text);
}

std::string choices_text(std::span<const std::string_view> names) {
    std::string out;
    for (auto name : names) {
        if (!out.empty()) out += '|';
        out += name;
    }
    return out;
}

CommandOption show_choices(CommandOption option, std::span<const std::string_view> names) {
    constexpr std::size_t longest_line = 80;
    const auto choices = choices_text(names);
    if (choices.size() <= longest_line) return option.type_name(choices);
    auto description = option.description() + "; one of";
    std::size_t length = longest_line;
    for (const auto name : names) {
        const bool breaks = length + name.size() >= longest_line;
        description += breaks ? "\n" : "";
        length = (breaks ? 0 : length) + name.size() + 1;
        description += std::string(name) + (name == names.back() ? "" : "|");
    }
    return option.type_name("NAME").description(description);
}

void unknown_choice(std::string_view option, std::string_view value,
                    std::span<const std::string_view> names) {
    throw InvalidArgument(fmt::format("{} {} is not known{}", option, value, suggestion(value, names)));
}

int read_count(std::string_view option, const std::string& text, CountRange range,
               const std::string& remedy) {
    int value = 0;
    if (!parse(text, value))
        throw InvalidArgument(
            fmt::format("{} {} is not a whole number{}", option, text, with_remedy(remedy)));
    if (value < range.least || value > range.most)
        throw InvalidArgument(fmt::format(
            "{} {} is not allowed: it must be {} {}{}", option, text, value < range.least ? "≥" : "≤",
            value < range.least ? range.least : range.most, with_remedy(remedy)));
    return value;
}

double read_number(std::string_view option, const std::string& text,
                   const std::function<bool(double)>& allowed, const std::string& allowed_text) {
    double value = 0.0;
    if (!parse(text, value)) throw InvalidArgument(fmt::format("{} {} is not a number", option, text));
    if (!std::isfinite(value) || !allowed(value))
        throw InvalidArgument(
            fmt::format("{} {} is not allowed: it must be a finite number {}", option, text, allowed_text));
    return value;
}

CommandOption add_count(CommandParser app, const std::string& option, int& value, CountRange range,
                        const std::string& doc, const std::string& remedy) {
    return app
        .add_read(
            option,
            [&value, option, range, remedy](const std::string& text) {
                value = read_count(option, text, range, remedy);
            },
            doc)
        .type_name("N");
}

CommandOption add_real(CommandParser app, const std::string& option, double& value, double least,
                       const std::string& doc) {
    return add_number(
               app, option, value, doc, [least](double number) { return number >= least; },
               fmt::format("≥ {}", least))
        .default_text(fmt::format("{}", value));
}

CommandOption add_positive(CommandParser app, const std::string& option, double& value,
                           const std::string& doc) {
    return add_number(
        app, option, value, doc, [](double number) { return number > 0.0; }, "> 0");
}

void require_input(const fs::path& path, std::string_view what) {
    std::error_code ignored;
    if (!fs::exists(path, ignored))
        throw InvalidArgument(
            fmt::format("{} {}: there is no such file; check the path", what, path.string()));
    if (fs::is_directory(path, ignored))
        throw InvalidArgument(fmt::format("{} {} is a folder; give the path of a file", what, path.string()));
    if (::access(path.c_str(), R_OK) != 0)
        throw InvalidArgument(fmt::format("{} {}: cannot read it: {}; check its permissions", what,
                                          path.string(), std::strerror(errno)));
}

CommandOption add_one_device(CommandParser app, DeviceChoice& device) {
    return app
        .add_read(
            "--device", [&device](const std::string& text) { device = device_from_name(text); },
            "Where to measure: cpu, cuda (the first GPU), cuda:1 (the second), or auto: a GPU where there is "
            "one")
        .type_name("auto|cpu|cuda")
        .default_text(name_of(device));
}

int one_gpu(const DeviceChoice& device) {
    if (device.gpus.size() > 1)
        throw InvalidArgument(
            fmt::format("--device {} is not allowed: one device is measured at a time; name one of them",
                        name_of(device)));
    return device.gpus.empty() ? 0 : device.gpus.front();
}

int with_messages(const std::function<int()>& work) {
    try {
        return work();
    } catch (const StencilError& error) {
        say(error.messages());
        throw CompileError(error.summary());
    }
}

int with_inputs(const std::vector<fs::path>& inputs, const std::function<int()>& work) {
    try {
        return work();
    } catch (const IoError& error) {
        const std::string message = error.what();
        for (const auto& input : inputs)
            if (!input.empty() && message.find(input.string()) != std::string::npos)
                throw InvalidArgument(message);
        throw;
    }
}

void require_output(const fs::path& path, std::string_view option) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored))
        throw InvalidArgument(
            fmt::format("{} {} is a folder; add the name of a file to it", option, path.string()));
    if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) return; // a pipe or a device
    require_writable_folder(path.has_parent_path() ? path.parent_path() : fs::path("."), path, option);
}

void require_output_folder(const fs::path& path, std::string_view option) {
    std::error_code ignored;
    auto existing = fs::absolute(path).lexically_normal();
    while (!fs::exists(existing, ignored) && existing.has_relative_path()) existing = existing.parent_path();
    require_writable_folder(existing, path, option);
}

void make_output_folder(const fs::path& path, std::string_view option) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error)
        throw InvalidArgument(
            fmt::format("{} {}: cannot make this folder: {}; choose a folder you may write to", option,
                        path.string(), error.message()));
}

} // namespace farfield::app
