// The parser of the command line, as commands see it. Only parser.cpp includes the library behind it (CLI11):
// its headers would cost each command seconds of compiling.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace CLI { // NOLINT(readability-identifier-naming): the name that the library has
class App;
class Option;
} // namespace CLI

namespace farfield::app {

/// What help, manual page and completion tell about an option, and what the command line gave it.
struct OptionFacts {
    std::vector<std::string> short_names, long_names; ///< without hyphens; none for an argument with a place
    std::string name, description, type_name, default_text;
    bool takes_value = true;
    std::vector<std::string> given; ///< values in the order of the command line; of a flag, one for each time
};

/// An option of a parser; a copy is the same option. Setters return the option, for chains.
class CommandOption {
public:
    explicit CommandOption(CLI::Option* option) : option_(option) {}

    CommandOption type_name(const std::string& name) const;
    CommandOption default_text(const std::string& text) const;
    CommandOption description(const std::string& text) const;
    [[nodiscard]] std::string description() const;
    CommandOption required() const;
    /// Each value needs the option's name before it: --set a=1 --set b=2.
    CommandOption one_value_each() const;
    CommandOption excludes(CommandOption other) const;

private:
    CLI::Option* option_;
};

/// A command, with its options and sub-commands; a copy is the same command. Variables that options are
/// parsed into must live until the command line is parsed.
class CommandParser {
public:
    explicit CommandParser(CLI::App* app) : app_(app) {}

    CommandOption add(const std::string& names, std::string& value, const std::string& doc) const;
    CommandOption add(const std::string& names, std::filesystem::path& value, const std::string& doc) const;
    CommandOption add(const std::string& names, std::vector<std::string>& values,
                      const std::string& doc) const;
    CommandOption add(const std::string& names, std::vector<std::filesystem::path>& values,
                      const std::string& doc) const;
    /// An option whose text `read` takes; what it throws leaves `parse`.
    CommandOption add_read(const std::string& names, const std::function<void(const std::string&)>& read,
                           const std::string& doc) const;
    CommandOption add_flag(const std::string& names, bool& value, const std::string& doc) const;
    /// A flag that runs `action`.
    CommandOption add_flag(const std::string& names, const std::function<void()>& action,
                           const std::string& doc) const;
    /// A flag that runs `action` and ends the program with 0, whatever else is on the line.
    void add_exit_flag(const std::string& name, const std::function<void()>& action,
                       const std::string& doc) const;
    /// Adds a sub-command.
    [[nodiscard]] CommandParser add_command(const std::string& name, const std::string& summary) const;
    /// One of the sub-commands must be named.
    void require_command() const;
    void footer(const std::string& text) const;
    /// Leaves the command out of lists.
    void hide() const;
    /// Collects what no option takes into extras() instead of throwing.
    void allow_extras() const;

    [[nodiscard]] bool is_named() const; ///< on the command line that was parsed
    [[nodiscard]] std::string name() const;
    [[nodiscard]] std::string full_name() const; ///< with those above it: "farfield bench direct"
    [[nodiscard]] std::string summary() const;
    [[nodiscard]] std::vector<OptionFacts> options() const;
    [[nodiscard]] std::vector<CommandParser> commands() const; ///< without hidden ones
    [[nodiscard]] std::optional<CommandParser> command(std::string_view name) const;
    [[nodiscard]] std::optional<CommandParser> parent() const;
    [[nodiscard]] std::vector<std::string> extras() const;
    [[nodiscard]] bool operator==(const CommandParser& other) const = default;

protected:
    CLI::App* app_;
};

/// A command line that does not fit the parser; what() says why.
class ParseFailure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The program itself: owns the parser.
class ProgramParser : public CommandParser {
public:
    ProgramParser(const std::string& name, const std::string& summary, const std::string& version_text);
    ~ProgramParser();
    ProgramParser(const ProgramParser&) = delete;
    ProgramParser& operator=(const ProgramParser&) = delete;

    /// @returns the exit code where the line asked for help, the version or another text, now printed.
    /// @throws ParseFailure, and what readers of options throw.
    std::optional<int> parse(std::vector<std::string> arguments);
    /// The innermost command that was named.
    [[nodiscard]] CommandParser named() const;
    [[nodiscard]] std::string help() const;

private:
    std::unique_ptr<CLI::App> owned_;
};

} // namespace farfield::app
