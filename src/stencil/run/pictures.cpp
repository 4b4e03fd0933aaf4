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

FieldView::FieldView(const StencilProgram::Data& program, const stencil::CompileOptions& options, int field,
                     bool outlined)
    : field_(field), dt_(program.model().dt) {
    const auto& description = program.model().fields[static_cast<std::size_t>(field)];
    const auto& grid = program.model().grids[static_cast<std::size_t>(description.grid)];
    picture_.title = fmt::format("{}: {}", program.name, description.name);
    picture_.values_label = description.name;
    const auto horizontal = sides_of(grid.axes[0], description.stagger[0]);
    plane_.columns = grid.axes[0].cells;
    plane_.left = horizontal.first;
    plane_.right = horizontal.last;
    plane_.x_label = axis_label(grid, grid.axes[0]);
    if (grid.axes.size() < 2) return;
    const auto vertical = sides_of(grid.axes[1], description.stagger[1]);
    plane_.rows = grid.axes[1].cells;
    plane_.bottom = vertical.first;
    plane_.top = vertical.last;
    plane_.y_label = axis_label(grid, grid.axes[1]);
    if (grid.axes.size() > 2) {
        const auto middle = grid.axes[2].cells / 2;
        first_ = static_cast<std::size_t>(middle * plane_.columns * plane_.rows);
        picture_.title += fmt::format(", z = {} of {} cells", middle, grid.axes[2].cells);
    }
    if (outlined) add_outlines(program, options);
}

void FieldView::add_outlines(const StencilProgram::Data& program, const stencil::CompileOptions& options) {
    lang::Diagnostics ignored(program.front.diagnostics().source()); // all was reported before
    const auto domains = stencil::find_domains(program.model(), options, ignored);
    const auto& model = program.model();
    const auto& field = model.fields[static_cast<std::size_t>(field_)];
    const auto slice = static_cast<std::int64_t>(first_) / plane_.columns; // first row of the slice
    const auto mark = [&](const stencil::ir::CellSet& cells, auto& marks) {
        for (std::int64_t row = 0; row < plane_.rows; ++row)
            for (const auto& interval : cells.row(slice + row))
                for (auto x = interval.first; x < interval.last; ++x)
                    marks[static_cast<std::size_t>(row * plane_.columns + x)] = 1;
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
    if (changing_.empty()) return picture::range_of(values);
    const auto changing = picture::reduce(plane_, changing_, most).values;
    std::vector<float> counted;
    bool frozen_beyond = false;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (changing[i % changing.size()] > 0) counted.push_back(values[i]);
    auto range = picture::range_of(counted);
    for (const double value : values)
        frozen_beyond = frozen_beyond || value > range.high || value < range.low;
    range.cut = range.cut || frozen_beyond;
    return range;
}

std::span<const double> FieldView::shown(std::span<const double> values) const {
    return values.subspan(first_, static_cast<std::size_t>(plane_.columns * plane_.rows));
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
