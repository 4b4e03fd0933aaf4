// Reading snapshots: ours, and those of GADGET-4 and its relatives.
#include "io/hdf5.h"
#include "io/messages.h"
#include "io/snapshot.h"

#include <farfield/error.h>

#include <fmt/format.h>

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

std::string shape_text(const hdf5::Shape& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

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

class SnapshotReader {
public:
    explicit SnapshotReader(const hdf5::File& file) : root_(file.root()) {}

    Snapshot read() {
        Snapshot snapshot;
        read_info(snapshot.info);
        auto& bodies = snapshot.bodies;
        bool all_charged = true;
        bool all_numbered = true;
        for (std::int64_t type = 0; type < most_types; ++type) {
            const auto part = read_part(type);
            if (!part) continue;
            const auto append = [](auto& to, const auto& from) {
                to.insert(to.end(), from.begin(), from.end());
            };
            append(bodies.position, part->position);
            append(bodies.velocity, part->velocity);
            append(bodies.mass, part->mass);
            append(bodies.charge, part->charge);
            append(bodies.id, part->id);
            all_charged = all_charged && !part->charge.empty();
            all_numbered = all_numbered && !part->id.empty();
        }
        if (bodies.mass.empty())
            throw InvalidArgument(fmt::format(
                "{}: holds no bodies; at least one particle of any type is needed", root_.label()));
        if (!all_charged) bodies.charge.clear();
        if (!all_numbered) {
            bodies.id.resize(bodies.mass.size());
            std::iota(bodies.id.begin(), bodies.id.end(), std::uint64_t{1});
        }
        return snapshot;
    }

private:
    void read_info(SnapshotInfo& info) {
        if (!root_.has_group("Header"))
            throw InvalidArgument(fmt::format(
                "{}: there is no group 'Header', so this is not a GADGET-4 snapshot", root_.label()));
        const auto header = root_.group("Header");
        if (header.has_attribute("NumFilesPerSnapshot") &&
            header.attribute<std::int64_t>("NumFilesPerSnapshot") > 1)
            throw InvalidArgument(
                fmt::format("{}: the snapshot is split over {} files; join them into one file first",
                            header.label(), header.attribute<std::int64_t>("NumFilesPerSnapshot")));
        counts_ = header.attribute_array<std::int64_t>("NumPart_ThisFile");
        if (header.has_attribute("MassTable")) masses_ = header.attribute_array<double>("MassTable");
        read_number(header, "Time", info.time);
        if (root_.has_group("Parameters")) read_parameters(root_.group("Parameters"), info);
        if (root_.has_group("Farfield")) read_farfield(root_.group("Farfield"), info);
    }

    static void read_number(const hdf5::Group& group, const char* name, double& value) {
        if (!group.has_attribute(name)) return;
        value = group.attribute<double>(name);
        if (!std::isfinite(value))
            throw InvalidArgument(fmt::format("{}: attribute '{}' is {}; a finite number is needed",
                                              group.label(), name, value));
    }

    static void read_parameters(const hdf5::Group& group, SnapshotInfo& info) {
        double G = 0.0; // GADGET writes 0 where it derives G from the units
        read_number(group, "GravityConstantInternal", G);
        if (G > 0.0) info.G = G;
        read_number(group, "UnitLength_in_cm", info.length.in_cgs);
        read_number(group, "UnitMass_in_g", info.mass.in_cgs);
        read_number(group, "UnitVelocity_in_cm_per_s", info.velocity.in_cgs);
        double comoving = 0.0;
        read_number(group, "ComovingIntegrationOn", comoving);
        info.comoving = comoving != 0.0;
    }

    static void read_farfield(const hdf5::Group& group, SnapshotInfo& info) {
        info.name = group.text_attribute("Name");
        info.length.name = group.text_attribute("LengthUnit");
        info.mass.name = group.text_attribute("MassUnit");
        info.velocity.name = group.text_attribute("VelocityUnit");
        read_number(group, "Softening", info.softening);
        const auto kernel = group.text_attribute("Kernel");
        const auto known = from_name<Kernel>(kernel);
        if (!known)
            throw InvalidArgument(fmt::format("{}: attribute 'Kernel' is {}; known: {}", group.label(),
                                              printable(kernel), fmt::join(names_of<Kernel>(), ", ")));
        info.kernel = *known;
    }

    [[nodiscard]] std::optional<Part> read_part(std::int64_t type) const {
        const auto slot = static_cast<std::size_t>(type);
        const std::int64_t count = slot < counts_.size() ? counts_[slot] : 0;
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
        part.mass = read_masses(group, slot, rows);
        if (group.has_dataset("Charge")) part.charge = read_values(group, "Charge", {rows});
        if (group.has_dataset("ParticleIDs")) part.id = read_ids(group.dataset("ParticleIDs"), rows);
        return part;
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

    hdf5::Group root_;
    std::vector<std::int64_t> counts_;
    std::vector<double> masses_;
};

} // namespace

Snapshot read_snapshot(const std::filesystem::path& path) {
    const auto file = hdf5::File::open(path);
    return SnapshotReader(file).read();
}

Snapshot parse_snapshot(std::span<const std::byte> bytes, const std::string& name) {
    const auto file = hdf5::File::open_image(bytes, name);
    return SnapshotReader(file).read();
}

} // namespace farfield
