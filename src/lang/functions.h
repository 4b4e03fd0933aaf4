// The functions that expressions may call.
#pragma once

#include "lang/expression.h"

#include <span>
#include <string>
#include <string_view>

namespace farfield::lang {

struct FunctionInfo {
    std::string_view name;
    Function function = Function::none;
    int least = 1; ///< arguments
    int most = 1;  ///< arguments; many: any number
    std::string_view summary;
    static constexpr int many = 64;
};

/// Those on numbers, in alphabetical order; `image` and `data` are not among them.
std::span<const FunctionInfo> functions();

/// Null where there is none of that name.
const FunctionInfo* find_function(std::string_view name);

/// "did you mean 'exp'?", or advice for functions that other languages have; never empty.
std::string function_advice(std::string_view name);

} // namespace farfield::lang
