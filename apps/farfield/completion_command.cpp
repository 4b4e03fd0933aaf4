// farfield completion bash|zsh|fish: scripts made from the parser itself, so that they know every option.
#include "command.h"
#include "options.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace farfield::app {
namespace {

constexpr std::array<std::string_view, 3> shells{"bash", "zsh", "fish"};

std::vector<CLI::App*> children_of(CLI::App& app) {
    return app.get_subcommands([](const CLI::App* child) { return !child->get_group().empty(); });
}

std::vector<std::string> spellings(const CLI::Option& option) {
    std::vector<std::string> out;
    for (const auto& name : option.get_snames()) out.push_back("-" + name);
    for (const auto& name : option.get_lnames()) out.push_back("--" + name);
    return out;
}

std::string joined(const std::vector<std::string>& words, std::string_view separator = " ") {
    std::string out;
    for (const auto& word : words) out += (out.empty() ? std::string() : std::string(separator)) + word;
    return out;
}

// "a b c" for an option whose type is "a|b|c", or whose description ends so.
std::string choices_of(const CLI::Option& option) {
    auto text = option.get_type_name();
    if (text.find('|') == std::string::npos) {
        constexpr std::string_view before = "; one of\n"; // as show_choices writes them
        const auto at = option.get_description().find(before);
        if (at == std::string::npos) return {};
        text = option.get_description().substr(at + before.size());
        std::erase(text, '\n');
    }
    for (auto& c : text)
        if (c == '|') c = ' ';
    return text;
}

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

// Without the characters that end a quoted text.
std::string plain(std::string text) {
    for (auto& c : text)
        if (c == '\'' || c == '[' || c == ']' || c == ':' || c == '\n') c = ' ';
    return text;
}

// "run" -> its option names and sub-commands, and per option its values: one case of the bash function each.
void bash_case(CLI::App& app, const std::string& path, std::string& words, std::string& values) {
    std::vector<std::string> all;
    for (auto* child : children_of(app)) all.push_back(child->get_name());
    for (const auto* option : app.get_options()) {
        for (const auto& name : spellings(*option)) all.push_back(name);
        if (const auto choices = choices_of(*option); !choices.empty())
            for (const auto& name : spellings(*option))
                values += fmt::format("        '{} {}') words='{}' ;;\n", path, name, choices);
        else if (!is_flag(*option))
            for (const auto& name : spellings(*option))
                values += fmt::format("        '{} {}') words='' ;;\n", path, name);
    }
    words += fmt::format("        '{}') words='{}' ;;\n", path, joined(all));
    for (auto* child : children_of(app)) bash_case(*child, path + " " + child->get_name(), words, values);
}

// Where words that do not start with a hyphen are commands, not files.
std::string groups_test(CLI::App& app, const std::string& prefix = {}) {
    const auto children = children_of(app);
    if (children.empty()) return {};
    const auto path = prefix + app.get_name();
    auto out = fmt::format(" || $path == '{}'", path);
    for (auto* child : children) out += groups_test(*child, path + " ");
    return out;
}

std::string bash_script(CLI::App& root) {
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
    [[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _farfield farfield
)",
        [&] {
            std::string out;
            for (auto* child : children_of(root)) {
                out += fmt::format("            'farfield {0}') path='farfield {0}' ;;\n", child->get_name());
                for (auto* inner : children_of(*child))
                    out += fmt::format("            'farfield {0} {1}') path='farfield {0} {1}' ;;\n",
                                       child->get_name(), inner->get_name());
            }
            return out;
        }(),
        words, values, groups_test(root));
}

std::string zsh_arguments(CLI::App& app) {
    std::string out;
    for (const auto* option : app.get_options()) {
        const auto choices = choices_of(*option);
        const auto value = is_flag(*option)  ? std::string()
                           : choices.empty() ? ":" + plain(option->get_type_name()) + ":_files"
                                             : ":value:(" + choices + ")";
        for (const auto& name : spellings(*option))
            out += fmt::format(" \\\n        '{}[{}]{}'", name, plain(option->get_description()), value);
    }
    return out + " \\\n        '*:file:_files'";
}

std::string zsh_script(CLI::App& root) {
    std::string list;
    std::string cases;
    for (auto* child : children_of(root)) {
        list += fmt::format("        '{}:{}'\n", child->get_name(), plain(child->get_description()));
        cases += fmt::format("    {}) _arguments{} ;;\n", child->get_name(), zsh_arguments(*child));
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

std::string fish_script(CLI::App& root) {
    std::string out = "# fish completion of farfield\n";
    for (auto* child : children_of(root)) {
        out += fmt::format("complete -c farfield -n __fish_use_subcommand -a '{}' -d '{}'\n",
                           child->get_name(), plain(child->get_description()));
        for (const auto* option : child->get_options()) {
            std::string names;
            for (const auto& name : option->get_snames()) names += " -s " + name;
            for (const auto& name : option->get_lnames()) names += " -l " + name;
            if (names.empty()) continue;
            const auto choices = choices_of(*option);
            const auto value = is_flag(*option)  ? std::string()
                               : choices.empty() ? std::string(" -r")
                                                 : " -x -a '" + choices + "'";
            out += fmt::format("complete -c farfield -n '__fish_seen_subcommand_from {}'{}{} -d '{}'\n",
                               child->get_name(), names, value, plain(option->get_description()));
        }
    }
    return out;
}

} // namespace

Action declare_completion(CLI::App& app) {
    auto shell = std::make_shared<std::string>();
    app.add_option("SHELL", *shell, "bash, zsh or fish")->required();
    return [shell, &app] {
        auto& root = *app.get_parent();
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
