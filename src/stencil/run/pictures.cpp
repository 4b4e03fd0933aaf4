#include "stencil/run/pictures.h"

#include "io/atomic_file.h"
#include "io/file.h"
#include "io/picture/animation.h"
#include "io/picture/axes.h"
#include "stencil/analysis/analysis.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace farfield {
namespace {

constexpr std::int64_t plot_cells = 1800; // a side; more are averaged
constexpr int plot_size = 900;
constexpr std::int64_t frame_cells = 480;
constexpr int frame_size = 480;
constexpr int frame_milliseconds = 80;

std::string axis_label(const stencil::Grid& grid, const stencil::Axis& axis) {
    if (grid.physical) return std::string(1, "XYZ"[axis.coordinate]);
    return fmt::format("{} [cells]", "xyz"[axis.coordinate]);
}

std::size_t bytes_of_frame(const picture::Plane& plane) {
    return sizeof(std::int64_t) + static_cast<std::size_t>(plane.columns * plane.rows) * sizeof(float);
}

std::int64_t step_of_frame(const std::byte* frame) {
    std::int64_t step = 0;
    std::memcpy(&step, frame, sizeof step);
    return step;
}

struct Sides {
    double first, last;
};

// Values stand for a cell's width around them.
Sides sides_of(const stencil::Axis& axis, double stagger) {
    return {axis.origin + (stagger - 0.5) * axis.spacing,
            axis.origin + (static_cast<double>(axis.cells) + stagger - 0.5) * axis.spacing};
}

} // namespace

std::string slice_text(const std::optional<StencilSlice>& slice) {
    return slice ? fmt::format("{}={}", slice->axis, slice->index) : std::string();
}

FieldView::FieldView(const StencilProgram::Data& program, const stencil::CompileOptions& options, int field,
                     const StencilLook& look, bool outlined)
    : field_(field), dt_(program.model().dt) {
    const auto& description = program.model().fields[static_cast<std::size_t>(field)];
    const auto& grid = program.model().grids[static_cast<std::size_t>(description.grid)];
    picture_.title = fmt::format("{}: {}", program.name, description.name);
    picture_.values_label = description.name;
    picture_.colours = look.colours;
    if (look.range) fixed_range_ = {(*look.range)[0], (*look.range)[1], false};
    std::vector<ShownAxis> shown;
    std::size_t stride = 1;
    for (std::size_t axis = 0; axis < grid.axes.size(); ++axis) {
        const auto cells = grid.axes[axis].cells;
        const char letter = "xyz"[grid.axes[axis].coordinate];
        const bool asked = look.slice && letter == look.slice->axis;
        const bool middle = !look.slice && axis == 2;
        if (asked || middle) {
            cut_axis_ = axis;
            cut_ = asked ? look.slice->index : cells / 2;
            first_ = static_cast<std::size_t>(cut_) * stride;
            picture_.shorter_titles = {fmt::format("{}, {} = {}", picture_.title, letter, cut_),
                                       fmt::format("{}, {} = {}", description.name, letter, cut_)};
            picture_.title += fmt::format(", {} = {} of {} cells", letter, cut_, cells);
        } else {
            shown.push_back({axis, stride});
        }
        stride *= static_cast<std::size_t>(cells);
    }
    across_ = shown[0];
    const auto sides = [&](const ShownAxis& axis) {
        return sides_of(grid.axes[axis.axis], description.stagger[axis.axis]);
    };
    plane_.columns = grid.axes[across_.axis].cells;
    plane_.left = sides(across_).first;
    plane_.right = sides(across_).last;
    plane_.x_label = axis_label(grid, grid.axes[across_.axis]);
    if (shown.size() > 1) {
        up_ = shown[1];
        plane_.rows = grid.axes[up_->axis].cells;
        plane_.bottom = sides(*up_).first;
        plane_.top = sides(*up_).last;
        plane_.y_label = axis_label(grid, grid.axes[up_->axis]);
    }
    if (outlined && grid.axes.size() > 1) add_outlines(program, options);
}

template <class Mark>
void FieldView::for_each_shown(const stencil::ir::CellSet& cells, Mark mark) const {
    for (std::int64_t row = 0; row < cells.rows(); ++row) {
        std::array<std::int64_t, 3> place{0, row % cells.shape()[1], row / cells.shape()[1]};
        const bool across_rows = cut_axis_ && *cut_axis_ > 0;
        if (across_rows && place[*cut_axis_] != cut_) continue;
        for (const auto& interval : cells.row(row))
            for (auto x = interval.first; x < interval.last; ++x) {
                place[0] = x;
                if (cut_axis_ && place[*cut_axis_] != cut_) continue;
                mark(static_cast<std::size_t>((up_ ? place[up_->axis] * plane_.columns : 0) +
                                              place[across_.axis]));
            }
    }
}

void FieldView::add_outlines(const StencilProgram::Data& program, const stencil::CompileOptions& options) {
    lang::Diagnostics ignored(program.front.diagnostics().source()); // all was reported before
    const auto domains = stencil::find_domains(program.model(), options, ignored);
    const auto& model = program.model();
    const auto& field = model.fields[static_cast<std::size_t>(field_)];
    const auto mark = [&](const stencil::ir::CellSet& cells, auto& marks) {
        for_each_shown(cells, [&](std::size_t place) { marks[place] = 1; });
    };
    const auto size = static_cast<std::size_t>(plane_.columns * plane_.rows);
    // One shape may be given for each place in the cell: that of the field counts.
    const bool own =
        std::any_of(model.subdomains.begin(), model.subdomains.end(), [&](const auto& subdomain) {
            return subdomain.grid == field.grid && subdomain.stagger == field.stagger;
        });
    for (std::size_t i = 0; i < domains.subdomains.size(); ++i) {
        if (model.subdomains[i].grid != field.grid) continue;
        if (own && model.subdomains[i].stagger != field.stagger) continue;
        picture::FieldPicture::Outline outline{plane_.columns, plane_.rows, {}};
        outline.inside.resize(size);
        mark(*domains.subdomains[i], outline.inside);
        picture_.outlines.push_back(std::move(outline));
    }
    changing_.assign(size, 0.0);
    const auto written = [&](const stencil::Update& update, const stencil::CellSetPtr& cells) {
        if (std::any_of(update.operations.begin(), update.operations.end(),
                        [&](const auto& operation) { return operation.field == field_; }))
            mark(*cells, changing_);
    };
    for (std::size_t i = 0; i < model.updates.size(); ++i) written(model.updates[i], domains.updates[i]);
    for (std::size_t i = 0; i < model.sources.size(); ++i)
        written(model.sources[i].update, domains.sources[i]);
    if (std::find(changing_.begin(), changing_.end(), 1.0) == changing_.end()) changing_.clear();
}

picture::ValueRange FieldView::range_of(std::span<const float> values, std::int64_t most) const {
    const auto with_rest = [&](picture::ValueRange range) {
        for (const double value : values) range.cut = range.cut || value > range.high || value < range.low;
        return range;
    };
    if (fixed_range_) return with_rest(*fixed_range_);
    if (changing_.empty()) return picture::range_of(values);
    const auto changing = picture::reduce(plane_, changing_, most).values;
    std::vector<float> counted;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (changing[i % changing.size()] > 0) counted.push_back(values[i]);
    return with_rest(picture::range_of(counted));
}

std::vector<double> FieldView::shown(std::span<const double> values) const {
    std::vector<double> out;
    out.reserve(static_cast<std::size_t>(plane_.columns * plane_.rows));
    for (std::size_t row = 0; row < static_cast<std::size_t>(plane_.rows); ++row)
        for (std::size_t column = 0; column < static_cast<std::size_t>(plane_.columns); ++column)
            out.push_back(values[first_ + (up_ ? row * up_->stride : 0) + column * across_.stride]);
    return out;
}

picture::Canvas FieldView::draw(const picture::Plane& plane, std::span<const float> values,
                                const picture::ValueRange& range, std::int64_t step, int size) const {
    auto picture = picture_;
    picture.size = size;
    picture.moment =
        fmt::format("step {}    t = {}", step, picture::number_text(static_cast<double>(step) * dt_, 6));
    if (plane.columns < plane_.columns || plane.rows < plane_.rows) {
        const auto block = [](std::int64_t cells, std::int64_t left) { return (cells + left - 1) / left; };
        picture.values_label +=
            plane_.rows > 1 ? fmt::format(", means of {}×{} cells", block(plane_.columns, plane.columns),
                                          block(plane_.rows, plane.rows))
                            : fmt::format(", means of {} cells", block(plane_.columns, plane.columns));
    }
    return draw_field(plane, values, range, picture);
}

void FieldView::plot(const std::filesystem::path& png, std::span<const double> values,
                     std::int64_t step) const {
    const auto reduced = picture::reduce(plane_, shown(values), plot_cells);
    draw(reduced.plane, reduced.values, range_of(reduced.values, plot_cells), step, plot_size).write_png(png);
}

Frames::Frames(FieldView view, std::int64_t every, const std::filesystem::path& path)
    : view_(std::move(view)), every_(every), path_(path), file_(path) {}

void Frames::begin() { file_.begin({}); }

// A frame is its step (64 bits) and its values (floats).
void Frames::add(std::int64_t step, std::span<const double> values) {
    const auto reduced = picture::reduce(view_.plane(), view_.shown(values), frame_cells);
    std::vector<std::byte> bytes(sizeof step + reduced.values.size() * sizeof(float));
    std::memcpy(bytes.data(), &step, sizeof step);
    std::memcpy(bytes.data() + sizeof step, reduced.values.data(), reduced.values.size() * sizeof(float));
    file_.append(bytes);
}

picture::Plane Frames::reduced_plane() const {
    const std::vector<double> zeros(static_cast<std::size_t>(view_.plane().columns * view_.plane().rows));
    return picture::reduce(view_.plane(), zeros, frame_cells).plane;
}

void Frames::cut_to(std::int64_t step) {
    const auto bytes = read_file(path_);
    const auto frame_bytes = bytes_of_frame(reduced_plane());
    std::size_t end = 0;
    for (; end + frame_bytes <= bytes.size(); end += frame_bytes)
        if (step_of_frame(bytes.data() + end) > step) break;
    file_.continue_from(end);
}

std::size_t Frames::write(const std::filesystem::path& png) {
    const auto bytes = read_file(path_);
    const auto plane = reduced_plane();
    const auto cells = static_cast<std::size_t>(plane.columns * plane.rows);
    const auto frame_bytes = bytes_of_frame(plane);
    const auto count = bytes.size() / frame_bytes;
    std::vector<float> all(count * cells);
    for (std::size_t i = 0; i < count; ++i)
        std::memcpy(all.data() + i * cells, bytes.data() + i * frame_bytes + sizeof(std::int64_t),
                    cells * sizeof(float));
    const auto range = view_.range_of(all, frame_cells);
    picture::Animation animation(frame_milliseconds);
    for (std::size_t i = 0; i < count; ++i) {
        const auto step = step_of_frame(bytes.data() + i * frame_bytes);
        animation.add(view_.draw(plane, std::span(all).subspan(i * cells, cells), range, step, frame_size));
    }
    if (count > 0) write_file_atomically(png, animation.bytes());
    return count;
}

} // namespace farfield
