#include "stencil/api/prepare.h"

#include "backend/comm/agree.h"
#include "backend/comm/communicator_access.h"
#include "base/machine.h"
#include "base/text.h"
#include "stencil/compiler.h"
#include "stencil/targets.h"
#include "stencil/tuning/choice.h"

#include <fmt/format.h>

#include <algorithm>

namespace farfield {
namespace {

// What `target` stands for, best first; the last one is taken for granted.
std::vector<std::string> candidates(const std::string& target, comm::Transport* ranks) {
    const auto known = stencil::target_names();
    const auto is_known = [&](std::string_view name) {
        return std::find(known.begin(), known.end(), name) != known.end();
    };
    const auto all_have_gpus = [&] {
        return !comm::any_rank(ranks, !stencil::has_gpus(ranks == nullptr ? 1 : ranks->local_size()));
    };
    if (target == "auto" && all_have_gpus()) return {"cuda", "cpu", "interpreter"};
    if (target == "auto" && is_known("cpu")) return {"cpu", "interpreter"};
    if (target == "auto") return {"interpreter"};
    if (is_known(target)) return {target};
    const auto allowed = stencil_targets();
    if (std::find(allowed.begin(), allowed.end(), target) != allowed.end())
        throw BackendUnavailable(fmt::format("the target '{}' is not in this build; take one of {}", target,
                                             list_of_words(known)));
    throw InvalidArgument(
        fmt::format("the target '{}' is not known; allowed are {}", target, list_of_words(allowed)));
}

void check_numbers(const StencilOptions& options) {
    const auto check = [](const char* name, int value) {
        if (value < 0)
            throw InvalidArgument(fmt::format("{} = {} is not allowed; it must be ≥ 0", name, value));
    };
    check("threads", options.threads);
    check("time_tile", options.time_tile);
    check("device", options.device);
    for (const int side : options.block) check("a side of block", side);
}

int index_of(const std::vector<std::string>& names, std::string_view name, const char* what) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<int>(found - names.begin());
    std::vector<std::string_view> views(names.begin(), names.end());
    throw InvalidArgument(
        views.empty()
            ? fmt::format("there is no {0} '{1}': the program has no {0}s", what, name)
            : fmt::format("there is no {} '{}'; the program has {}", what, name, list_of_words(views)));
}

template <class Table>
std::vector<std::string> names_in(const Table& table) {
    std::vector<std::string> names;
    names.reserve(table.size());
    for (const auto& entry : table) names.push_back(entry.name);
    return names;
}

// Of all hosts.
std::int64_t memory_of_ranks(const comm::Transport* transport) {
    return transport == nullptr ? 0 : physical_memory() / transport->local_size() * transport->size();
}

} // namespace

stencil::ExecutorOptions executor_options(const StencilOptions& options) {
    stencil::ExecutorOptions out;
    switch (options.mask) {
    case StencilMask::automatic:
        out.mask = stencil::Mask::automatic;
        break;
    case StencilMask::none:
        out.mask = stencil::Mask::none;
        break;
    case StencilMask::select:
        out.mask = stencil::Mask::select;
        break;
    case StencilMask::branch:
        out.mask = stencil::Mask::branch;
        break;
    case StencilMask::spans:
        out.mask = stencil::Mask::spans;
        break;
    case StencilMask::multiply:
        out.mask = stencil::Mask::multiply;
        break;
    }
    out.threads = options.threads;
    out.device = options.device;
    out.mpi_gpu = options.mpi_gpu;
    out.time_tile = options.time_tile;
    out.block = options.block;
    return out;
}

std::vector<std::string_view> stencil_targets() { return {"auto", "interpreter", "cpu", "cuda"}; }

int field_index(const stencil::Model& model, std::string_view name) {
    return index_of(names_in(model.fields), name, "field");
}

int record_index(const stencil::Model& model, std::string_view name) {
    return index_of(names_in(model.records), name, "record");
}

std::int64_t cells_of(const stencil::Grid& grid) {
    std::int64_t cells = 1;
    for (const auto& axis : grid.axes) cells *= axis.cells;
    return cells;
}

std::int64_t look_every(std::string_view target) { return target == "cuda" ? 4096 : 512; }

PreparedStencil prepare(const StencilProgram::Data& data, const StencilOptions& options,
                        const std::function<void(double)>& finding_cells) {
    check_numbers(options);
    auto* transport = CommunicatorAccess::transport(options.communicator);
    const auto targets = candidates(options.target, transport);
    PreparedStencil out;
    comm::together(transport, [&] {
        lang::Diagnostics diagnostics(data.front.diagnostics().source());
        stencil::CompileOptions compile_options;
        compile_options.folder = data.folder;
        compile_options.memory = memory_of_ranks(transport);
        compile_options.progress = finding_cells;
        compile_options.allow_unstable = options.allow_unstable;
        out.program = stencil::compile(data.model(), compile_options, diagnostics);
        require_good(diagnostics);
        if (!out.program)
            throw InternalError("the compiler of stencil programs made nothing and reported nothing");
        out.warnings = lang::to_text(diagnostics);
    });
    const auto make = [&](const std::string& target) {
        auto given = executor_options(options);
        // What was tuned is known on one machine, and ranks on several must agree.
        if (target != "interpreter" && transport == nullptr)
            given = stencil::with_choice(given, stencil::read_choice(stencil::choice_name(
                                                    deciding_text(data.model()), target, given)));
        comm::together(transport, [&] {
            out.executor = stencil::make_executor(target, out.program, given, options.communicator);
        });
    };
    for (const auto& target : targets) {
        out.target = target;
        if (target == targets.back()) {
            make(target);
            break;
        }
        const auto take_another = [&](const Error& error) {
            out.executor.reset();
            out.notes.push_back(fmt::format("the target {} cannot be used: {}; taking another one, with the "
                                            "same results",
                                            target, error.what()));
        };
        try {
            make(target);
            break;
        } catch (const BackendUnavailable& error) {
            take_another(error);
        } catch (const DeviceError& error) { // too little memory, say
            take_another(error);
        }
    }
    if (out.target == "interpreter" && targets.front() != "interpreter")
        out.notes.emplace_back("computing with the interpreter, which is slow");
    return out;
}

} // namespace farfield
