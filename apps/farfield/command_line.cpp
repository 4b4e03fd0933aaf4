// Builds the parser from the table of commands, parses, and puts a near miss into words.
#include "command_line.h"

#include "base/text.h"
#include "command.h"

#include <farfield/error.h>
#include <farfield/version.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
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

std::vector<std::pair<CLI::App*, Action>> declare_all(CLI::App& root) {
    std::vector<std::pair<CLI::App*, Action>> actions;
    for (const auto& command : commands()) {
        auto* app = root.add_subcommand(std::string(command.name), std::string(command.summary));
        app->footer(indented(command.examples));
        app->allow_extras(); // they are reported below, with a suggestion
        if (command.hidden) app->group("");
        actions.emplace_back(app, command.declare(*app));
    }
    return actions;
}

// Names of the visible commands, or the long names of the options.
std::vector<std::string> words_of(const CLI::App& app, bool of_options) {
    std::vector<std::string> words;
    if (of_options) {
        for (const auto* option : app.get_options())
            for (const auto& name : option->get_lnames()) words.push_back("--" + name);
    } else {
        for (const auto* child : app.get_subcommands([](const CLI::App*) { return true; }))
            if (!child->get_group().empty()) words.push_back(child->get_name());
    }
    return words;
}

std::string near(const std::string& word, const std::vector<std::string>& words) {
    const std::vector<std::string_view> views(words.begin(), words.end());
    return suggestion(word, views);
}

// "farfield bench direct".
std::string full_name(const CLI::App& app) {
    return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

// Arguments that no option takes.
void refuse_extras(const CLI::App& app) {
    const auto extras = app.remaining();
    if (extras.empty()) return;
    const auto help = fmt::format(" (see {} --help)", full_name(app));
    const auto commands_here = words_of(app, false);
    if (!commands_here.empty() && !extras[0].starts_with('-'))
        throw InvalidArgument(
            fmt::format("unknown command '{}'{}{}", extras[0], near(extras[0], commands_here), help));
    for (const auto& extra : extras) {
        if (extra.size() < 2 || extra[0] != '-') continue;
        const auto name = extra.substr(0, extra.find('='));
        throw InvalidArgument(
            fmt::format("unknown option {}{}{}", name, near(name, words_of(app, true)), help));
    }
    throw InvalidArgument(fmt::format("unexpected argument '{}'{}", extras[0], help));
}

// The innermost command that was named.
const CLI::App* chosen(const CLI::App& root) {
    const auto* app = &root;
    while (!app->get_subcommands().empty()) app = app->get_subcommands()[0];
    return app;
}

bool belongs_to(const CLI::App* app, const CLI::App* owner) {
    while (app != nullptr && app != owner) app = app->get_parent();
    return app != nullptr;
}

// Help and version arrive as exceptions too: exit code 0.
int after_parse_error(const CLI::App& root, const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return root.exit(error);
    const auto* app = chosen(root);
    refuse_extras(*app);
    throw InvalidArgument(fmt::format("{} (see {} --help)", error.what(), full_name(*app)));
}

} // namespace

int run_command_line(int argc, char** argv) {
    std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    if (!arguments.empty() && arguments[0] == "help") { // farfield help run = farfield run --help
        arguments.erase(arguments.begin());
        arguments.emplace_back("--help");
    }
    std::reverse(arguments.begin(), arguments.end()); // the parser takes them from the back
    CLI::App root{"Farfield: sums over particles, and simulations made of them", "farfield"};
    root.set_version_flag("--version", "farfield " + std::string(version()), "Print the version and exit");
    root.allow_extras();
    root.footer("farfield COMMAND --help tells more about a command.\n\n" +
                indented("farfield run plummer.toml\nfarfield info\n"));
    const auto actions = declare_all(root);
    try {
        root.parse(arguments);
    } catch (const CLI::ParseError& error) {
        return after_parse_error(root, error);
    }
    const auto* app = chosen(root);
    refuse_extras(*app);
    for (const auto& [owner, action] : actions)
        if (belongs_to(app, owner)) return action();
    fmt::print("{}", root.help());
    return 0;
}

} // namespace farfield::app
