// The options of sums and of the forces of simulations, a row each. The command line, case files, reports,
// Python and the tables of the guides are made from them: a new option is a row in src/sums/options.cpp and a
// member of `SumOptions`, `ForceOptions` or both.
#pragma once

#include <farfield/sum_options.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace farfield {

struct ForceOptions; // farfield/simulation.h

enum class OptionType : std::uint8_t {
    choice, ///< one of a few names
    number, ///< finite
    count,  ///< a whole number
    device, ///< a spelling of `DeviceChoice`
    flag,   ///< true or false; on the command line present or absent
    lengths ///< of the three axes: one for all of them, or three with commas between
};

/// The value of an option: the name of a choice or device, a number, a count, a flag, or lengths as text
/// ("10", "10,10,0").
using OptionValue = std::variant<std::string, double, std::int64_t, bool>;

/// As the command line spells it: "mixed", "0.5", "4".
std::string text_of(const OptionValue& value);

/// How an option is read from a struct of options and written into it.
template <class Options>
struct OptionMember {
    /// @throws InvalidArgument for an enum that holds none of its values.
    OptionValue (*get)(const Options& options) = nullptr; ///< null: the struct does not have the option
    /// @throws InvalidArgument for a name that is not known or a count that is too large.
    void (*set)(Options& options, const OptionValue& value) = nullptr;

    explicit operator bool() const { return get != nullptr; }
};

struct OptionInfo {
    std::string_view name; ///< "multi_gpu", everywhere but on the command line
    OptionType type;
    std::string_view text;      ///< one line without an end
    std::string_view details{}; ///< sentences that guides add
    std::string_view unit{};
    double least = 0.0; ///< of numbers and counts
    double most = std::numeric_limits<double>::infinity();
    bool open = false; ///< `least` itself is not allowed
    /// What the default means where it is none of the values that a user may give: "all cores".
    std::string_view otherwise{};
    std::string_view example{}; ///< a value as TOML writes it, where the default is none
    std::vector<std::string_view> (*choices)() = nullptr;
    std::string_view (*text_of_choice)(std::string_view name) = nullptr; ///< may be null
    std::vector<std::string_view> (*force_choices)() = nullptr;          ///< that a force can take; null: all
    /// Where and how something is computed, not what: `farfield run` has a flag for it, and a run may be
    /// continued with another value.
    bool machine = false;
    bool case_key = false; ///< stands in `[force]` of case files
    /// The one method that takes it: with another one, asked for by name, no value but the default is
    /// allowed.
    std::optional<Method> of_method{};
    std::optional<Method> and_method{};   ///< another one that takes it, too
    std::optional<Method> third_method{}; ///< and one more
    /// Whether simulations with that kernel use it; null: all do. Those that do not refuse another value than
    /// the default.
    bool (*of_kernel)(Kernel kernel) = nullptr;
    /// The option without which it does nothing: where that one has its default, no value but the default is
    /// allowed.
    std::string_view belongs_to{};
    OptionMember<SumOptions> sum{};
    OptionMember<ForceOptions> force{};

    /// False for a method that has no use for it.
    [[nodiscard]] bool is_of(Method method) const;

    template <class Options>
    [[nodiscard]] const OptionMember<Options>& in() const {
        if constexpr (std::is_same_v<Options, SumOptions>)
            return sum;
        else
            return force;
    }
    /// "--multi-gpu".
    [[nodiscard]] std::string flag() const;
    /// Whether a user may give the value.
    [[nodiscard]] bool allows(const OptionValue& value) const;
    /// "≥ 0", "> 0", "from 1 to 4096": of numbers and counts.
    [[nodiscard]] std::string range() const;
};

/// All of them, in the order of help texts and guides.
std::span<const OptionInfo> option_table();

/// The option of that name, or null.
const OptionInfo* find_option(std::string_view name);

/// @throws InvalidArgument that names the first option whose value is neither allowed nor the default.
void check_options(const SumOptions& options);
void check_options(const ForceOptions& options);

/// What a user of a kernel needs to know.
struct KernelFacts {
    std::string_view text;       ///< one line
    int least_dimension = 3;     ///< of the points
    int most_dimension = 3;      ///< of the points
    std::string_view strength;   ///< what a source carries: "mass"
    int strength_columns = 1;    ///< numbers a source, and a target of the potential: 2 for complex ones
    OutputSet outputs;           ///< that it has
    OutputSet usual_outputs;     ///< that are computed where none is named: all but the Hessian
    bool acts_on_itself = false; ///< a point's own strength counts
    bool softens = false;        ///< takes `softening`
    bool has_sigma = false;      ///< takes `sigma`
    bool needs_sigma = false;    ///< and cannot do without
    bool has_dipoles = false;    ///< sources may have dipoles
    bool moves_vortices = false; ///< in simulations: points move with the field as their velocity
};
KernelFacts facts_of(Kernel kernel);

/// What a method does, in one line.
std::string_view text_of(Method method);

/// What guides say of an option: its line, its choices (those of a force or of a sum) and its details.
template <class Options>
std::string guide_text(const OptionInfo& option);
template <>
std::string guide_text<SumOptions>(const OptionInfo& option);
template <>
std::string guide_text<ForceOptions>(const OptionInfo& option);

/// The tables of the guides, in Markdown.
std::string options_markdown();
std::string kernels_markdown();
std::string methods_markdown();

} // namespace farfield
