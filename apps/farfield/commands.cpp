// The commands of `farfield`.
#include "command.h"

#include <array>

namespace farfield::app {
namespace {

constexpr std::array commands_by_name{
    Command{"run", "Run a simulation that a case file describes",
            "farfield run plummer.toml\n"
            "farfield run plummer.toml --set initial.n=1000 --set time.end=2 --out small\n"
            "farfield run plummer.toml --out small --restart\n",
            false, true, declare_run},
    Command{"sum", "Compute potentials and fields of points",
            "farfield sum --kernel coulomb --sources charges.npy --out field.npy\n"
            "farfield sum --kernel gravity --sources stars.csv --targets probes.csv --softening 0.01 \\\n"
            "    --precision mixed --output potential,field --out result.csv --json report.json\n"
            "farfield sum --kernel gravity --sources stars.npy --device cuda --out field.npy\n"
            "farfield sum --kernel gauss --density scott --sources points.csv --out density.csv\n",
            false, true, declare_sum},
    Command{"plot", "Draw snapshots, a diagnostics.csv or a density of points",
            "farfield plot plummer/snapshot_0004.h5 -o cluster.png\n"
            "farfield plot figure-eight -o trails.png\n"
            "farfield plot plummer --animate --width 8 -o film.png\n"
            "farfield plot plummer/diagnostics.csv -o energy.png\n"
            "farfield plot points.csv -o density.png\n",
            false, false, declare_plot},
    Command{"bench", "Measure how fast the sums are on this machine",
            "farfield bench direct\n"
            "farfield bench direct --n 16384,65536 --threads 2 --json bench.json\n"
            "farfield bench direct --device cuda --n 262144\n"
            "farfield bench fmm --n 10000,100000 --picture fmm.png\n"
            "farfield bench split\n"
            "mpirun -n 4 farfield bench scaling --picture scaling.png\n",
            false, true, declare_bench},
    Command{"reproduce", "Repeat the measurements of the sources on this machine",
            "farfield reproduce handbook-timings\n"
            "farfield reproduce ladder --device cuda --json ladder.json\n"
            "farfield reproduce ladder --n 10000 --repeat 5\n"
            "mpirun -n 4 farfield reproduce fdtd-multi --picture curves.png\n",
            false, true, declare_reproduce},
    Command{"stencil", "Run, check and explain programs of the stencil language",
            "farfield stencil run microdisk.ff --steps 2000 --plot Hz:hz.png\n"
            "farfield stencil check microdisk.ff\n"
            "farfield stencil explain microdisk.ff --after names --set cells=256\n",
            false, true, declare_stencil},
    Command{"tune", "Measure what sums cost on this machine, for the choices of `auto`",
            "farfield tune\n"
            "farfield tune fmm --dry-run\n"
            "farfield tune --device cpu --threads 8 --out node.toml --json node.json\n",
            false, false, declare_tune},
    Command{"info", "Tell the version and what this machine offers",
            "farfield info\n"
            "farfield info --json\n",
            false, false, declare_info},
    Command{"completion", "Print a completion script for a shell",
            "farfield completion bash > ~/.local/share/bash-completion/completions/farfield\n", true, false,
            declare_completion},
    Command{"man", "Print the manual page", "farfield man > farfield.1\n", true, false, declare_man},
};

} // namespace

std::span<const Command> commands() { return commands_by_name; }

const Command* command_of(CommandParser app) {
    for (const auto& command : commands_by_name)
        if (app.name() == command.name) return &command;
    return nullptr;
}

} // namespace farfield::app
