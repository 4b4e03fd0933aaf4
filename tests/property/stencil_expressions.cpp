// Random expressions: every operator, function and kind of name.
#include "stencil_expressions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

namespace farfield::testing {

void Expressions::begin_action(std::vector<std::size_t> targets) {
    in_action_ = true;
    unbounded_ = false;
    targets_ = std::move(targets);
    temporaries_.clear();
}

std::string Expressions::coordinate() { return {names_.axes[dice_.pick(names_.axes.size())]}; }

// x or X
std::string Expressions::place() {
    auto out = coordinate();
    if (dice_.chance(3)) out[0] = static_cast<char>(out[0] - 'x' + 'X');
    return out;
}

std::string Expressions::number() {
    constexpr std::array texts{"0.5",  "-1.25", "0.1", "3", "2.0",    "1e-3",
                               "-0.0", "pi",    "dt",  "1", "0.3333", "7.5"};
    return texts[dice_.pick(texts.size())];
}

std::string Expressions::region(int depth) {
    const auto inner = std::exchange(in_action_, false);
    auto out = truth(depth);
    in_action_ = inner;
    return out;
}

std::string Expressions::initial(int depth) {
    const auto inner = std::exchange(in_action_, false);
    auto out = fmt::format("0.5*sin({})", real(depth));
    in_action_ = inner;
    return out;
}

std::string Expressions::assigned(int depth) {
    switch (dice_.pick(4)) {
    case 0:
        return real(depth);
    case 1:
        return fmt::format("0.5*tanh({})", real(depth - 1));
    case 2:
        return fmt::format("0.1*{} - 0.2*sin({})", leaf(), real(depth - 1));
    default:
        return fmt::format("max(-1.5, min(1.5, {}))", real(depth - 1));
    }
}

std::string Expressions::leaf() {
    if (!in_action_)
        return dice_.chance(3) ? number() : dice_.chance(4) ? fmt::format("d{}", coordinate()) : place();
    switch (dice_.pick(9)) {
    case 0:
        return number();
    case 1:
        return "t";
    case 2: // X has no meaning where fields of an update sit at different places
        return targets_.size() == 1 ? place() : coordinate();
    case 3:
        return temporaries_.empty() ? "t" : temporaries_[dice_.pick(temporaries_.size())];
    case 4:
        return names_.coefficients.empty() ? number() : names_.coefficients.front();
    case 5:
        return names_.arrays.empty() ? "step" : names_.arrays[dice_.pick(names_.arrays.size())];
    default:
        return access();
    }
}

// Neighbours of a field that the update itself writes only with two buffers; distances within every
// boundary's reach.
std::string Expressions::access() {
    const auto i = dice_.pick(names_.fields.size());
    const auto& field = names_.fields[i];
    const bool target = std::find(targets_.begin(), targets_.end(), i) != targets_.end();
    if ((target && !field.double_buffered) || dice_.chance(4)) return field.name;
    std::vector<std::string> offsets;
    for (std::size_t a = 0; a < names_.axes.size(); ++a) {
        if (!dice_.chance(2)) continue;
        const auto reach = static_cast<std::size_t>(std::min(names_.cells[a], 3));
        const auto distance = 1 + dice_.pick(reach);
        offsets.push_back(fmt::format("{}{}{}", names_.axes[a], dice_.chance(2) ? "+" : "-", distance));
    }
    if (offsets.empty()) return field.name;
    unbounded_ = unbounded_ || !field.bounded;
    return fmt::format("{}[{}]", field.name, fmt::join(offsets, ", "));
}

std::string Expressions::whole(int depth) {
    if (depth <= 0) {
        if (in_action_ && dice_.chance(4)) return "step";
        return dice_.chance(2) ? coordinate() : fmt::format("{}", dice_.pick(7));
    }
    const auto a = [&] { return whole(depth - 1); };
    switch (dice_.pick(9)) {
    case 0:
        return fmt::format("({} + {})", a(), a());
    case 1:
        return fmt::format("({} - {})", a(), a());
    case 2:
        return fmt::format("{}*({})", a(), a());
    case 3:
        return fmt::format("({})//({})", a(), dice_.chance(2) ? "3" : a());
    case 4:
        return fmt::format("({})%({})", a(), dice_.chance(2) ? "-4" : a());
    case 5:
        return fmt::format("({})^{}", a(), dice_.pick(4));
    case 6:
        return fmt::format("{}({}, {})", dice_.chance(2) ? "min" : "max", a(), a());
    case 7:
        return fmt::format("abs(-({}))", a());
    default:
        return fmt::format("(if {} then {} else {})", truth(depth - 1), a(), a());
    }
}

std::string Expressions::truth(int depth) {
    constexpr std::array signs{"<", "<=", ">", ">=", "==", "!="};
    const auto compared = [&] { return dice_.chance(2) ? whole(depth - 2) : real(depth - 2); };
    if (depth <= 0 || dice_.chance(3))
        return fmt::format("{} {} {}", compared(), signs[dice_.pick(signs.size())], compared());
    switch (dice_.pick(6)) {
    case 5:
        return fmt::format("({}) {} ({})", truth(depth - 1), dice_.chance(2) ? "==" : "!=", truth(depth - 1));
    case 0:
        return fmt::format("({} and {})", truth(depth - 1), truth(depth - 1));
    case 1:
        return fmt::format("({} or {})", truth(depth - 1), truth(depth - 1));
    case 2:
        return fmt::format("not ({})", truth(depth - 1));
    case 3:
        return names_.subdomains.empty() ? "true" : names_.subdomains[dice_.pick(names_.subdomains.size())];
    default:
        return fmt::format("({} {} {} <= {})", compared(), dice_.chance(2) ? "<" : "<=", compared(),
                           compared());
    }
}

std::string Expressions::constant_exponent() {
    constexpr std::array texts{"2", "3", "-1", "-2", "0", "4", "2.0", "0.5", "16", "1", "17", "-3"};
    return texts[dice_.pick(texts.size())];
}

std::string Expressions::power(int depth) {
    if (!dice_.chance(3)) return fmt::format("({})^{}", real(depth - 1), constant_exponent());
    return fmt::format("(abs({}) + 0.1)^({})", real(depth - 1), real(depth - 2));
}

std::string Expressions::function(int depth) {
    const auto a = [&] { return real(depth - 1); };
    constexpr std::array plain{"sin", "cos", "tanh", "cbrt", "abs", "floor", "ceil"};
    switch (dice_.pick(6)) {
    case 0:
        return fmt::format("exp(-abs({}))", a());
    case 1:
        return fmt::format("log(abs({}) + 0.5)", a());
    case 2:
        return fmt::format("sqrt({})", dice_.chance(8) ? a() : fmt::format("abs({})", a()));
    case 3:
        return fmt::format("{}({}, {}{})", dice_.chance(2) ? "min" : "max", a(), a(),
                           dice_.chance(3) ? fmt::format(", {}", a()) : "");
    default:
        return fmt::format("{}({})", plain[dice_.pick(plain.size())], a());
    }
}

std::string Expressions::real(int depth) {
    if (depth <= 0 || dice_.chance(6)) return leaf();
    const auto a = [&] { return real(depth - 1); };
    switch (dice_.pick(12)) {
    case 0:
    case 1:
        return fmt::format("({} + {})", a(), a());
    case 2:
        return fmt::format("({} - {})", a(), a());
    case 3:
        return fmt::format("{}*({})", leaf(), a());
    case 4: // products that meet sums
        return fmt::format("({}*({}) {} {}*({}))", leaf(), a(), dice_.chance(2) ? "+" : "-", leaf(), a());
    case 5:
        return fmt::format("({} {} {}*({}))", a(), dice_.chance(2) ? "+" : "-", leaf(), a());
    case 6:
        return fmt::format("({})/({})", a(), dice_.chance(2) ? "4.0" : fmt::format("{} + 3.5", a()));
    case 7:
        return power(depth);
    case 8:
        return fmt::format(fmt::runtime(dice_.chance(2) ? "(if {} then {} else {})" : "where({}, {}, {})"),
                           truth(depth - 1), a(), a());
    case 9:
        return fmt::format("-({})", a());
    case 10:
        return whole(depth - 1);
    default:
        return function(depth);
    }
}

} // namespace farfield::testing
