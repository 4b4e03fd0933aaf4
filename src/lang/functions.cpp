// The table of functions.
#include "lang/functions.h"

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace farfield::lang {
namespace {

constexpr std::array<FunctionInfo, 13> table{{
    {"abs", Function::abs, 1, 1, "absolute value"},
    {"cbrt", Function::cbrt, 1, 1, "cube root"},
    {"ceil", Function::ceil, 1, 1, "the next whole number above, as a real"},
    {"cos", Function::cos, 1, 1, "cosine of an angle in radians"},
    {"exp", Function::exp, 1, 1, "e to the power of x"},
    {"floor", Function::floor, 1, 1, "the next whole number below, as a real"},
    {"log", Function::log, 1, 1, "natural logarithm"},
    {"max", Function::max, 2, FunctionInfo::many, "the largest"},
    {"min", Function::min, 2, FunctionInfo::many, "the smallest"},
    {"pow", Function::pow, 2, 2, "pow(x, y): x to a real power"},
    {"sin", Function::sin, 1, 1, "sine of an angle in radians"},
    {"sqrt", Function::sqrt, 1, 1, "square root"},
    {"tanh", Function::tanh, 1, 1, "hyperbolic tangent"},
}};

struct FunctionAdvice {
    std::string_view name;
    std::string_view remedy;
};
constexpr std::array<FunctionAdvice, 18> function_advices{{
    {"tan", "write sin(x)/cos(x)"},
    {"atan",
     "there are no inverses of sin, cos and tan; put angles into a file and read it with data(\"file.npy\")"},
    {"atan2",
     "there are no inverses of sin, cos and tan; put angles into a file and read it with data(\"file.npy\")"},
    {"asin",
     "there are no inverses of sin, cos and tan; put angles into a file and read it with data(\"file.npy\")"},
    {"acos",
     "there are no inverses of sin, cos and tan; put angles into a file and read it with data(\"file.npy\")"},
    {"hypot", "write sqrt(x^2 + y^2)"},
    {"ln", "the natural logarithm is log(x)"},
    {"log10", "write log(x)/log(10.0)"},
    {"log2", "write log(x)/log(2.0)"},
    {"sinh", "write (exp(x) - exp(-x))/2"},
    {"cosh", "write (exp(x) + exp(-x))/2"},
    {"fabs", "write abs(x)"},
    {"mod", "write a % b, for whole numbers"},
    {"square", "write x^2"},
    {"round", "write floor(x + 0.5)"},
    {"int", "write floor(x), or a // b for a whole quotient"},
    {"float", "whole numbers become real by themselves where it matters"},
    {"double", "whole numbers become real by themselves where it matters"},
}};

} // namespace

std::span<const FunctionInfo> functions() { return table; }

const FunctionInfo* find_function(std::string_view name) {
    const auto found =
        std::find_if(table.begin(), table.end(), [&](const FunctionInfo& info) { return info.name == name; });
    return found == table.end() ? nullptr : &*found;
}

std::string function_advice(std::string_view name) {
    for (const auto& known : function_advices)
        if (known.name == name) return std::string(known.remedy);
    std::vector<std::string_view> names{"where"};
    for (const auto& info : table) names.push_back(info.name);
    const auto nearest = nearest_word(name, names);
    if (!nearest.empty()) return fmt::format("did you mean '{}'?", nearest);
    std::sort(names.begin(), names.end());
    return fmt::format("there are {}", joined(names, ", "));
}

} // namespace farfield::lang
