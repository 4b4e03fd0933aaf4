// What a stencil run writes on its way: fields, series.csv, frames, checkpoints.
#pragma once

#include "io/growing_file.h"
#include "stencil/api/prepare.h"
#include "stencil/run/checkpoint.h"
#include "stencil/run/folder.h"
#include "stencil/run/pictures.h"
#include "stencil/run/state.h"

#include <farfield/stencil_run.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace farfield {

class StencilFiles {
public:
    StencilFiles(const StencilProgram& program, const StencilRunSettings& settings,
                 const StencilFolder& folder, PreparedStencil& prepared, StencilState& state,
                 std::int64_t last_step);

    void begin();
    /// @returns what to tell: animations that begin in the middle.
    std::vector<std::string> continue_from(const StencilCheckpoint& checkpoint);
    /// The first step after `step` at which fields or frames are due.
    [[nodiscard]] std::int64_t next_due(std::int64_t step) const;
    /// Whether fields of step `step` are to be written.
    [[nodiscard]] bool fields_due(std::int64_t step) const;
    /// Takes from the executor what was recorded in the steps (from, to] and appends it to series.csv.
    void write_series(std::int64_t from, std::int64_t to);
    /// Takes back the rows and frames of later steps than `step`.
    void cut_to(std::int64_t step);
    /// The fields that are due, of a state taken at this step.
    void write_fields();
    void add_frames();
    /// @param inputs the files that the program reads.
    void write_checkpoint(const std::vector<InputFile>& inputs);
    /// Plots and animations. @returns their files.
    std::vector<std::filesystem::path> write_pictures();

private:
    [[nodiscard]] const stencil::Model& model() const { return program_.data()->model(); }
    [[nodiscard]] bool is_due(const stencil::Output& output, std::int64_t step) const;
    /// Whether a record has a value for this step.
    [[nodiscard]] bool row_due(std::int64_t step) const;
    void write_field(int field);

    const StencilProgram& program_;
    const StencilRunSettings& settings_;
    const StencilFolder& folder_;
    PreparedStencil& prepared_;
    StencilState& state_;
    std::int64_t last_step_;
    stencil::CompileOptions compile_options_;
    std::optional<GrowingFile> series_; // where the program records anything
    std::vector<std::unique_ptr<Frames>> frames_;
};

} // namespace farfield
