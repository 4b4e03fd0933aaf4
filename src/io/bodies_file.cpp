#include "io/bodies_file.h"

#include "io/columns.h"
#include "io/tipsy.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <array>
#include <numeric>

namespace farfield {
namespace {

using namespace std::string_view_literals;

constexpr std::array fields_of_a_row{"x"sv, "y"sv, "z"sv, "vx"sv, "vy"sv, "vz"sv, "m"sv, "q"sv};
constexpr std::size_t without_charge = 7;
constexpr std::string_view columns_of_bodies = "columns x y z vx vy vz m, and q for charged bodies";

// Bodies from rows of 7 or 8 values in the order of `fields_of_a_row`.
Bodies bodies_of(const std::vector<double>& rows, std::size_t width) {
    Bodies bodies;
    for (std::size_t i = 0; i < rows.size(); i += width) {
        const auto* row = rows.data() + i;
        bodies.position.insert(bodies.position.end(), row, row + 3);
        bodies.velocity.insert(bodies.velocity.end(), row + 3, row + 6);
        bodies.mass.push_back(row[6]);
        if (width > without_charge) bodies.charge.push_back(row[7]);
    }
    bodies.id.resize(bodies.mass.size());
    std::iota(bodies.id.begin(), bodies.id.end(), std::uint64_t{1});
    return bodies;
}

Bodies read_csv_bodies(const std::filesystem::path& path) {
    const auto table = read_csv(path, fields_of_a_row);
    const bool charged = table.find("q") != nullptr;
    const auto wanted = std::span(fields_of_a_row).first(charged ? fields_of_a_row.size() : without_charge);
    return bodies_of(take_columns(table, wanted, path.string()), wanted.size());
}

Bodies read_npy_bodies(const std::filesystem::path& path) {
    const auto array = read_npy(path);
    const bool charged =
        array.shape.size() == 2 && array.shape[1] == static_cast<std::int64_t>(fields_of_a_row.size());
    const auto width = charged ? fields_of_a_row.size() : without_charge;
    require_matrix(array, static_cast<std::int64_t>(width), columns_of_bodies, path.string());
    return bodies_of(array.values, width);
}

constexpr std::array extensions{".h5"sv, ".hdf5"sv, ".csv"sv, ".npy"sv, ".tipsy"sv, ".std"sv};

} // namespace

std::vector<std::filesystem::path> files_of_bodies(const std::filesystem::path& path) {
    const auto extension = known_extension(path, extensions);
    if (extension == ".h5" || extension == ".hdf5") return files_of_snapshot(path);
    return {path};
}

Snapshot read_bodies(const std::filesystem::path& path) {
    const auto extension = known_extension(path, extensions);
    if (extension == ".csv") return {read_csv_bodies(path), {}};
    if (extension == ".npy") return {read_npy_bodies(path), {}};
    if (extension == ".tipsy" || extension == ".std") return read_tipsy(path);
    auto snapshot = read_snapshot(path);
    if (snapshot.info.comoving)
        throw InvalidArgument(
            fmt::format("{}: the snapshot is in comoving coordinates (ComovingIntegrationOn = 1, or its time "
                        "is the scale factor); "
                        "physical ones are needed: convert coordinates and velocities first",
                        path.string()));
    return snapshot;
}

} // namespace farfield
