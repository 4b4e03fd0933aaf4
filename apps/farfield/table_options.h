// Options of the command line that are rows of the table of options (farfield/options.h).
#pragma once

#include "parser.h"

#include <farfield/options.h>
#include <farfield/simulation.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace farfield::app {

/// What a command line gave of the table's options, in its order.
class GivenOptions {
public:
    void add(const OptionInfo& option, OptionValue value) { given_.emplace_back(&option, std::move(value)); }

    /// Options that were not given keep their value.
    template <class Options>
    void apply_to(Options& options) const {
        for (const auto& [option, value] : given_) option->template in<Options>().set(options, value);
    }

    /// " --device cuda --threads 2": the line that gives them again, in the order of the table.
    [[nodiscard]] std::string flags() const;

private:
    std::vector<std::pair<const OptionInfo*, OptionValue>> given_;
};

/// How messages name options (base/spelling.h): "--isa avx2", and in commands that read case files
/// "force.variant = \"naive\"" where that is a key.
std::string as_flag(std::string_view option, std::string_view value);
std::string as_case_key(std::string_view option, std::string_view value);

/// Adds the flag of an option of `Options`. `otherwise`: where the value comes from that is not given, such
/// as "the case file"; empty: the library's default.
template <class Options>
CommandOption add_table_option(CommandParser app, const OptionInfo& option, GivenOptions& given,
                               const std::string& otherwise = {});

} // namespace farfield::app
