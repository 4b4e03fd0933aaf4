#include "io/points_file.h"

#include "base/text.h"
#include "io/atomic_file.h"
#include "io/columns.h"
#include "io/hdf5.h"
#include "io/snapshot.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace farfield {
namespace {

using namespace std::string_view_literals;
namespace fs = std::filesystem;

constexpr std::array known_extensions{".npy"sv, ".csv"sv, ".h5"sv, ".hdf5"sv};

std::string axis_name(int axis, int dimension) {
    return dimension <= 3 ? std::string(1, "xyz"[axis]) : fmt::format("x{}", axis + 1);
}

std::vector<std::string> axis_names(int dimension) {
    std::vector<std::string> names;
    names.reserve(static_cast<std::size_t>(dimension));
    for (int axis = 0; axis < dimension; ++axis) names.push_back(axis_name(axis, dimension));
    return names;
}

/// Strengths are not to be read with the points.
bool has_points_alone(const PointLayout& layout) {
    return layout.strengths == StrengthsIn::another_file || layout.strengths == StrengthsIn::nowhere;
}

int columns_of(const PointLayout& layout) {
    return has_points_alone(layout) ? 0 : layout.second.empty() ? 1 : 2;
}

[[noreturn]] void refuse_strengths(const fs::path& path, std::string_view what) {
    throw InvalidArgument(fmt::format("{}: it has {}, and there is a file of strengths as well; leave one of "
                                      "them out",
                                      path.string(), what));
}

// Splits rows of coordinates and strength, of which a row has `given` columns. Imaginary parts that are not
// given are 0.
Sources split(const std::vector<double>& rows, int dimension, int columns, int given) {
    Sources sources;
    sources.dimension = dimension;
    const std::int64_t width = dimension + given;
    for (std::size_t i = 0; i < rows.size(); i += static_cast<std::size_t>(width)) {
        const auto* strength = rows.data() + i + dimension;
        sources.points.insert(sources.points.end(), rows.data() + i, strength);
        sources.strengths.insert(sources.strengths.end(), strength, strength + given);
        if (given < columns) sources.strengths.push_back(0.0);
    }
    return sources;
}

// The most dimensions whose coordinates the table has, at least the fewest allowed.
int dimension_of(const Table& table, const PointLayout& layout) {
    for (int dimension = layout.most_dimension; dimension > layout.least_dimension; --dimension) {
        const auto names = axis_names(dimension);
        if (std::all_of(names.begin(), names.end(),
                        [&](const std::string& name) { return table.find(name) != nullptr; }))
            return dimension;
    }
    return layout.least_dimension;
}

// Every name that may matter.
std::vector<std::string> column_names(const PointLayout& layout) {
    std::vector<std::string> names{"m", "q", std::string(layout.strength)};
    if (!layout.second.empty()) names.emplace_back(layout.second);
    for (int dimension = layout.least_dimension; dimension <= layout.most_dimension; ++dimension)
        for (auto& name : axis_names(dimension)) names.push_back(std::move(name));
    return names;
}

Sources read_csv_sources(const fs::path& path, const PointLayout& layout) {
    const auto all_names = column_names(layout);
    const auto table = read_csv(path, std::vector<std::string_view>(all_names.begin(), all_names.end()));
    if (layout.most_dimension == 2)
        for (const auto& name : table.ignored)
            if (name == "z" || name == "Z")
                throw InvalidArgument(fmt::format("{}: it has a column '{}', and this kernel takes points in "
                                                  "the plane; remove the column, or "
                                                  "use a kernel of space",
                                                  path.string(), name));
    const auto other = layout.strength == "m" ? "q"sv : "m"sv;
    const bool stand_in = layout.second.empty() && table.find(layout.strength) == nullptr &&
                          (table.find(other) != nullptr || layout.strength == "m");
    const int dimension = dimension_of(table, layout);
    const auto axes = axis_names(dimension);
    std::vector<std::string_view> wanted(axes.begin(), axes.end());
    const bool has_strength = table.find("m") != nullptr || table.find("q") != nullptr;
    if (layout.strengths == StrengthsIn::another_file) {
        for (const auto name : {"m"sv, "q"sv, layout.strength, layout.second})
            if (!name.empty() && table.find(name) != nullptr)
                refuse_strengths(path, fmt::format("a column '{}' of strengths", name));
    }
    if (has_points_alone(layout) || (layout.strengths == StrengthsIn::some_files && !has_strength))
        return {take_columns(table, wanted, path.string()), {}, dimension};
    wanted.push_back(stand_in ? other : layout.strength);
    const bool is_complex = !layout.second.empty() && table.find(layout.second) != nullptr;
    if (!is_complex && !layout.second.empty())
        for (const auto& name : table.ignored)
            if (name.starts_with(layout.strength))
                throw InvalidArgument(fmt::format(
                    "{}: column '{}' is not known; imaginary parts are in a column '{}', if there are any",
                    path.string(), name, layout.second));
    if (is_complex) wanted.push_back(layout.second);
    return split(take_columns(table, wanted, path.string()), dimension, columns_of(layout),
                 is_complex ? 2 : 1);
}

std::vector<double> finite_values(const hdf5::Dataset& dataset, const hdf5::Shape& shape,
                                  const char* wanted) {
    if (dataset.shape() != shape)
        throw InvalidArgument(fmt::format("{}: its shape is ({}); {} with N at least 1 is needed",
                                          dataset.label(), joined(dataset.shape(), ", "), wanted));
    auto values = dataset.read<double>();
    const auto width = shape.size() == 2 ? shape[1] : 1;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!std::isfinite(values[i]))
            throw InvalidArgument(
                fmt::format("{}: row {} (counted from 0) holds {}; finite numbers are needed: correct or "
                            "remove that row",
                            dataset.label(), static_cast<std::int64_t>(i) / width, values[i]));
    return values;
}

std::int64_t rows_of(const hdf5::Dataset& dataset) {
    return dataset.shape().empty() || dataset.shape()[0] == 0 ? -1 : dataset.shape()[0];
}

std::vector<double> read_hdf5_points(const hdf5::Group& root, int dimension) {
    const auto dataset = root.dataset("points");
    return finite_values(dataset, {rows_of(dataset), dimension}, fmt::format("(N, {})", dimension).c_str());
}

Sources read_hdf5_datasets(const hdf5::Group& root, const PointLayout& layout) {
    const auto shape = root.dataset("points").shape();
    Sources sources;
    sources.dimension = shape.size() == 2 ? static_cast<int>(std::clamp<std::int64_t>(
                                                shape[1], layout.least_dimension, layout.most_dimension))
                                          : layout.least_dimension;
    sources.points = read_hdf5_points(root, sources.dimension);
    if (has_points_alone(layout) ||
        (layout.strengths == StrengthsIn::some_files && !root.has_dataset("strengths")))
        return sources;
    const auto rows = static_cast<std::int64_t>(sources.points.size()) / sources.dimension;
    const auto strengths = root.dataset("strengths");
    if (columns_of(layout) == 1) {
        sources.strengths = finite_values(strengths, {rows}, "(N), one value a point,");
    } else if (strengths.shape().size() == 1) { // real ones
        for (const double value : finite_values(strengths, {rows}, "(N), one value a point,"))
            sources.strengths.insert(sources.strengths.end(), {value, 0.0});
    } else {
        sources.strengths = finite_values(strengths, {rows, 2}, "(N, 2), real and imaginary part,");
    }
    return sources;
}

void require_space(const PointLayout& layout, const fs::path& path) {
    if (layout.most_dimension < 3 || columns_of(layout) > 1)
        throw InvalidArgument(fmt::format(
            "{}: the bodies of a snapshot are in space and have real strengths, which this kernel "
            "does not take; give datasets 'points' and 'strengths', a .csv or a .npy",
            path.string()));
}

Sources read_hdf5_sources(const fs::path& path, const PointLayout& layout) {
    {
        const auto file = hdf5::File::open(path);
        const auto root = file.root();
        if (layout.strengths == StrengthsIn::another_file && root.has_dataset("points") &&
            root.has_dataset("strengths"))
            refuse_strengths(path, "a dataset 'strengths'");
        if (root.has_dataset("points")) return read_hdf5_datasets(root, layout);
    }
    auto bodies = read_snapshot(path).bodies;
    require_space(layout, path);
    if (has_points_alone(layout)) return {std::move(bodies.position), {}};
    if (layout.strength == "m") return {std::move(bodies.position), std::move(bodies.mass)};
    if (bodies.charge.empty())
        throw InvalidArgument(
            fmt::format("{}: the snapshot has no dataset 'Charge', which this kernel needs; use "
                        "--kernel gravity for its masses",
                        path.string()));
    return {std::move(bodies.position), std::move(bodies.charge)};
}

Table table_of(std::int64_t m, std::span<const OutputArray> outputs) {
    Table table;
    for (const auto& output : outputs) {
        const auto width = output.columns.size();
        for (std::size_t k = 0; k < width; ++k) {
            table.names.push_back(output.columns[k]);
            auto& column = table.columns.emplace_back();
            for (std::size_t i = 0; i < static_cast<std::size_t>(m); ++i)
                column.push_back(output.values[width * i + k]);
        }
    }
    return table;
}

// Of numbers for m targets, `columns` each for all vectors of strengths together.
std::vector<std::int64_t> shape_of(std::int64_t m, std::size_t columns, std::int64_t vectors) {
    auto width = static_cast<std::int64_t>(columns);
    std::vector<std::int64_t> shape{m};
    if (vectors > 0) {
        shape.push_back(vectors);
        width /= vectors;
    }
    if (width != 1) shape.push_back(width);
    return shape;
}

void write_npy_outputs(const fs::path& path, std::int64_t m, std::span<const OutputArray> outputs) {
    const auto vectors = outputs[0].vectors;
    if (outputs.size() == 1)
        return write_npy(path, outputs[0].values, shape_of(m, outputs[0].columns.size(), vectors));
    std::size_t width = 0;
    for (const auto& output : outputs) width += output.columns.size();
    std::vector<double> all;
    all.reserve(width * static_cast<std::size_t>(m));
    const auto parts = static_cast<std::size_t>(std::max<std::int64_t>(vectors, 1));
    for (std::size_t i = 0; i < static_cast<std::size_t>(m) * parts; ++i)
        for (const auto& output : outputs) {
            const auto columns = output.columns.size() / parts;
            const auto* row = output.values.data() + i * columns;
            all.insert(all.end(), row, row + columns);
        }
    write_npy(path, all, shape_of(m, width, vectors));
}

} // namespace

Sources read_sources(const fs::path& path, const PointLayout& layout) {
    const auto extension = known_extension(path, known_extensions);
    if (extension == ".csv") return read_csv_sources(path, layout);
    if (extension != ".npy") return read_hdf5_sources(path, layout);
    const auto array = read_npy(path);
    const int columns = columns_of(layout);
    const auto width = array.shape.size() == 2 ? array.shape[1] : 0;
    if (layout.strengths == StrengthsIn::some_files && width == layout.least_dimension) {
        require_matrix(array, width, "columns x y z", path.string());
        return {array.values, {}, layout.least_dimension};
    }
    const auto dimension = static_cast<int>(
        std::clamp<std::int64_t>(width - columns, layout.least_dimension, layout.most_dimension));
    if (columns == 2 && width == layout.most_dimension + 1) { // real ones
        require_matrix(array, width, "columns of coordinates and the strength", path.string());
        return split(array.values, layout.most_dimension, columns, 1);
    }
    const bool has_either = layout.strength == "m" || layout.strength == "q";
    const auto strength = layout.strengths == StrengthsIn::nowhere ? std::string(" alone")
                          : columns == 0 ? std::string(" alone, whose strengths are in a file of their own,")
                          : columns == 2 ? std::string(" and the strength, complex ones in two columns")
                          : has_either   ? std::string(" and the mass or charge")
                                         : fmt::format(" and {}", layout.strength);
    require_matrix(array, dimension + columns,
                   fmt::format("columns {}{}", joined(axis_names(dimension), " "), strength), path.string());
    return split(array.values, dimension, columns, columns);
}

std::vector<double> read_dipoles(const fs::path& path) {
    constexpr std::array names{"px"sv, "py"sv, "pz"sv};
    const auto extension = known_extension(path, known_extensions);
    if (extension == ".csv") return take_columns(read_csv(path, names), names, path.string());
    if (extension == ".npy") {
        auto array = read_npy(path);
        require_matrix(array, 3, "columns px py pz", path.string());
        return std::move(array.values);
    }
    const auto file = hdf5::File::open(path);
    const auto dataset = file.root().dataset("dipoles");
    return finite_values(dataset, {rows_of(dataset), 3}, "(N, 3)");
}

Strengths read_strengths(const fs::path& path, int columns) {
    const auto extension = known_extension(path, known_extensions);
    Strengths out;
    const auto take_shape = [&](const std::vector<std::int64_t>& shape, const std::string& label) {
        out.one_dimensional = shape.size() == 1;
        if (shape.empty() || shape.size() > 2 || shape.front() < 1 || shape.back() < 1)
            throw InvalidArgument(
                fmt::format("{}: its shape is ({}); (N) or (N, k) with N and k at least 1 is "
                            "needed",
                            label, joined(shape, ", ")));
        out.rows = shape[0];
        out.width = shape.size() == 2 ? shape[1] : 1;
    };
    if (extension == ".csv") {
        const auto table = read_csv(path);
        const std::vector<std::string_view> names(table.names.begin(), table.names.end());
        out.values = take_columns(table, names, path.string());
        take_shape({table.rows(), static_cast<std::int64_t>(names.size())}, path.string());
    } else if (extension == ".npy") {
        auto array = read_npy(path);
        take_shape(array.shape, path.string());
        array.shape = {out.rows, out.width};
        require_matrix(array, out.width, "strengths", path.string());
        out.values = std::move(array.values);
    } else {
        const auto file = hdf5::File::open(path);
        const auto dataset = file.root().dataset("strengths");
        take_shape(dataset.shape(), dataset.label());
        out.values = finite_values(dataset, dataset.shape(), "(N, k)");
    }
    if (out.width % columns != 0)
        throw InvalidArgument(
            fmt::format("{}: {} column{} of complex strengths; an even number is needed, real "
                        "and imaginary part of each vector",
                        path.string(), out.width, out.width == 1 ? "" : "s"));
    return out;
}

std::vector<double> read_targets(const fs::path& path, int dimension) {
    const auto extension = known_extension(path, known_extensions);
    const auto names = axis_names(dimension);
    if (extension == ".csv") {
        const std::vector<std::string_view> wanted(names.begin(), names.end());
        return take_columns(read_csv(path, wanted), wanted, path.string());
    }
    if (extension == ".npy") {
        auto array = read_npy(path);
        require_matrix(array, dimension, fmt::format("columns {}", joined(names, " ")), path.string());
        return std::move(array.values);
    }
    {
        const auto file = hdf5::File::open(path);
        if (file.root().has_dataset("points")) return read_hdf5_points(file.root(), dimension);
    }
    if (dimension != 3)
        throw InvalidArgument(fmt::format("{}: the bodies of a snapshot are in space, the sources in {} "
                                          "dimensions; give a dataset 'points', a .csv or a .npy",
                                          path.string(), dimension));
    return read_snapshot(path).bodies.position;
}

void check_sum_output_name(const fs::path& path) { (void)known_extension(path, known_extensions); }

void write_sum_outputs(const fs::path& path, std::int64_t m, std::span<const OutputArray> outputs) {
    const auto extension = known_extension(path, known_extensions);
    if (outputs.empty()) throw InvalidArgument(fmt::format("{}: there is no output to write", path.string()));
    for (const auto& output : outputs)
        if (output.values.size() != static_cast<std::size_t>(m) * output.columns.size())
            throw InvalidArgument(fmt::format("{}: {} numbers of output '{}' for {} targets; {} a target are "
                                              "needed",
                                              path.string(), output.values.size(), output.name, m,
                                              output.columns.size()));
    if (extension == ".npy") return write_npy_outputs(path, m, outputs);
    if (extension == ".csv") return write_file_atomically(path, format_csv(table_of(m, outputs)));
    const auto file = hdf5::File::create();
    auto root = file.root();
    for (const auto& output : outputs) {
        root.write(output.name, output.values, shape_of(m, output.columns.size(), output.vectors));
    }
    file.save(path);
}

} // namespace farfield
