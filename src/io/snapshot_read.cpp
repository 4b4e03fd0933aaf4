// Reading snapshots: ours, and those of GADGET-4 and its relatives.
#include "base/text.h"
#include "io/hdf5.h"
#include "io/messages.h"
#include "io/seal.h"
#include "io/snapshot.h"
#include "io/snapshot_units.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace farfield {
namespace {

constexpr std::int64_t most_types = 16; // GADGET-4's NTYPES is 6 by default and rarely more

// Contents of one /PartTypeN.
struct Part {
    std::vector<double> position, velocity, mass, charge;
    std::vector<std::uint64_t> id;
};

void require_finite(const std::vector<double>& values, std::int64_t width, const hdf5::Dataset& dataset) {
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!std::isfinite(values[i]))
            throw InvalidArgument(
                fmt::format("{}: row {} (counted from 0) holds {}; finite numbers are needed: correct or "
                            "remove that body",
                            dataset.label(), static_cast<std::int64_t>(i) / width, values[i]));
}

std::string shape_text(const hdf5::Shape& shape) { return fmt::format("({})", joined(shape, ", ")); }

std::vector<double> read_values(const hdf5::Group& part, const char* name, const hdf5::Shape& shape) {
    const auto dataset = part.dataset(name);
    if (dataset.shape() != shape)
        throw InvalidArgument(
            fmt::format("{}: its shape is {}; {} is needed, as many rows as Coordinates has", dataset.label(),
                        shape_text(dataset.shape()), shape_text(shape)));
    auto values = dataset.read<double>();
    require_finite(values, shape.size() == 2 ? shape[1] : 1, dataset);
    return values;
}

// One file: a snapshot, or a part of one.
class SnapshotFile {
public:
    explicit SnapshotFile(hdf5::File file) : file_(std::move(file)), root_(file_.root()) {
        if (!root_.has_group("Header"))
            throw InvalidArgument(fmt::format(
                "{}: there is no group 'Header', so this is not a GADGET-4 snapshot", root_.label()));
        const auto header = root_.group("Header");
        counts_ = header.attribute_array<std::int64_t>("NumPart_ThisFile");
        if (header.has_attribute("MassTable")) masses_ = header.attribute_array<double>("MassTable");
    }

    [[nodiscard]] const std::string& label() const { return root_.label(); }
    [[nodiscard]] std::int64_t count(std::int64_t type) const {
        const auto slot = static_cast<std::size_t>(type);
        return slot < counts_.size() ? counts_[slot] : 0;
    }
    /// Of all files together; empty where the header does not say.
    [[nodiscard]] std::optional<std::int64_t> total(std::int64_t type) const {
        const auto header = root_.group("Header");
        const auto low = entry_of(header, "NumPart_Total", type);
        if (!low) return std::nullopt;
        return *low + (entry_of(header, "NumPart_Total_HighWord", type).value_or(0) << 32U);
    }
    [[nodiscard]] std::int64_t files() const {
        const auto header = root_.group("Header");
        return header.has_attribute("NumFilesPerSnapshot")
                   ? header.attribute<std::int64_t>("NumFilesPerSnapshot")
                   : 1;
    }

    void read_info(SnapshotInfo& info) const {
        read_number(root_.group("Header"), "Time", info.time);
        read_units(root_, info);
        if (root_.has_group("Farfield")) read_farfield(root_.group("Farfield"), info);
    }

    [[nodiscard]] std::optional<Part> read_part(std::int64_t type) const {
        const std::int64_t count = this->count(type);
        const auto group_name = fmt::format("PartType{}", type);
        if (!root_.has_group(group_name) && count == 0) return std::nullopt;
        const auto group = root_.group(group_name);
        if (count == 0 && !group.has_dataset("Coordinates")) return std::nullopt;
        const auto coordinates = group.dataset("Coordinates").shape();
        const std::int64_t rows = coordinates.empty() ? 0 : coordinates[0];
        if (rows != count)
            throw InvalidArgument(fmt::format(
                "{}: Coordinates have {} rows, the header's NumPart_ThisFile says {}; the file is "
                "incomplete or damaged: write it again",
                group.label(), rows, count));
        if (rows == 0) return std::nullopt;
        Part part;
        part.position = read_values(group, "Coordinates", {rows, 3});
        part.velocity = read_values(group, "Velocities", {rows, 3});
        part.mass = read_masses(group, static_cast<std::size_t>(type), rows);
        if (group.has_dataset("Charge")) part.charge = read_values(group, "Charge", {rows});
        if (group.has_dataset("ParticleIDs")) part.id = read_ids(group.dataset("ParticleIDs"), rows);
        return part;
    }

private:
    static std::optional<std::int64_t> entry_of(const hdf5::Group& header, const char* name,
                                                std::int64_t type) {
        if (!header.has_attribute(name)) return std::nullopt;
        const auto values = header.attribute_array<std::int64_t>(name);
        if (type >= static_cast<std::int64_t>(values.size())) return 0;
        return values[static_cast<std::size_t>(type)];
    }

    static void read_name(const hdf5::Group& group, const char* attribute, Unit& unit) {
        auto name = group.text_attribute(attribute);
        if (!name.empty()) unit.name = std::move(name);
    }

    static void read_box(const hdf5::Group& group, SnapshotInfo& info) {
        const auto lengths = group.attribute_array<double>("Box");
        const bool fine = lengths.size() == info.box.size() &&
                          std::all_of(lengths.begin(), lengths.end(),
                                      [](double length) { return length >= 0.0 && std::isfinite(length); });
        if (!fine)
            throw InvalidArgument(fmt::format("{}: attribute 'Box' holds ({}); three lengths ≥ 0 are needed",
                                              group.label(), joined(lengths, ", ")));
        std::copy(lengths.begin(), lengths.end(), info.box.begin());
    }

    static void read_farfield(const hdf5::Group& group, SnapshotInfo& info) {
        info.name = group.text_attribute("Name");
        read_name(group, "LengthUnit", info.units.length);
        read_name(group, "MassUnit", info.units.mass);
        read_name(group, "VelocityUnit", info.units.velocity);
        read_number(group, "Softening", info.softening);
        if (group.has_attribute("CoreSize")) read_number(group, "CoreSize", info.core_size);
        if (group.has_attribute("Box")) read_box(group, info);
        if (group.has_attribute("BodyNames"))
            info.body_names = names_from_text(group.text_attribute("BodyNames"));
        const auto kernel = group.text_attribute("Kernel");
        const auto known = from_name<Kernel>(kernel);
        if (!known)
            throw InvalidArgument(fmt::format("{}: attribute 'Kernel' is {}; known: {}", group.label(),
                                              printable(kernel), joined(names_of<Kernel>(), ", ")));
        info.kernel = *known;
    }

    [[nodiscard]] std::vector<double> read_masses(const hdf5::Group& group, std::size_t type,
                                                  std::int64_t rows) const {
        if (group.has_dataset("Masses")) return read_values(group, "Masses", {rows});
        const double mass = type < masses_.size() ? masses_[type] : 0.0;
        if (!(mass > 0.0) || !std::isfinite(mass))
            throw InvalidArgument(
                fmt::format("{}: there is neither a dataset 'Masses' nor a positive entry for it in the "
                            "header's MassTable",
                            group.label()));
        return std::vector<double>(static_cast<std::size_t>(rows), mass);
    }

    static std::vector<std::uint64_t> read_ids(const hdf5::Dataset& dataset, std::int64_t rows) {
        if (dataset.shape() != hdf5::Shape{rows})
            throw InvalidArgument(
                fmt::format("{}: its shape is {}; ({}) is needed, as many rows as Coordinates has",
                            dataset.label(), shape_text(dataset.shape()), rows));
        return dataset.read<std::uint64_t>();
    }

    hdf5::File file_;
    hdf5::Group root_;
    std::vector<std::int64_t> counts_;
    std::vector<double> masses_;
};

// The bodies of all files, type by type.
class Collector {
public:
    void add(Part part) {
        append(bodies_.position, part.position);
        append(bodies_.velocity, part.velocity);
        append(bodies_.mass, part.mass);
        append(bodies_.charge, part.charge);
        append(bodies_.id, part.id);
    }

    /// Charges and ids count only where all bodies have them.
    Bodies bodies() && {
        const auto n = bodies_.mass.size();
        if (bodies_.charge.size() != n) bodies_.charge.clear();
        if (bodies_.id.size() != n) {
            bodies_.id.resize(n);
            std::iota(bodies_.id.begin(), bodies_.id.end(), std::uint64_t{1});
        }
        return std::move(bodies_);
    }

private:
    template <class T>
    static void append(std::vector<T>& to, std::vector<T>& from) {
        if (to.empty())
            to = std::move(from);
        else
            to.insert(to.end(), from.begin(), from.end());
    }
    Bodies bodies_;
};

void require_all_bodies(const std::vector<SnapshotFile>& files) {
    for (std::int64_t type = 0; type < most_types; ++type) {
        const auto total = files.front().total(type);
        std::int64_t found = 0;
        for (const auto& file : files) found += file.count(type);
        if (total && *total != found)
            throw InvalidArgument(
                fmt::format("{}: NumPart_Total says {} bodies of type {}, the {} files of the snapshot "
                            "have {}; they are not of one snapshot: copy all of them again",
                            files.front().label(), *total, type, files.size(), found));
    }
}

Snapshot snapshot_of(const std::vector<SnapshotFile>& files) {
    Snapshot snapshot;
    files.front().read_info(snapshot.info);
    if (files.size() > 1) require_all_bodies(files);
    Collector collector;
    for (std::int64_t type = 0; type < most_types; ++type)
        for (const auto& file : files)
            if (auto part = file.read_part(type)) collector.add(std::move(*part));
    snapshot.bodies = std::move(collector).bodies();
    // Names that do not fit the bodies, of a file that someone edited, say nothing.
    if (snapshot.info.body_names.size() != snapshot.bodies.mass.size()) snapshot.info.body_names.clear();
    if (snapshot.bodies.mass.empty())
        throw InvalidArgument(fmt::format("{}: holds no bodies; at least one particle of any type is needed",
                                          files.front().label()));
    return snapshot;
}

constexpr std::int64_t most_files = 65536;

} // namespace

std::vector<std::filesystem::path> files_of_snapshot(const std::filesystem::path& path) {
    if (std::filesystem::is_regular_file(path)) require_seal_fits(path);
    const auto count = SnapshotFile(hdf5::File::open(path)).files();
    if (count <= 1) return {path};
    const auto number = path.stem().extension().string(); // ".3" of "snap_012.3.hdf5"
    const bool numbered = number.size() > 1 && number.find_first_not_of("0123456789", 1) == std::string::npos;
    if (!numbered || count > most_files)
        throw InvalidArgument(fmt::format("{}: the snapshot is split over {} files, whose names end in .0{}, "
                                          ".1{} and so on; name one of them",
                                          path.string(), count, path.extension().string(),
                                          path.extension().string()));
    std::vector<std::filesystem::path> files;
    for (std::int64_t i = 0; i < count; ++i) {
        auto file = path;
        file.replace_filename(
            fmt::format("{}.{}{}", path.stem().stem().string(), i, path.extension().string()));
        if (!std::filesystem::exists(file))
            throw IoError(
                fmt::format("{}: the snapshot is split over {} files, and '{}' is missing; put it beside the "
                            "others",
                            path.string(), count, file.filename().string()));
        files.push_back(std::move(file));
    }
    return files;
}

Snapshot read_snapshot(const std::filesystem::path& path) {
    std::vector<SnapshotFile> files;
    for (const auto& file : files_of_snapshot(path)) {
        if (file != path) require_seal_fits(file);
        files.emplace_back(hdf5::File::open(file));
    }
    return snapshot_of(files);
}

Snapshot parse_snapshot(std::span<const std::byte> bytes, const std::string& name) {
    if (is_sealed(bytes) && !seal_fits(bytes))
        throw IoError(
            fmt::format("{}: the checksum at its end does not fit the content; the file is damaged", name));
    if (is_cut_off(bytes))
        throw IoError(fmt::format("{}: the file is truncated: the checksum at its end is incomplete; copy or "
                                  "write it again",
                                  name));
    std::vector<SnapshotFile> files;
    files.emplace_back(hdf5::File::open_image(bytes, name));
    if (files.front().files() > 1)
        throw InvalidArgument(
            fmt::format("{}: the snapshot is split over {} files; join them into one file first", name,
                        files.front().files()));
    return snapshot_of(files);
}

} // namespace farfield
