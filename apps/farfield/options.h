// Options of the command line: typed values, with messages that name option, value, what is allowed and the
// remedy.
#pragma once

#include "parser.h"

#include "base/text.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::app {

/// Writes a text to stderr; that nobody reads it is no failure.
void say(const std::string& text);
/// The same where ranks besides rank 0 speak, too.
void say_of_any_rank(const std::string& text);

/// "a|b|c": how choices are shown in help texts; the completion splits it again.
std::string choices_text(std::span<const std::string_view> names);

/// @throws InvalidArgument "--kernel grvity is not known, did you mean 'gravity'?"
[[noreturn]] void unknown_choice(std::string_view option, std::string_view value,
                                 std::span<const std::string_view> names);

/// Shows the choices as the type of the option, or, where they would not fit a line, in its description after
/// "one of", over several lines; the completion finds them in either place.
CommandOption show_choices(CommandOption option, std::span<const std::string_view> names);

/// An option that names a value of an enum; `value` holds the default.
template <class Enum>
CommandOption add_choice(CommandParser app, const std::string& option, Enum& value, const std::string& doc) {
    const auto parse = [&value, option](const std::string& text) {
        const auto known = names_of<Enum>();
        const auto found = from_name<Enum>(text);
        if (!found) unknown_choice(option, text, known);
        value = *found;
    };
    return show_choices(app.add_read(option, parse, doc), names_of<Enum>())
        .default_text(std::string(name_of(value)));
}

struct CountRange {
    int least;
    int most;
};
/// The whole of `text` as a number. @throws InvalidArgument naming option, value and what is allowed;
/// `remedy` is added.
int read_count(std::string_view option, const std::string& text, CountRange range,
               const std::string& remedy = {});
double read_number(std::string_view option, const std::string& text,
                   const std::function<bool(double)>& allowed, const std::string& allowed_text);

/// An option that is a whole number from `least` to `most`.
CommandOption add_count(CommandParser app, const std::string& option, int& value, CountRange range,
                        const std::string& doc, const std::string& remedy = {});

/// An option that is a finite number of at least `least`.
CommandOption add_real(CommandParser app, const std::string& option, double& value, double least,
                       const std::string& doc);

/// An option that is a finite number above 0; without a default to show.
CommandOption add_positive(CommandParser app, const std::string& option, double& value,
                           const std::string& doc);

/// `--device` of the benches, which measure one device at a time; `device` holds the default.
CommandOption add_one_device(CommandParser app, DeviceChoice& device);

/// The GPU that a choice of kind `cuda` names, the first where it names none.
/// @throws InvalidArgument where it names several.
int one_gpu(const DeviceChoice& device);

/// @throws InvalidArgument where `path` is missing, a folder or cannot be read.
void require_input(const std::filesystem::path& path, std::string_view what);

/// Runs `work`. Where it fails to read one of these input files (truncated, say), that is the user's to mend:
/// @throws InvalidArgument in place of IoError.
int with_inputs(const std::vector<std::filesystem::path>& inputs, const std::function<int()>& work);

/// Does the work. Mistakes of a stencil program in it are said, with their lines.
/// @throws CompileError with how many there are.
int with_messages(const std::function<int()>& work);

/// @throws InvalidArgument where a file at `path` could not be made; checked before long work begins.
void require_output(const std::filesystem::path& path, std::string_view option);

/// The same for a folder that may not exist yet.
void require_output_folder(const std::filesystem::path& path, std::string_view option);

/// Makes the folder and those above it. @throws InvalidArgument where the machine refuses.
void make_output_folder(const std::filesystem::path& path, std::string_view option);

} // namespace farfield::app
