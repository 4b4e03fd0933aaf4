#include "stencil/run/files.h"

#include "io/atomic_file.h"
#include "io/csv.h"
#include "io/file.h"
#include "io/vtkhdf.h"
#include "stencil/compiler.h"

#include <farfield/version.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace farfield {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

std::int64_t next_multiple(std::int64_t step, std::int64_t every) { return (step / every + 1) * every; }

} // namespace

StencilFiles::StencilFiles(const StencilProgram& program, const StencilRunSettings& settings,
                           const StencilFolder& folder, PreparedStencil& prepared, StencilState& state,
                           std::int64_t last_step)
    : program_(program), settings_(settings), folder_(folder), prepared_(prepared), state_(state),
      last_step_(last_step) {
    compile_options_.folder = program.data()->folder;
    compile_options_.allow_unstable = settings.options.allow_unstable;
    if (!model().records.empty()) series_.emplace(folder.series());
    for (const auto& animation : settings.animations) {
        const auto every = animation.every > 0 ? animation.every : std::max<std::int64_t>(1, last_step / 100);
        frames_.push_back(
            std::make_unique<Frames>(FieldView(*program.data(), compile_options_,
                                               field_index(model(), animation.field), animation.look, true),
                                     every, folder.frames(animation.field)));
    }
}

void StencilFiles::begin() {
    if (series_) {
        std::string header = "time";
        for (const auto& record : model().records) header += ',' + record.name;
        series_->begin(header + '\n');
    }
    for (auto& frames : frames_) frames->begin();
}

std::vector<std::string> StencilFiles::continue_from(const StencilCheckpoint& checkpoint) {
    if (series_) series_->continue_from(checkpoint.series_bytes);
    std::vector<std::string> told;
    for (std::size_t i = 0; i < frames_.size(); ++i) {
        const auto& plan = settings_.animations[i];
        const auto mark = std::find_if(checkpoint.frames.begin(), checkpoint.frames.end(),
                                       [&](const FramesMark& m) { return m.field == plan.field; });
        const auto slice = slice_text(plan.look.slice);
        const bool known = mark != checkpoint.frames.end() &&
                           (plan.every == 0 || plan.every == mark->every) && slice == mark->slice;
        if (!known) {
            frames_[i]->begin();
            told.push_back(
                fmt::format("the animation of {} begins at step {}: the run had no frames of it every "
                            "{} steps{}{}",
                            plan.field, checkpoint.step, frames_[i]->every(),
                            slice.empty() ? "" : " with slice=", slice));
            continue;
        }
        frames_[i]->set_every(mark->every);
        frames_[i]->continue_from(mark->bytes);
    }
    return told;
}

bool StencilFiles::is_due(const stencil::Output& output, std::int64_t step) const {
    return (output.at_start && step == 0) || (output.at_end && step == last_step_) ||
           (output.every > 0 && step > 0 && step % output.every == 0);
}

bool StencilFiles::fields_due(std::int64_t step) const {
    return std::any_of(model().outputs.begin(), model().outputs.end(),
                       [&](const auto& output) { return is_due(output, step); });
}

std::int64_t StencilFiles::next_due(std::int64_t step) const {
    std::int64_t next = never;
    for (const auto& output : model().outputs)
        if (output.every > 0) next = std::min(next, next_multiple(step, output.every));
    for (const auto& frames : frames_) next = std::min(next, next_multiple(step, frames->every()));
    return next;
}

void StencilFiles::write_series(std::int64_t from, std::int64_t to) {
    if (!series_) return;
    const auto& records = model().records;
    std::vector<std::vector<double>> values;
    std::vector<std::size_t> taken(records.size(), 0);
    for (std::size_t i = 0; i < records.size(); ++i)
        values.push_back(prepared_.executor->take_series(static_cast<int>(i)));
    std::string rows;
    std::vector<double> row(records.size() + 1);
    for (auto step = from + 1; step <= to; ++step) {
        bool any = false;
        row[0] = static_cast<double>(step) * model().dt;
        for (std::size_t i = 0; i < records.size(); ++i) {
            row[i + 1] = std::numeric_limits<double>::quiet_NaN();
            if (step % records[i].every != 0) continue;
            any = true;
            row[i + 1] = values[i].at(taken[i]++);
        }
        if (any) rows += format_csv_row(row) + '\n';
    }
    series_->append(rows);
}

bool StencilFiles::row_due(std::int64_t step) const {
    return std::any_of(model().records.begin(), model().records.end(),
                       [&](const auto& record) { return step % record.every == 0; });
}

void StencilFiles::cut_to(std::int64_t step) {
    if (series_) {
        std::int64_t lines = 1; // the header
        for (std::int64_t s = 1; s <= step; ++s) lines += row_due(s) ? 1 : 0;
        const auto bytes = read_file(folder_.series());
        const auto text = as_text(bytes);
        std::size_t end = 0;
        for (; lines > 0 && end < text.size(); --lines) end = text.find('\n', end) + 1;
        series_->continue_from(end);
    }
    for (auto& frames : frames_) frames->cut_to(step);
}

void StencilFiles::write_fields() {
    std::set<int> fields;
    for (const auto& output : model().outputs)
        if (is_due(output, state_.step())) fields.insert(output.fields.begin(), output.fields.end());
    for (const int field : fields) write_field(field);
}

void StencilFiles::write_field(int index) {
    const auto& field = model().fields[static_cast<std::size_t>(index)];
    const auto& grid = model().grids[static_cast<std::size_t>(field.grid)];
    FieldImage image;
    image.name = field.name;
    image.single_precision = field.precision == stencil::Precision::single_precision;
    image.step = state_.step();
    image.time = static_cast<double>(state_.step()) * model().dt;
    image.program = program_.name();
    for (std::size_t a = 0; a < grid.axes.size(); ++a) {
        const auto& axis = grid.axes[a];
        const auto place = static_cast<std::size_t>(axis.coordinate);
        image.points[place] = axis.cells;
        image.spacing[place] = axis.spacing;
        image.stagger[place] = field.stagger[a];
        image.origin[place] = axis.origin + field.stagger[a] * axis.spacing;
    }
    write_field_image(folder_.field(field.name, state_.step()), image, state_.field(index));
}

void StencilFiles::add_frames() {
    const auto step = prepared_.executor->step();
    for (auto& frames : frames_) {
        if (!frames->due(step)) continue;
        state_.take_one(frames->field());
        frames->add(step, state_.one());
    }
}

void StencilFiles::write_checkpoint(const std::vector<InputFile>& inputs) {
    StencilCheckpoint checkpoint;
    checkpoint.version = std::string(version());
    checkpoint.program = deciding_text(model());
    checkpoint.inputs = inputs;
    checkpoint.step = state_.step();
    if (series_) checkpoint.series_bytes = series_->sync();
    for (std::size_t i = 0; i < frames_.size(); ++i)
        checkpoint.frames.push_back({settings_.animations[i].field, frames_[i]->every(), frames_[i]->sync(),
                                     slice_text(settings_.animations[i].look.slice)});
    for (const int index : state_.written()) {
        const auto& field = model().fields[static_cast<std::size_t>(index)];
        const auto values = state_.field(index);
        checkpoint.fields.push_back({field.name,
                                     field.precision == stencil::Precision::single_precision,
                                     {values.begin(), values.end()}});
    }
    farfield::write_checkpoint(folder_.checkpoints(), checkpoint);
}

std::vector<std::filesystem::path> StencilFiles::write_pictures() {
    std::vector<std::filesystem::path> made;
    for (const auto& plot : settings_.plots) {
        const auto field = field_index(model(), plot.field);
        FieldView(*program_.data(), compile_options_, field, plot.look, true)
            .plot(plot.png, state_.field(field), state_.step());
        made.push_back(plot.png);
    }
    for (std::size_t i = 0; i < frames_.size(); ++i)
        if (frames_[i]->write(settings_.animations[i].png) > 0) made.push_back(settings_.animations[i].png);
    return made;
}

} // namespace farfield
