// Builds the parser from the table of commands, parses, and puts a near miss into words.
#include "command_line.h"
#include "base/spelling.h"

#include "base/text.h"
#include "command.h"
#include "ranks.h"
#include "table_options.h"

#include <farfield/error.h>
#include <farfield/version.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace farfield::app {
namespace {

std::string indented(std::string_view lines) {
    std::string out = "Examples:\n";
    for (std::size_t start = 0; start < lines.size();) {
        const auto end = lines.find('\n', start);
        out += "  " + std::string(lines.substr(start, end - start)) + '\n';
        start = end == std::string_view::npos ? lines.size() : end + 1;
    }
    return out;
}

std::vector<std::pair<CommandParser, Action>> declare_all(const CommandParser& root) {
    std::vector<std::pair<CommandParser, Action>> actions;
    for (const auto& command : commands()) {
        const auto parser = root.add_command(std::string(command.name), std::string(command.summary));
        parser.footer(indented(command.examples));
        parser.allow_extras(); // they are reported below, with a suggestion
        if (command.hidden) parser.hide();
        actions.emplace_back(parser, command.declare(parser));
    }
    return actions;
}

std::vector<std::string> command_names(const CommandParser& parser) {
    std::vector<std::string> names;
    for (const auto& child : parser.commands()) names.push_back(child.name());
    return names;
}

std::vector<std::string> option_names(const CommandParser& parser) {
    std::vector<std::string> names;
    for (const auto& option : parser.options())
        for (const auto& name : option.long_names) names.push_back("--" + name);
    return names;
}

std::string near(const std::string& word, const std::vector<std::string>& words) {
    const std::vector<std::string_view> views(words.begin(), words.end());
    return suggestion(word, views);
}

// Arguments that no option takes.
void refuse_extras(const CommandParser& parser) {
    const auto extras = parser.extras();
    if (extras.empty()) return;
    const auto help = fmt::format(" (see {} --help)", parser.full_name());
    const auto commands_here = command_names(parser);
    if (!commands_here.empty() && !extras[0].starts_with('-'))
        throw InvalidArgument(
            fmt::format("unknown command '{}'{}{}", extras[0], near(extras[0], commands_here), help));
    for (const auto& extra : extras) {
        if (extra.size() < 2 || extra[0] != '-') continue;
        const auto name = extra.substr(0, extra.find('='));
        throw InvalidArgument(
            fmt::format("unknown option {}{}{}", name, near(name, option_names(parser)), help));
    }
    throw InvalidArgument(fmt::format("unexpected argument '{}'{}", extras[0], help));
}

bool belongs_to(std::optional<CommandParser> parser, const CommandParser& owner) {
    while (parser && *parser != owner) parser = parser->parent();
    return parser.has_value();
}

} // namespace

int run_command_line(int argc, char** argv) {
    spell_options(as_flag);
    std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    if (!arguments.empty() && arguments[0] == "help") { // farfield help run = farfield run --help
        arguments.erase(arguments.begin());
        arguments.emplace_back("--help");
    }
    ProgramParser root("farfield", "Farfield: sums over particles, and simulations made of them",
                       "farfield " + std::string(version()));
    root.allow_extras();
    root.footer("farfield COMMAND --help tells more about a command.\n\n" +
                indented("farfield run plummer.toml\nfarfield info\n"));
    const auto actions = declare_all(root);
    try {
        if (const auto code = root.parse(arguments)) return *code;
    } catch (const ParseFailure& failure) {
        const auto parser = root.named();
        refuse_extras(parser);
        throw InvalidArgument(fmt::format("{} (see {} --help)", failure.what(), parser.full_name()));
    }
    const auto parser = root.named();
    refuse_extras(parser);
    for (const auto& [owner, action] : actions) {
        if (!belongs_to(parser, owner)) continue;
        const auto* command = command_of(owner);
        if (command == nullptr || !command->on_ranks) require_one_process(owner.name());
        return action();
    }
    fmt::print("{}", root.help());
    return 0;
}

} // namespace farfield::app
