#include "dynamics/forces/method_support.h"

#include "base/spelling.h"
#include "sums/method/method.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <string>

namespace farfield {

bool supports_jerk(Method method) { return method_info(method).field_and_jerk != nullptr; }

void check_jerk(Method method, Integrator integrator) {
    if (supports_jerk(method)) return;
    std::string able;
    for (const auto* row : methods())
        if (supports_jerk(row->value)) able += (able.empty() ? "" : " or ") + spelled("method", row->name);
    throw InvalidArgument(fmt::format(
        "time.integrator = \"{}\" needs the time derivatives of accelerations, which {} does not compute; "
        "use {}, or time.integrator = \"yoshida4\" (order 4, "
        "too) or \"leapfrog\"",
        name_of(integrator), spelled("method", name_of(method)), able));
}

} // namespace farfield
