#include "table_options.h"

#include "options.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace farfield::app {
namespace {

OptionValue read(const OptionInfo& option, const std::string& text) {
    const auto flag = option.flag();
    switch (option.type) {
    case OptionType::choice:
        if (const auto names = option.choices(); !option.allows(text)) unknown_choice(flag, text, names);
        return text;
    case OptionType::device:
        device_from_name(text); // throws where it is none
        return text;
    case OptionType::lengths:
        try {
            SumOptions probe;
            option.sum.set(probe, text);
        } catch (const InvalidArgument& error) {
            throw InvalidArgument(fmt::format("{}: {}", flag, error.what()));
        }
        return text;
    case OptionType::count:
        return std::int64_t{read_count(
            flag, text, {static_cast<int>(option.least), static_cast<int>(option.most)},
            option.otherwise.empty() ? std::string("leave the option out")
                                     : "leave the option out for " + std::string(option.otherwise))};
    case OptionType::number:
    case OptionType::flag: // has no text
        break;
    }
    return read_number(
        flag, text, [&option](double number) { return option.allows(number); }, option.range());
}

// With a line for each name that the table explains.
std::string description(const OptionInfo& option, const std::string& otherwise) {
    std::string out(option.text);
    if (!otherwise.empty()) out += fmt::format(" (default: {})", otherwise);
    if (option.text_of_choice != nullptr)
        for (const auto name : option.choices())
            out += fmt::format("\n  {}: {}", name, option.text_of_choice(name));
    return out;
}

} // namespace

std::string GivenOptions::flags() const {
    std::string out;
    for (const auto& option : option_table())
        for (const auto& [row, value] : given_)
            if (row == &option)
                out += row->type == OptionType::flag ? fmt::format(" {}", option.flag())
                                                     : fmt::format(" {} {}", option.flag(), text_of(value));
    return out;
}

std::string as_flag(std::string_view option, std::string_view value) {
    const auto* row = find_option(option);
    auto out = row != nullptr ? row->flag() : std::string(option);
    return value.empty() ? out : out.append(" ").append(value);
}

std::string as_case_key(std::string_view option, std::string_view value) {
    const auto* row = find_option(option);
    if (row == nullptr || !row->case_key) return as_flag(option, value);
    const bool is_number = row->type != OptionType::choice && row->type != OptionType::device;
    const auto key = fmt::format("force.{}", option);
    const char* quote = is_number ? "" : "\"";
    return value.empty() ? key : fmt::format("{} = {}{}{}", key, quote, value, quote);
}

template <class Options>
CommandOption add_table_option(CommandParser app, const OptionInfo& option, GivenOptions& given,
                               const std::string& otherwise) {
    if (option.type == OptionType::flag)
        return app.add_flag(
            option.flag(), [&option, &given] { given.add(option, true); }, description(option, otherwise));
    const auto added = app.add_read(
        option.flag(), [&option, &given](const std::string& text) { given.add(option, read(option, text)); },
        description(option, otherwise));
    if (option.type == OptionType::choice)
        show_choices(added, option.choices());
    else
        added.type_name(option.type == OptionType::device    ? "auto|cpu|cuda"
                        : option.type == OptionType::count   ? "N"
                        : option.type == OptionType::lengths ? "L|Lx,Ly,Lz"
                                                             : "X");
    const auto by_default = option.template in<Options>().get(Options{});
    if (otherwise.empty() && option.allows(by_default)) added.default_text(text_of(by_default));
    return added;
}

template CommandOption add_table_option<SumOptions>(CommandParser, const OptionInfo&, GivenOptions&,
                                                    const std::string&);
template CommandOption add_table_option<ForceOptions>(CommandParser, const OptionInfo&, GivenOptions&,
                                                      const std::string&);

} // namespace farfield::app
