#include "stencil/run/checkpoint.h"

#include "backend/jit/sha256.h"
#include "io/file.h"
#include "io/hdf5.h"
#include "run/checkpoint.h"
#include "stencil/front_end/front_end.h"
#include "stencil/reads/files.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace farfield {
namespace {

constexpr std::uint64_t format_version = 2;

// Texts are datasets of bytes: attributes hold 64 KiB at most.
void write_text(hdf5::Group& group, const std::string& name, const std::string& text) {
    group.write(name, std::vector<std::uint8_t>(text.begin(), text.end()));
}

std::string read_text(const hdf5::Group& group, const std::string& name) {
    const auto bytes = group.dataset(name).read<std::uint8_t>();
    return {bytes.begin(), bytes.end()};
}

void write_source(hdf5::Group group, const StencilCheckpoint::Source& source) {
    write_text(group, "Text", source.text);
    write_text(group, "Name", source.name);
    write_text(group, "Folder", source.folder);
    group.write_attribute("Parameters", static_cast<std::uint64_t>(source.parameters.size()));
    for (std::size_t i = 0; i < source.parameters.size(); ++i)
        write_text(group, fmt::format("Parameter{}", i), source.parameters[i]);
    group.write_attribute("Records", static_cast<std::uint64_t>(source.series.size()));
    for (std::size_t i = 0; i < source.series.size(); ++i)
        group.write(fmt::format("Record{}", i), source.series[i]);
}

StencilCheckpoint::Source read_source(const hdf5::Group& group) {
    StencilCheckpoint::Source source{
        read_text(group, "Text"), read_text(group, "Name"), read_text(group, "Folder"), {}, {}};
    for (std::uint64_t i = 0; i < group.attribute<std::uint64_t>("Parameters"); ++i)
        source.parameters.push_back(read_text(group, fmt::format("Parameter{}", i)));
    for (std::uint64_t i = 0; i < group.attribute<std::uint64_t>("Records"); ++i)
        source.series.push_back(group.dataset(fmt::format("Record{}", i)).read<double>());
    return source;
}

} // namespace

StencilCheckpoint read_stencil_checkpoint(const std::filesystem::path& path) {
    const auto file = open_checkpoint(path);
    const auto root = file.root();
    if (!root.has_attribute("StencilFormatVersion"))
        throw InvalidArgument(fmt::format("{}: it is no checkpoint of a stencil program", path.string()));
    require_format(path, root.attribute<std::uint64_t>("StencilFormatVersion"), format_version);
    StencilCheckpoint c;
    c.version = root.text_attribute("FarfieldVersion");
    c.program = read_text(root, "Program");
    for (std::uint64_t i = 0; i < root.attribute<std::uint64_t>("Inputs"); ++i) {
        const auto group = root.group(fmt::format("Input{}", i));
        c.inputs.push_back({read_text(group, "Name"), group.text_attribute("Hash")});
    }
    c.step = root.attribute<std::int64_t>("Step");
    c.series_bytes = root.attribute<std::uint64_t>("SeriesBytes");
    for (std::uint64_t i = 0; i < root.attribute<std::uint64_t>("Animations"); ++i) {
        const auto group = root.group(fmt::format("Animation{}", i));
        c.frames.push_back({group.text_attribute("Field"), group.attribute<std::int64_t>("Every"),
                            group.attribute<std::uint64_t>("Bytes"),
                            group.has_attribute("Slice") ? group.text_attribute("Slice") : std::string()});
    }
    for (std::uint64_t i = 0; i < root.attribute<std::uint64_t>("Fields"); ++i) {
        const auto group = root.group(fmt::format("Field{}", i));
        c.fields.push_back({group.text_attribute("Name"), group.attribute<std::uint64_t>("Single") != 0,
                            group.dataset("Values").read<double>()});
    }
    if (root.has_group("Source")) c.source = read_source(root.group("Source"));
    return c;
}

namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
    Lines lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        if (!line.starts_with("param")) lines.push_back(line); // their values are compared by name
    return lines;
}

std::string shown(const Lines& lines, std::size_t i) {
    if (i >= lines.size()) return "nothing";
    const auto begin = lines[i].find_first_not_of(' ');
    return fmt::format("'{}'", begin == std::string::npos ? "" : lines[i].substr(begin, 100));
}

} // namespace

std::vector<InputFile> input_files(const stencil::Model& model, const std::filesystem::path& folder) {
    std::vector<InputFile> files;
    for (auto& name : stencil::file_names(model)) {
        std::string hash;
        try {
            hash = jit::sha256_hex(as_text(read_file(stencil::file_path(folder, name))));
        } catch (const IoError&) { // the compiler says so, with the place in the program
        }
        files.push_back({std::move(name), std::move(hash)});
    }
    return files;
}

std::vector<std::byte> checkpoint_image(const StencilCheckpoint& c) {
    const auto file = hdf5::File::create();
    auto root = file.root();
    root.write_attribute("StencilFormatVersion", format_version);
    root.write_attribute("FarfieldVersion", c.version.c_str());
    write_text(root, "Program", c.program);
    root.write_attribute("Inputs", static_cast<std::uint64_t>(c.inputs.size()));
    for (std::size_t i = 0; i < c.inputs.size(); ++i) {
        auto group = root.create_group(fmt::format("Input{}", i));
        write_text(group, "Name", c.inputs[i].name);
        group.write_attribute("Hash", c.inputs[i].hash.c_str());
    }
    root.write_attribute("Step", c.step);
    root.write_attribute("SeriesBytes", c.series_bytes);
    root.write_attribute("Animations", static_cast<std::uint64_t>(c.frames.size()));
    for (std::size_t i = 0; i < c.frames.size(); ++i) {
        auto group = root.create_group(fmt::format("Animation{}", i));
        group.write_attribute("Field", c.frames[i].field.c_str());
        group.write_attribute("Every", c.frames[i].every);
        group.write_attribute("Bytes", c.frames[i].bytes);
        if (!c.frames[i].slice.empty()) group.write_attribute("Slice", c.frames[i].slice);
    }
    root.write_attribute("Fields", static_cast<std::uint64_t>(c.fields.size()));
    for (std::size_t i = 0; i < c.fields.size(); ++i) {
        auto group = root.create_group(fmt::format("Field{}", i));
        group.write_attribute("Name", c.fields[i].name.c_str());
        group.write_attribute("Single", static_cast<std::uint64_t>(c.fields[i].single_precision));
        const auto& values = c.fields[i].values;
        if (c.fields[i].single_precision)
            group.write("Values", std::vector<float>(values.begin(), values.end()));
        else
            group.write("Values", values);
    }
    if (c.source) write_source(root.create_group("Source"), *c.source);
    return file.image();
}

void write_checkpoint(const Generations& files, const StencilCheckpoint& checkpoint) {
    write_sealed(files, checkpoint_image(checkpoint));
}

std::optional<StencilCheckpoint>
newest_stencil_checkpoint(const Generations& files, const std::function<void(const std::string&)>& message) {
    return read_newest(files, read_stencil_checkpoint, message);
}

std::string difference_of(const std::string& before, const std::string& now) {
    if (before == now) return {};
    const stencil::FrontEnd old_program("", before);
    const stencil::FrontEnd new_program("", now);
    for (const auto& old_value : old_program.model().constants)
        for (const auto& new_value : new_program.model().constants)
            if (old_value.parameter && new_value.parameter && old_value.name == new_value.name &&
                old_value.value != new_value.value)
                return fmt::format("the parameter {} was {} and is now {}", old_value.name,
                                   lang::to_text(old_value.value), lang::to_text(new_value.value));
    const auto old_lines = lines_of(before);
    const auto new_lines = lines_of(now);
    for (std::size_t i = 0; i < std::max(old_lines.size(), new_lines.size()); ++i)
        if (i >= old_lines.size() || i >= new_lines.size() || old_lines[i] != new_lines[i])
            return fmt::format("it had {} where there is now {}", shown(old_lines, i), shown(new_lines, i));
    return "its parameters are others";
}

} // namespace farfield
