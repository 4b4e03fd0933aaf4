// farfield completion bash|zsh|fish: scripts made from the parser itself, so that they know every option.
#include "command.h"
#include "options.h"

#include "base/text.h"

#include <farfield/run.h>

#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace farfield::app {
namespace {

constexpr std::array<std::string_view, 3> shells{"bash", "zsh", "fish"};

std::vector<std::string> spellings(const OptionFacts& option) {
    std::vector<std::string> out;
    for (const auto& name : option.short_names) out.push_back(fmt::format("-{}", name));
    for (const auto& name : option.long_names) out.push_back(fmt::format("--{}", name));
    return out;
}

bool takes_a_case_key(const OptionFacts& option) { return option.type_name == "SECTION.KEY=VALUE"; }

// "a b c" for an option whose type is "a|b|c", or whose description ends so; of --set the keys, with the '='
// behind which the value comes.
std::string choices_of(const OptionFacts& option) {
    if (takes_a_case_key(option)) return joined(case_keys(), "= ") + '=';
    auto text = option.type_name;
    if (text.find('|') == std::string::npos) {
        constexpr std::string_view before = "; one of\n"; // as show_choices writes them
        const auto at = option.description.find(before);
        if (at == std::string::npos) return {};
        text = option.description.substr(at + before.size());
        std::erase(text, '\n');
    }
    for (auto& c : text)
        if (c == '|') c = ' ';
    return text;
}

bool is_flag(const OptionFacts& option) { return !option.takes_value; }

// Without the characters that end a quoted text.
std::string plain(std::string text) {
    for (auto& c : text)
        if (c == '\'' || c == '[' || c == ']' || c == ':' || c == '\n') c = ' ';
    return text;
}

// "run" -> its option names and sub-commands, and per option its values: one case of the bash function each.
void bash_case(const CommandParser& app, const std::string& path, std::string& words, std::string& values) {
    std::vector<std::string> all;
    for (const auto& child : app.commands()) all.push_back(child.name());
    for (const auto& option : app.options()) {
        for (const auto& name : spellings(option)) all.push_back(name);
        if (const auto choices = choices_of(option); !choices.empty())
            for (const auto& name : spellings(option))
                values += fmt::format("        '{} {}') words='{}' ;;\n", path, name, choices);
        else if (!is_flag(option))
            for (const auto& name : spellings(option))
                values += fmt::format("        '{} {}') words='' ;;\n", path, name);
    }
    words += fmt::format("        '{}') words='{}' ;;\n", path, joined(all, " "));
    for (const auto& child : app.commands()) bash_case(child, path + " " + child.name(), words, values);
}

// Where words that do not start with a hyphen are commands, not files.
std::string groups_test(const CommandParser& app, const std::string& prefix = {}) {
    const auto children = app.commands();
    if (children.empty()) return {};
    const auto path = prefix + app.name();
    auto out = fmt::format(" || $path == '{}'", path);
    for (const auto& child : children) out += groups_test(child, path + " ");
    return out;
}

std::string bash_script(const CommandParser& root) {
    std::string words;
    std::string values;
    bash_case(root, "farfield", words, values);
    return fmt::format(
        R"(# bash completion of farfield
_farfield() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" path=farfield words i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$path ${{COMP_WORDS[i]}}" in
{}            *) ;;
        esac
    done
    case "$path" in
{}        *) words='' ;;
    esac
    case "$path $previous" in
{}        *) [[ $current == -*{} ]] || words='' ;;
    esac
    COMPREPLY=()
    [[ $words != *= ]] || compopt -o nospace 2> /dev/null
    [[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _farfield farfield
)",
        [&] {
            std::string out;
            for (const auto& child : root.commands()) {
                out += fmt::format("            'farfield {0}') path='farfield {0}' ;;\n", child.name());
                for (const auto& inner : child.commands())
                    out += fmt::format("            'farfield {0} {1}') path='farfield {0} {1}' ;;\n",
                                       child.name(), inner.name());
            }
            return out;
        }(),
        words, values, groups_test(root));
}

std::string zsh_arguments(const CommandParser& app) {
    std::string out;
    for (const auto& option : app.options()) {
        const auto choices = choices_of(option);
        const auto value = is_flag(option)            ? std::string()
                           : choices.empty()          ? fmt::format(":{}:_files", plain(option.type_name))
                           : takes_a_case_key(option) ? fmt::format(":key:{{compadd -S \"\" -- {}}}", choices)
                                                      : fmt::format(":value:({})", choices);
        for (const auto& name : spellings(option))
            out += fmt::format(" \\\n        '{}[{}]{}'", name, plain(option.description), value);
    }
    return out + " \\\n        '*:file:_files'";
}

std::string zsh_script(const CommandParser& root) {
    std::string list;
    std::string cases;
    for (const auto& child : root.commands()) {
        list += fmt::format("        '{}:{}'\n", child.name(), plain(child.summary()));
        cases += fmt::format("    {}) _arguments{} ;;\n", child.name(), zsh_arguments(child));
    }
    return fmt::format(R"(#compdef farfield
_farfield() {{
    local -a commands
    commands=(
{}    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
{}    esac
}}
compdef _farfield farfield
)",
                       list, cases);
}

std::string fish_script(const CommandParser& root) {
    std::string out = "# fish completion of farfield\n";
    for (const auto& child : root.commands()) {
        out += fmt::format("complete -c farfield -n __fish_use_subcommand -a '{}' -d '{}'\n", child.name(),
                           plain(child.summary()));
        for (const auto& option : child.options()) {
            std::string names;
            for (const auto& name : option.short_names) names += " -s " + name;
            for (const auto& name : option.long_names) names += " -l " + name;
            if (names.empty()) continue;
            const auto choices = choices_of(option);
            const auto value = is_flag(option)   ? std::string()
                               : choices.empty() ? std::string(" -r")
                                                 : " -x -a '" + choices + "'";
            out += fmt::format("complete -c farfield -n '__fish_seen_subcommand_from {}'{}{} -d '{}'\n",
                               child.name(), names, value, plain(option.description));
        }
    }
    return out;
}

} // namespace

Action declare_completion(CommandParser app) {
    auto shell = std::make_shared<std::string>();
    app.add("SHELL", *shell, "bash, zsh or fish").required();
    return [shell, app] {
        const auto root = app.parent().value();
        if (*shell == "bash")
            fmt::print("{}", bash_script(root));
        else if (*shell == "zsh")
            fmt::print("{}", zsh_script(root));
        else if (*shell == "fish")
            fmt::print("{}", fish_script(root));
        else
            unknown_choice("SHELL", *shell, shells);
        return 0;
    };
}

} // namespace farfield::app
