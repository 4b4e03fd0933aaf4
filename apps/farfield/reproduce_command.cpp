// farfield reproduce: the sources' tables on this machine.
#include "command.h"
#include "deliver.h"
#include "options.h"
#include "ranks.h"

#include "studies/reproduce.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace farfield::app {
namespace {

struct ReproduceCommand {
    ReproduceOptions options;
    int most_points = std::numeric_limits<int>::max();
    Delivery delivery;
    Study (*study)(const ReproduceOptions&) = nullptr;
};

// "16,32,64": the sides of blocks along an axis.
void add_sides(CommandParser app, const std::string& option, std::vector<int>& sides,
               const std::string& axis) {
    app.add_read(
           option,
           [option, &sides](const std::string& text) {
               sides.clear();
               for (std::size_t start = 0; start <= text.size();) {
                   const auto comma = std::min(text.find(',', start), text.size());
                   sides.push_back(read_count(option, text.substr(start, comma - start), {1, 1024},
                                              "write whole numbers with commas between"));
                   start = comma + 1;
               }
           },
           "GPU: sides of the blocks of threads along " + axis +
               ", with commas between; by default all powers "
               "of two")
        .type_name("N,N");
}

void declare_study(CommandParser app, ReproduceCommand& command, int least_repeats) {
    auto& options = command.options;
    add_one_device(app, options.device);
    add_count(app, "--n", command.most_points, {2, 1 << 24}, "Cut larger sizes to N, for a quick look",
              "leave the option out for the sizes of the source")
        .type_name("N");
    add_count(app, "--threads", options.threads, {1, 4096}, "Threads of the CPU; by default all",
              "leave the option out to use all cores");
    add_count(app, "--repeat", options.repeats, {least_repeats, 1000},
              "Measure this many times and take medians")
        .default_text(std::to_string(options.repeats));
    add_delivery(app, command.delivery);
}

} // namespace

Action declare_reproduce(CommandParser app) {
    app.require_command();
    const auto add = [&](const char* name, const char* summary, const char* examples,
                         Study (*study)(const ReproduceOptions&), int least_repeats = 1) {
        auto command = std::make_shared<ReproduceCommand>();
        command->study = study;
        const auto study_app = app.add_command(name, summary);
        study_app.footer(examples);
        command->options.repeats = std::max(command->options.repeats, least_repeats);
        declare_study(study_app, *command, least_repeats);
        return std::pair(study_app, command);
    };
    const auto timings =
        add("handbook-timings", "The CUDA Handbook's N-body timings (2012) beside this machine's",
            "Examples:\n  farfield reproduce handbook-timings\n"
            "  farfield reproduce handbook-timings --device cpu --repeat 5 --json timings.json\n",
            reproduce_handbook_timings);
    const auto multi_gpu =
        add("handbook-multi-gpu", "The CUDA Handbook's designs for several GPUs, with every exchange",
            "Examples:\n  farfield reproduce handbook-multi-gpu\n"
            "  farfield reproduce handbook-multi-gpu --n 262144 --repeat 9 --json gpus.json\n",
            reproduce_handbook_multi_gpu);
    const auto ladder = add("ladder", "The CUDA slides' ladder of optimisations beside this machine's",
                            "Examples:\n  farfield reproduce ladder\n  farfield reproduce ladder --n 10000\n",
                            reproduce_ladder);
    const auto blocks = add(
        "fdtd-blocks", "The stencil paper's block shapes (2011) beside this machine's",
        "Examples:\n  farfield reproduce fdtd-blocks\n  farfield reproduce fdtd-blocks "
        "--n 512 --device cpu\n  farfield reproduce fdtd-blocks --block-x 32,64 --block-y 1,2,4 --repeat 9\n",
        reproduce_fdtd_blocks, 5);
    add_sides(blocks.first, "--block-x", blocks.second->options.block_x, "x");
    add_sides(blocks.first, "--block-y", blocks.second->options.block_y, "y");
    const auto sizes =
        add("fdtd-sizes", "The stencil paper's grid sizes and masks beside this machine's",
            "Examples:\n  farfield reproduce fdtd-sizes\n  farfield reproduce fdtd-sizes --n 1024\n",
            reproduce_fdtd_sizes);
    const auto several =
        add("fdtd-multi", "The stencil paper's microdisk on one GPU, on several, and over Ethernet",
            "Examples:\n  mpirun -n 4 farfield reproduce fdtd-multi --picture curves.png\n"
            "  mpirun -n 2 farfield reproduce fdtd-multi --device cpu --n 1024\n",
            reproduce_fdtd_multi);
    several.first.add("--picture", several.second->options.picture, "Draw rates against sizes (PNG)")
        .type_name("FILE");
    const auto microdisk =
        add("microdisk", "The stencil paper's microdisk: modes against theory, and its energy picture",
            "Examples:\n  farfield reproduce microdisk --picture energy.png\n"
            "  farfield reproduce microdisk --n 80\n",
            reproduce_microdisk);
    microdisk.first.add("--picture", microdisk.second->options.picture, "Draw the energy (PNG)")
        .type_name("FILE");
    const auto strategies =
        add("fmm-strategies", "The slides' strategies of M2L on a GPU (2015) beside this machine's",
            "Examples:\n  farfield reproduce fmm-strategies --json strategies.json\n"
            "  farfield reproduce fmm-strategies --quick\n",
            reproduce_fmm_strategies);
    strategies.first.add_flag("--quick", strategies.second->options.quick,
                              "Fewer orders and depths: seconds");
    const auto m2l = add(
        "m2l-2d", "The M2L kernels of \"How to obtain efficient GPU kernels\" (2011) beside this machine's",
        "Examples:\n  farfield reproduce m2l-2d --json m2l.json\n  farfield reproduce m2l-2d --n 40000\n",
        reproduce_m2l_2d);
    const auto hermite = add(
        "hermite",
        "The Hermite kernels of \"How to obtain efficient GPU kernels\" (2011) beside this machine's",
        "Examples:\n  farfield reproduce hermite --json hermite.json\n  farfield reproduce hermite --quick\n",
        reproduce_hermite);
    hermite.first.add_flag("--quick", hermite.second->options.quick, "The two smallest numbers of particles");
    const std::vector studies{timings, multi_gpu, ladder,     blocks, sizes,
                              several, microdisk, strategies, m2l,    hermite};
    return [studies, on_ranks = several.first] {
        const auto chosen = std::find_if(studies.begin(), studies.end(),
                                         [](const auto& study) { return study.first.is_named(); });
        auto& command = *chosen->second;
        if (on_ranks.is_named())
            command.options.communicator = Communicator::world();
        else
            require_one_process("reproduce");
        if (!command.options.picture.empty()) require_output(command.options.picture, "--picture");
        command.options.most_points = command.most_points;
        if (!speaks()) { // rank 0 tells and writes what all have measured
            if (!command.delivery.json.empty()) require_output(command.delivery.json, "--json");
            command.study(command.options);
            return 0;
        }
        return deliver(command.delivery, [&](const StudyProgress& progress) {
            command.options.progress = progress;
            return command.study(command.options);
        });
    };
}

} // namespace farfield::app
