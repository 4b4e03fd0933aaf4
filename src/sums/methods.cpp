// The table of methods: a line here and the method's own file are all that a method needs.
#include "sums/method/method.h"

#include <farfield/error.h>

#include <array>

namespace farfield {

void PreparedSum::execute_with_dipoles(const ConstArrayView& /*strengths*/, const ConstArrayView& /*dipoles*/,
                                       const SumOutputs& /*outputs*/, const SumHooks& /*hooks*/,
                                       SumReport& /*report*/) {
    throw InternalError("dipoles for a sum that has none");
}

const MethodInfo& direct_method();
const MethodInfo& fmm_method();
const MethodInfo& reference_method();

std::span<const MethodInfo* const> methods() {
    static const std::array table{&direct_method(), &fmm_method(), &reference_method()};
    return table;
}

const MethodInfo& method_info(Method method) {
    for (const auto* info : methods())
        if (info->value == method) return *info;
    throw InternalError("a method without a row in the table");
}

std::string_view method_for(const KernelInfo& kernel) {
    for (const auto* info : methods())
        if (info->computes(kernel)) return info->name;
    throw InternalError("a kernel that no method computes");
}

} // namespace farfield
