// farfield stencil resonances: frequencies and quality factors of a recorded series.
#include "command.h"
#include "options.h"

#include "studies/resonances/resonances.h"

#include <fmt/format.h>

#include <memory>

namespace farfield::app {

StencilPart declare_stencil_resonances(CommandParser stencil) {
    struct Options {
        ResonancesTask task;
        bool json = false;
    };
    auto command = std::make_shared<Options>();
    const auto app = stencil.add_command("resonances", "Find frequencies and Q in a recorded series");
    app.footer("Examples:\n  farfield stencil resonances series.csv --from 0.01 --to 0.1\n"
               "  farfield stencil resonances series.csv --column probe --from 0.01 --to 0.1 --after 500 "
               "--json\n");
    auto& task = command->task;
    app.add("FILE", task.input, "Series as CSV, with a column of times").type_name("").required();
    app.add("--column", task.column, "The series; may be left out where there is one").type_name("NAME");
    add_real(app, "--from", task.from, 0, "Lowest frequency, cycles a unit of time").required();
    add_real(app, "--to", task.to, 0, "Highest frequency").required();
    add_real(app, "--after", task.after, 0, "Leave earlier times out: the source must have ended");
    add_real(app, "--least", task.least, 0, "Leave amplitudes out that are below this part of the strongest");
    app.add_flag("--json", command->json, "The list as JSON on standard output");
    return {app, [command] {
                return with_inputs({command->task.input}, [&] {
                    require_input(command->task.input, "FILE");
                    const auto report = find_resonances(command->task);
                    fmt::print("{}", command->json ? to_json(report) : to_text(report));
                    return 0;
                });
            }};
}

} // namespace farfield::app
