// A StencilRun as a file, in the format of checkpoints: what is loaded goes on to the same bits.
#include "backend/comm/agree.h"
#include "backend/comm/communicator_access.h"
#include "io/seal.h"
#include "run/checkpoint.h"
#include "stencil/api/finite.h"
#include "stencil/api/program_data.h"
#include "stencil/api/run_access.h"
#include "stencil/run/checkpoint.h"

#include <farfield/error.h>
#include <farfield/stencil_run.h>
#include <farfield/version.h>

#include <fmt/format.h>

#include <utility>
#include <variant>

namespace farfield {
namespace {

namespace fs = std::filesystem;

// "n=4", "rate=1.5", "open=true"; a real number stays one.
std::string assignment(const StencilParameter& parameter) {
    if (const auto* truth = std::get_if<bool>(&parameter.value))
        return fmt::format("{}={}", parameter.name, *truth ? "true" : "false");
    if (const auto* whole = std::get_if<std::int64_t>(&parameter.value))
        return fmt::format("{}={}", parameter.name, *whole);
    auto number = fmt::format("{}", std::get<double>(parameter.value));
    if (number.find_first_of(".en") == std::string::npos) number += ".0";
    return fmt::format("{}={}", parameter.name, number);
}

// Where the program's files are, also for a process that stands in another folder.
std::string folder_of(const StencilProgram& program, bool reads_files) {
    return reads_files ? fs::absolute(program.folder()).lexically_normal().string()
                       : program.folder().string();
}

void require_finite_field(const stencil::Model& model, std::size_t index, const std::vector<double>& values) {
    if (all_finite(values)) return;
    throw InvalidArgument(fmt::format("the field '{}' has {}; a run that went wrong is not saved",
                                      model.fields[index].name,
                                      first_bad_text(model, static_cast<int>(index), values)));
}

void require_same_files(const fs::path& path, const std::vector<InputFile>& before,
                        const std::vector<InputFile>& now) {
    for (std::size_t i = 0; i < before.size() && i < now.size(); ++i)
        if (before[i].name != now[i].name || (!now[i].hash.empty() && now[i].hash != before[i].hash))
            throw InvalidArgument(
                fmt::format("the file '{}', which the program reads, has changed since the run was saved in "
                            "'{}'; put the earlier one back",
                            now[i].name, path.string()));
}

} // namespace

void save_stencil_run(StencilRun& run, const fs::path& path) {
    const auto& program = run.program();
    const auto& model = program.data()->model();
    auto state = StencilRunAccess::capture(run);
    StencilCheckpoint checkpoint;
    checkpoint.version = std::string(version());
    checkpoint.program = deciding_text(model);
    checkpoint.inputs = input_files(model, program.folder());
    checkpoint.step = state.step;
    for (std::size_t i = 0; i < state.fields.size(); ++i) {
        require_finite_field(model, i, state.fields[i]);
        checkpoint.fields.push_back({model.fields[i].name,
                                     model.fields[i].precision == stencil::Precision::single_precision,
                                     std::move(state.fields[i])});
    }
    checkpoint.source = {program.text(),
                         program.name(),
                         folder_of(program, !checkpoint.inputs.empty()),
                         {},
                         std::move(state.series)};
    for (const auto& parameter : program.given_parameters())
        checkpoint.source->parameters.push_back(assignment(parameter));
    comm::on_root(CommunicatorAccess::transport(StencilRunAccess::communicator(run)),
                  [&] { write_with_seal(path, checkpoint_image(checkpoint)); });
}

StencilRun load_stencil_run(const fs::path& path, const StencilOptions& options) {
    auto checkpoint = read_stencil_checkpoint(path);
    if (!checkpoint.source)
        throw InvalidArgument(fmt::format(
            "{}: it is the checkpoint of a run with files, which goes on in its folder (--restart, "
            "run_stencil with restart)",
            path.string()));
    require_this_version(path, checkpoint.version, "begin again");
    StencilParameters parameters;
    for (const auto& text : checkpoint.source->parameters) parameters.push_back(stencil_parameter(text));
    const auto& source = *checkpoint.source;
    const auto program = StencilProgram::from_text(source.text, parameters, source.name, source.folder);
    require_same_files(path, checkpoint.inputs, input_files(program.data()->model(), program.folder()));
    StencilRun run(program, options);
    StencilRunState state{checkpoint.step, {}, std::move(checkpoint.source->series)};
    for (auto& field : checkpoint.fields) state.fields.push_back(std::move(field.values));
    StencilRunAccess::restore(run, std::move(state));
    return run;
}

} // namespace farfield
