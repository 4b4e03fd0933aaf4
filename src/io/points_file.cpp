#include "io/points_file.h"

#include "io/atomic_file.h"
#include "io/columns.h"
#include "io/hdf5.h"
#include "io/snapshot.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace farfield {
namespace {

using namespace std::string_view_literals;
namespace fs = std::filesystem;

constexpr std::array known_extensions{".npy"sv, ".csv"sv, ".h5"sv, ".hdf5"sv};

// Splits rows of x y z s.
Sources split(const std::vector<double>& rows) {
    Sources sources;
    for (std::size_t i = 0; i < rows.size(); i += 4) {
        sources.points.insert(sources.points.end(), rows.data() + i, rows.data() + i + 3);
        sources.strengths.push_back(rows[i + 3]);
    }
    return sources;
}

Sources read_csv_sources(const fs::path& path, Kernel kernel) {
    const auto table = read_csv(path);
    const bool has_mass = table.find("m") != nullptr;
    const bool has_charge = table.find("q") != nullptr;
    const bool use_mass = has_mass && (kernel == Kernel::gravity || !has_charge);
    const std::array wanted{"x"sv, "y"sv, "z"sv, use_mass ? "m"sv : "q"sv};
    const std::array also{"m"sv, "q"sv};
    return split(take_columns(table, wanted, also, path.string()));
}

std::vector<double> finite_values(const hdf5::Dataset& dataset, const hdf5::Shape& shape,
                                  const char* wanted) {
    if (dataset.shape() != shape)
        throw InvalidArgument(fmt::format("{}: its shape is ({}); {} with N at least 1 is needed",
                                          dataset.label(), fmt::join(dataset.shape(), ", "), wanted));
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

std::vector<double> read_hdf5_points(const hdf5::Group& root) {
    const auto dataset = root.dataset("points");
    const auto rows = dataset.shape().empty() || dataset.shape()[0] == 0 ? -1 : dataset.shape()[0];
    return finite_values(dataset, {rows, 3}, "(N, 3)");
}

Sources read_hdf5_sources(const fs::path& path, Kernel kernel) {
    {
        const auto file = hdf5::File::open(path);
        const auto root = file.root();
        if (root.has_dataset("points")) {
            Sources sources;
            sources.points = read_hdf5_points(root);
            const auto rows = static_cast<std::int64_t>(sources.points.size() / 3);
            sources.strengths = finite_values(root.dataset("strengths"), {rows}, "(N), one value a point,");
            return sources;
        }
    }
    auto bodies = read_snapshot(path).bodies;
    if (kernel == Kernel::gravity) return {std::move(bodies.position), std::move(bodies.mass)};
    if (bodies.charge.empty())
        throw InvalidArgument(
            fmt::format("{}: the snapshot has no dataset 'Charge', which the kernel coulomb needs; use "
                        "--kernel gravity for its masses",
                        path.string()));
    return {std::move(bodies.position), std::move(bodies.charge)};
}

Table table_of(std::int64_t m, std::span<const double> potential, std::span<const double> field) {
    Table table;
    if (!potential.empty()) {
        table.names.emplace_back("potential");
        table.columns.emplace_back(potential.begin(), potential.end());
    }
    for (std::size_t axis = 0; axis < 3 && !field.empty(); ++axis) {
        table.names.push_back(fmt::format("field_{}", "xyz"[axis]));
        auto& column = table.columns.emplace_back();
        for (std::size_t i = 0; i < static_cast<std::size_t>(m); ++i) column.push_back(field[3 * i + axis]);
    }
    return table;
}

void write_npy_outputs(const fs::path& path, std::int64_t m, std::span<const double> potential,
                       std::span<const double> field) {
    if (field.empty()) return write_npy(path, potential, {m});
    if (potential.empty()) return write_npy(path, field, {m, 3});
    std::vector<double> both;
    both.reserve(potential.size() + field.size());
    for (std::size_t i = 0; i < potential.size(); ++i) {
        both.push_back(potential[i]);
        both.insert(both.end(), field.data() + 3 * i, field.data() + 3 * i + 3);
    }
    write_npy(path, both, {m, 4});
}

} // namespace

Sources read_sources(const fs::path& path, Kernel kernel) {
    const auto extension = known_extension(path, known_extensions);
    if (extension == ".csv") return read_csv_sources(path, kernel);
    if (extension != ".npy") return read_hdf5_sources(path, kernel);
    const auto array = read_npy(path);
    require_matrix(array, 4, "columns x y z and the mass or charge", path.string());
    return split(array.values);
}

std::vector<double> read_targets(const fs::path& path) {
    const auto extension = known_extension(path, known_extensions);
    if (extension == ".csv") {
        constexpr std::array wanted{"x"sv, "y"sv, "z"sv};
        return take_columns(read_csv(path), wanted, {}, path.string());
    }
    if (extension == ".npy") {
        auto array = read_npy(path);
        require_matrix(array, 3, "columns x y z", path.string());
        return std::move(array.values);
    }
    {
        const auto file = hdf5::File::open(path);
        if (file.root().has_dataset("points")) return read_hdf5_points(file.root());
    }
    return read_snapshot(path).bodies.position;
}

void check_sum_output_name(const fs::path& path) { (void)known_extension(path, known_extensions); }

void write_sum_outputs(const fs::path& path, std::int64_t m, std::span<const double> potential,
                       std::span<const double> field) {
    const auto extension = known_extension(path, known_extensions);
    const auto fits = [&](std::span<const double> values, std::size_t width) {
        return values.empty() || values.size() == static_cast<std::size_t>(m) * width;
    };
    if (!fits(potential, 1) || !fits(field, 3) || (potential.empty() && field.empty()))
        throw InvalidArgument(
            fmt::format("{}: {} potentials and {} field components for {} targets; give the "
                        "potential (M), the field (3 M) or both",
                        path.string(), potential.size(), field.size(), m));
    if (extension == ".npy") return write_npy_outputs(path, m, potential, field);
    if (extension == ".csv") return write_file_atomically(path, format_csv(table_of(m, potential, field)));
    const auto file = hdf5::File::create();
    auto root = file.root();
    if (!potential.empty()) root.write("potential", potential, {m});
    if (!field.empty()) root.write("field", field, {m, 3});
    file.save(path);
}

} // namespace farfield
