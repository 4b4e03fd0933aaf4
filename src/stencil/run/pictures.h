// Pictures and animations of the fields of a stencil run.
#pragma once

#include "io/growing_file.h"
#include "io/picture/plot_field.h"
#include "stencil/api/program_data.h"
#include "stencil/compiler.h"
#include "stencil/ir/cell_set.h"

#include <farfield/stencil_run.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace farfield {

/// "z=12", or nothing.
std::string slice_text(const std::optional<StencilSlice>& slice);

/// How a field is looked at: the plane of a 2D field, the middle slice of a 3D one, the line of a 1D one, or
/// the slice that is asked for.
class FieldView {
public:
    /// @param outlined whether subdomains on the field's grid are outlined, which means rasterising them;
    /// only then are cells that nothing writes told apart.
    FieldView(const StencilProgram::Data& program, const stencil::CompileOptions& options, int field,
              const StencilLook& look, bool outlined);

    [[nodiscard]] int field() const { return field_; }
    [[nodiscard]] const picture::Plane& plane() const { return plane_; }
    /// The cells that are shown of all values of the field.
    [[nodiscard]] std::vector<double> shown(std::span<const double> values) const;
    [[nodiscard]] picture::Canvas draw(const picture::Plane& plane, std::span<const float> values,
                                       const picture::ValueRange& range, std::int64_t step, int size) const;
    /// The scale of colours for the values of one or more planes reduced to `most` cells.
    /// Cells that nothing writes are left out if others are written.
    [[nodiscard]] picture::ValueRange range_of(std::span<const float> values, std::int64_t most) const;
    /// Draws all of it, with colours for these values alone.
    void plot(const std::filesystem::path& png, std::span<const double> values, std::int64_t step) const;

private:
    void add_outlines(const StencilProgram::Data& program, const stencil::CompileOptions& options);
    /// Calls `mark` with the place in the plane of each cell of the set that is shown.
    template <class Mark>
    void for_each_shown(const stencil::ir::CellSet& cells, Mark mark) const;

    /// The number of an axis of the grid, and how far its cells lie from each other in the field.
    struct ShownAxis {
        std::size_t axis = 0;
        std::size_t stride = 0;
    };

    int field_;
    double dt_;
    picture::Plane plane_;
    ShownAxis across_;                    // of the columns
    std::optional<ShownAxis> up_;         // of the rows; none: a line
    std::optional<std::size_t> cut_axis_; // of the slice
    std::int64_t cut_ = 0;                // its cell
    std::size_t first_ = 0;               // cell of the slice in the field
    std::optional<picture::ValueRange> fixed_range_;
    std::vector<double> changing_; // 1 in cells of the slice that the run writes; empty: take all
    picture::FieldPicture picture_;
};

/// Keeps what an animation shows in a file beside the run until the colours of all frames are known.
class Frames {
public:
    /// @throws IoError; InvalidArgument where another run writes the file.
    Frames(FieldView view, std::int64_t every, const std::filesystem::path& path);

    [[nodiscard]] int field() const { return view_.field(); }
    [[nodiscard]] std::int64_t every() const { return every_; }
    void set_every(std::int64_t every) { every_ = every; }
    [[nodiscard]] bool due(std::int64_t step) const { return step % every_ == 0; }
    void begin();
    void continue_from(std::uint64_t bytes) { file_.continue_from(bytes); }
    void add(std::int64_t step, std::span<const double> values);
    /// Takes back the frames of later steps than `step`.
    void cut_to(std::int64_t step);
    std::uint64_t sync() { return file_.sync(); }
    /// Draws all frames so far with one scale of colours. @returns how many.
    std::size_t write(const std::filesystem::path& png);

private:
    /// The plane of a frame, whose cells may be averages.
    [[nodiscard]] picture::Plane reduced_plane() const;

    FieldView view_;
    std::int64_t every_;
    std::filesystem::path path_;
    GrowingFile file_;
};

} // namespace farfield
