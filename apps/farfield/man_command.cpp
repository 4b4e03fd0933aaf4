// farfield man: the manual page farfield(1), made from the parser itself, so that it lists every option.
#include "command.h"

#include <farfield/version.h>

#include <fmt/format.h>

#include <string>
#include <vector>

namespace farfield::app {
namespace {

// The letter of UTF-8 that begins at `at`, as roff spells it: "\\[u03C3]". Moves to its last byte.
std::string letter(std::string_view text, std::size_t& at) {
    const auto first = static_cast<unsigned char>(text[at]);
    const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
    unsigned code = first & (0x3FU >> static_cast<unsigned>(more));
    for (int k = 0; k < more && at + 1 < text.size(); ++k)
        code = code << 6U | (static_cast<unsigned char>(text[++at]) & 0x3FU);
    return fmt::format("\\[u{:04X}]", code);
}

// Text for roff: a backslash, a leading dot or quote, a hyphen and letters beyond ASCII mean something there.
std::string roff(std::string_view text) {
    std::string out;
    bool line_start = true;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (line_start && (c == '.' || c == '\'')) out += "\\&";
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else if (c == '|')
            out += "|\\:"; // a line may break here
        else if (static_cast<unsigned char>(c) >= 0x80)
            out += letter(text, i);
        else
            out += c;
        line_start = c == '\n';
    }
    return out;
}

std::string roff_spellings(const OptionFacts& option) {
    std::string out;
    const auto add = [&](const std::string& name) {
        out += fmt::format("{}\\fB{}\\fR", out.empty() ? "" : ", ", roff(name));
    };
    for (const auto& name : option.short_names) add("-" + name);
    for (const auto& name : option.long_names) add("--" + name);
    if (out.empty()) return fmt::format("\\fI{}\\fR", roff(option.name));
    if (option.takes_value) out += fmt::format(" \\fI{}\\fR", roff(option.type_name));
    return out;
}

std::string default_of(const OptionFacts& option) {
    const auto& text = option.default_text;
    return text.empty() ? "" : fmt::format(" (default: {})", roff(text));
}

void add_options(std::string& page, const CommandParser& app) {
    for (const auto& option : app.options())
        page += fmt::format(".TP\n{}\n{}{}.\n", roff_spellings(option), roff(option.description),
                            default_of(option));
}

void add_command(std::string& page, const CommandParser& app, const std::string& prefix) {
    const auto name = prefix + " " + app.name();
    page += fmt::format(".SS {}\n{}.\n", roff(name), roff(app.summary()));
    add_options(page, app);
    if (const auto* command = command_of(app); command != nullptr)
        page += fmt::format(".PP\nExamples:\n.PP\n.nf\n{}.fi\n", roff(command->examples));
    for (const auto& child : app.commands()) add_command(page, child, name);
}

constexpr std::string_view opening = R"(.SH NAME
farfield \- sums over particles, and simulations made of them
.SH SYNOPSIS
.B farfield
.I COMMAND
[\fIOPTION\fR]...
.SH DESCRIPTION
Farfield computes potentials and fields of many points, and moves bodies under them.
A simulation is described by a case file in TOML; \fBfarfield run \-\-list\-keys\fR prints every key it may have.
.SH COMMANDS
)";

constexpr std::string_view closing = R"(.SH EXIT STATUS
.TP
.B 0
Done.
.TP
.B 2
A mistake in what was asked: an option, a case file, an input file, or an instruction set this machine lacks.
.TP
.B 1
The machine failed (such as a full disk) or farfield did; or the energy of a simulation is off by more than 100 %.
.TP
.B 129, 130, 143
Stopped by SIGHUP, Ctrl\-C or SIGTERM. \fBfarfield run\fR finishes its step and writes a checkpoint first; a second signal
ends it at once.
.SH ENVIRONMENT
.TP
.B OMP_NUM_THREADS
Threads to use where \fB\-\-threads\fR is not given.
.SH FILES
\fBfarfield run\fR writes into its output folder:
.TP
.I diagnostics.csv
Energies, momenta, virial ratio and Lagrangian radii against time.
.TP
.I snapshot_NNNN.h5, snapshot_NNNN.png
Bodies in the HDF5 layout of GADGET\-4, and a picture of them.
.TP
.I checkpoint.h5
What \fB\-\-restart\fR continues from.
.TP
.I summary.json
Machine, options, timings and the final error.
)";

} // namespace

Action declare_man(CommandParser app) {
    return [app] {
        const auto root = app.parent().value();
        std::string page =
            fmt::format(".TH FARFIELD 1 \"\" \"farfield {}\" \"User Commands\"\n.nh\n.ad l\n", version());
        page += opening;
        for (const auto& command : commands())
            if (!command.hidden) add_command(page, root.command(command.name).value(), "farfield");
        page += ".SH OPTIONS\n";
        add_options(page, root);
        page += closing;
        fmt::print("{}", page);
        return 0;
    };
}

} // namespace farfield::app
