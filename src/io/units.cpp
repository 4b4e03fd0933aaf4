// Units by name. Lengths: IAU 2012 B2 (au) and 2015 B2, B3 (pc, Rsun); masses: GM of IAU 2015 B3 over G of
// CODATA 2018; a year is 365.25 days.
#include "io/units.h"

#include "base/text.h"
#include "io/messages.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

namespace farfield {
namespace {

struct NamedUnit {
    std::string_view name;
    double in_cgs;
};

constexpr double au = 1.495978707e13;
constexpr double pc = 3.0856775814913673e18; // 648000/π au
constexpr double solar_mass = 1.98841e33;
constexpr double day = 86400.0;
constexpr double year = 365.25 * day;

constexpr std::array lengths{NamedUnit{"cm", 1.0},        NamedUnit{"m", 1e2},       NamedUnit{"km", 1e5},
                             NamedUnit{"Rsun", 6.957e10}, NamedUnit{"au", au},       NamedUnit{"pc", pc},
                             NamedUnit{"kpc", 1e3 * pc},  NamedUnit{"Mpc", 1e6 * pc}};
constexpr std::array masses{NamedUnit{"g", 1.0}, NamedUnit{"kg", 1e3}, NamedUnit{"Mearth", 5.97217e27},
                            NamedUnit{"Msun", solar_mass}, NamedUnit{"solar masses", solar_mass}};
constexpr std::array times{NamedUnit{"s", 1.0},          NamedUnit{"h", 3600.0},
                           NamedUnit{"day", day},        NamedUnit{"yr", year},
                           NamedUnit{"kyr", 1e3 * year}, NamedUnit{"Myr", 1e6 * year},
                           NamedUnit{"Gyr", 1e9 * year}};

std::string_view without_blanks(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

std::optional<double> value_of(std::string_view name, std::span<const NamedUnit> known) {
    for (const auto& unit : known)
        if (unit.name == without_blanks(name)) return unit.in_cgs;
    return std::nullopt;
}

std::string names(std::span<const NamedUnit> known) {
    std::vector<std::string_view> out;
    for (const auto& unit : known) out.push_back(unit.name);
    return list_of_words(out);
}

// Takes a number off the front; 1 where there is none.
double take_factor(std::string_view& text) {
    double factor = 1.0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), factor);
    if (result.ec != std::errc{}) return 1.0;
    text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
    return factor;
}

template <class Value>
Unit unit_of(std::string_view what, std::string_view text, std::string_view example, const std::string& known,
             Value value) {
    auto rest = without_blanks(text);
    const double factor = take_factor(rest);
    const std::optional<double> in_cgs = value(rest);
    const double product = factor * in_cgs.value_or(0.0);
    if (!(product > 0.0) || !std::isfinite(product))
        throw InvalidArgument(
            fmt::format("{} is no unit of {}; write a name, or a number > 0 and a name, such "
                        "as {}; known are {}",
                        printable(text), what, example, known));
    return {std::string(text), product};
}

std::optional<double> velocity_of(std::string_view text) {
    const auto slash = text.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const auto length = value_of(text.substr(0, slash), lengths);
    const auto time = value_of(text.substr(slash + 1), times);
    if (!length || !time) return std::nullopt;
    return *length / *time;
}

bool close(double a, double b) { return std::abs(a - b) <= 1e-3 * b; }

std::optional<std::string> usual_name(double in_cgs, std::span<const NamedUnit> known) {
    for (const auto& unit : known) {
        if (close(in_cgs, unit.in_cgs)) return std::string(unit.name);
        if (close(in_cgs, 1e10 * unit.in_cgs)) return fmt::format("1e10 {}", unit.name);
    }
    return std::nullopt;
}

} // namespace

bool are_physical(const Units& units) { return units != Units{}; }

// G has the dimension length · velocity² / mass.
double gravitational_constant(const Units& units) {
    return newton_G_cgs * (units.mass.in_cgs / units.length.in_cgs) / units.velocity.in_cgs /
           units.velocity.in_cgs;
}

Unit length_unit(std::string_view text) {
    return unit_of("length", text, "\"kpc\"", names(lengths),
                   [](std::string_view name) { return value_of(name, lengths); });
}

Unit mass_unit(std::string_view text) {
    return unit_of("mass", text, "\"1e10 Msun\"", names(masses),
                   [](std::string_view name) { return value_of(name, masses); });
}

Unit velocity_unit(std::string_view text) {
    return unit_of("velocity", text, "\"km/s\"",
                   fmt::format("the lengths {}, each over {}", names(lengths), names(times)), velocity_of);
}

Unit named_length(double in_cgs) {
    return {usual_name(in_cgs, lengths).value_or(fmt::format("{:g} cm", in_cgs)), in_cgs};
}

Unit named_mass(double in_cgs) {
    return {usual_name(in_cgs, masses).value_or(fmt::format("{:g} g", in_cgs)), in_cgs};
}

Unit named_velocity(double in_cgs) {
    for (const auto* name : {"km/s", "m/s", "cm/s", "au/day", "au/yr", "pc/Myr", "kpc/Gyr"})
        if (close(in_cgs, velocity_of(name).value())) return {name, in_cgs};
    return {fmt::format("{:g} cm/s", in_cgs), in_cgs};
}

} // namespace farfield
