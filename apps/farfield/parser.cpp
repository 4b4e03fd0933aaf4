// The parser of the command line in terms of CLI11; no other source includes it.
#include "parser.h"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace farfield::app {
namespace {

OptionFacts facts_of(const CLI::Option& option) {
    return {.short_names = option.get_snames(),
            .long_names = option.get_lnames(),
            .name = option.get_name(),
            .description = option.get_description(),
            .type_name = option.get_type_name(),
            .default_text = option.get_default_str(),
            .takes_value = option.get_items_expected_max() > 0,
            .given = option.results()};
}

} // namespace

CommandOption CommandOption::type_name(const std::string& name) const {
    return CommandOption(option_->type_name(name));
}

CommandOption CommandOption::default_text(const std::string& text) const {
    return CommandOption(option_->default_str(text));
}

CommandOption CommandOption::description(const std::string& text) const {
    return CommandOption(option_->description(text));
}

std::string CommandOption::description() const { return option_->get_description(); }

CommandOption CommandOption::required() const { return CommandOption(option_->required()); }

CommandOption CommandOption::one_value_each() const {
    return CommandOption(option_->allow_extra_args(false));
}

CommandOption CommandOption::excludes(CommandOption other) const {
    return CommandOption(option_->excludes(other.option_));
}

CommandOption CommandParser::add(const std::string& names, std::string& value, const std::string& doc) const {
    return CommandOption(app_->add_option(names, value, doc));
}

CommandOption CommandParser::add(const std::string& names, std::filesystem::path& value,
                                 const std::string& doc) const {
    return CommandOption(app_->add_option(names, value, doc));
}

CommandOption CommandParser::add(const std::string& names, std::vector<std::string>& values,
                                 const std::string& doc) const {
    return CommandOption(app_->add_option(names, values, doc));
}

CommandOption CommandParser::add(const std::string& names, std::vector<std::filesystem::path>& values,
                                 const std::string& doc) const {
    return CommandOption(app_->add_option(names, values, doc));
}

CommandOption CommandParser::add_read(const std::string& names,
                                      const std::function<void(const std::string&)>& read,
                                      const std::string& doc) const {
    return CommandOption(app_->add_option_function<std::string>(names, read, doc));
}

CommandOption CommandParser::add_flag(const std::string& names, bool& value, const std::string& doc) const {
    return CommandOption(app_->add_flag(names, value, doc));
}

CommandOption CommandParser::add_flag(const std::string& names, const std::function<void()>& action,
                                      const std::string& doc) const {
    return CommandOption(app_->add_flag_callback(names, action, doc));
}

void CommandParser::add_exit_flag(const std::string& name, const std::function<void()>& action,
                                  const std::string& doc) const {
    app_->add_flag_callback(
        name,
        [action] {
            action();
            throw CLI::Success();
        },
        doc);
}

CommandParser CommandParser::add_command(const std::string& name, const std::string& summary) const {
    return CommandParser(app_->add_subcommand(name, summary));
}

void CommandParser::require_command() const { app_->require_subcommand(1); }
void CommandParser::footer(const std::string& text) const { app_->footer(text); }
void CommandParser::hide() const { app_->group(""); }
void CommandParser::allow_extras() const { app_->allow_extras(); }
bool CommandParser::is_named() const { return app_->parsed(); }
std::string CommandParser::name() const { return app_->get_name(); }

std::string CommandParser::full_name() const {
    const auto above = parent();
    return above ? above->full_name() + " " + name() : name();
}

std::string CommandParser::summary() const { return app_->get_description(); }

std::vector<OptionFacts> CommandParser::options() const {
    std::vector<OptionFacts> facts;
    for (const auto* option : app_->get_options()) facts.push_back(facts_of(*option));
    return facts;
}

std::vector<CommandParser> CommandParser::commands() const {
    std::vector<CommandParser> shown;
    for (auto* child : app_->get_subcommands([](const CLI::App*) { return true; }))
        if (!child->get_group().empty()) shown.emplace_back(child);
    return shown;
}

std::optional<CommandParser> CommandParser::command(std::string_view name) const {
    for (auto* child : app_->get_subcommands([](const CLI::App*) { return true; }))
        if (child->get_name() == name) return CommandParser(child);
    return std::nullopt;
}

std::optional<CommandParser> CommandParser::parent() const {
    if (app_->get_parent() == nullptr) return std::nullopt;
    return CommandParser(app_->get_parent());
}

std::vector<std::string> CommandParser::extras() const { return app_->remaining(); }

ProgramParser::ProgramParser(const std::string& name, const std::string& summary,
                             const std::string& version_text)
    : CommandParser(nullptr), owned_(std::make_unique<CLI::App>(summary, name)) {
    app_ = owned_.get();
    app_->set_version_flag("--version", version_text, "Print the version and exit");
}

ProgramParser::~ProgramParser() = default;

std::optional<int> ProgramParser::parse(std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end()); // the parser takes them from the back
    try {
        app_->parse(arguments);
    } catch (const CLI::ParseError& error) { // help and version arrive as exceptions too
        if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app_->exit(error);
        throw ParseFailure(error.what());
    }
    return std::nullopt;
}

CommandParser ProgramParser::named() const {
    auto* app = app_;
    while (!app->get_subcommands().empty()) app = app->get_subcommands()[0];
    return CommandParser(app);
}

std::string ProgramParser::help() const { return app_->help(); }

} // namespace farfield::app
