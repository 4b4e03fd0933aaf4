// farfield info: version and machine.
#include "command.h"

#include "studies/machine_report.h"

#include <fmt/format.h>

#include <memory>

namespace farfield::app {

Action declare_info(CommandParser app) {
    auto json = std::make_shared<bool>(false);
    app.add_flag("--json", *json, "As JSON");
    return [json] {
        const auto report = machine_report();
        fmt::print("{}", *json ? to_json(report) : to_text(report));
        return 0;
    };
}

} // namespace farfield::app
