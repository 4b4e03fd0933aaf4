#include "dynamics/run/checkpoint.h"

#include "io/atomic_file.h"
#include "io/file.h"
#include "io/hdf5.h"

#include <farfield/error.h>
#include <farfield/farfield.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <system_error>
#include <type_traits>
#include <vector>

namespace farfield {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t format_version = 3;

// The last bytes of a checkpoint, behind those that HDF5 reads. HDF5 does not survive every damage to its
// structures, so it is shown nothing that has not been checked.
struct Seal {
    std::array<char, 8> mark{'F', 'F', 'S', 'E', 'A', 'L', '0', '1'};
    std::uint64_t checksum = 0;
    friend bool operator==(const Seal&, const Seal&) = default;
};
static_assert(std::has_unique_object_representations_v<Seal>);

// The checksum takes the bytes in words, each mixed in by multiplication and shift (as in splitmix64). It
// finds damage, not malice.
Seal seal_of(std::span<const std::byte> bytes) {
    Seal seal;
    std::uint64_t value = bytes.size();
    while (!bytes.empty()) {
        std::uint64_t word = 0;
        const auto taken = std::min(sizeof word, bytes.size());
        std::memcpy(&word, bytes.data(), taken);
        value = (value ^ word) * 0x9E3779B97F4A7C15U;
        value ^= value >> 29U;
        bytes = bytes.subspan(taken);
    }
    seal.checksum = value;
    return seal;
}

// The bytes of a file without its seal. @throws IoError where they do not fit.
std::span<const std::byte> unsealed(std::span<const std::byte> bytes, const fs::path& path) {
    if (bytes.size() >= sizeof(Seal)) {
        const auto content = bytes.first(bytes.size() - sizeof(Seal));
        Seal seal;
        std::memcpy(&seal, bytes.last(sizeof(Seal)).data(), sizeof seal);
        if (seal == seal_of(content)) return content;
    }
    throw IoError(fmt::format("{}: the checksum at its end does not fit the content; the file is damaged or "
                              "incomplete",
                              path.string()));
}

// Names every scalar and array of a checkpoint once; `visit(name, member)` reads or writes it, so that the
// two cannot disagree.
template <class C, class Visit>
void visit_scalars(C& c, Visit&& visit) {
    visit("Step", c.state.step);
    visit("Time", c.state.time);
    visit("AnchorStep", c.state.anchor_step);
    visit("AnchorTime", c.state.anchor_time);
    visit("NextStepLength", c.state.next_step);
    visit("Timescale", c.state.motion.timescale);
    visit("FrameOriginX", c.state.frame.origin[0]);
    visit("FrameOriginY", c.state.frame.origin[1]);
    visit("FrameOriginZ", c.state.frame.origin[2]);
    visit("StartTime", c.start_time);
    visit("RelativeEnergyError", c.relative_energy_error);
    visit("NextSnapshot", c.outputs.next_snapshot);
    visit("NextDiagnostics", c.outputs.next_diagnostics);
    visit("Snapshots", c.outputs.snapshots);
    visit("PictureCentreX", c.outputs.frame.centre[0]);
    visit("PictureCentreY", c.outputs.frame.centre[1]);
    visit("PictureCentreZ", c.outputs.frame.centre[2]);
    visit("PictureWidth", c.outputs.frame.width);
    visit("PictureLogMin", c.outputs.frame.log_min);
    visit("PictureLogMax", c.outputs.frame.log_max);
    visit("DiagnosticsBytes", c.diagnostics_bytes);
}

template <class C, class Visit>
void visit_arrays(C& c, Visit&& visit) {
    auto& motion = c.state.motion;
    visit("Position", motion.bodies.position);
    visit("Velocity", motion.bodies.velocity);
    visit("Mass", motion.bodies.mass);
    visit("Charge", motion.bodies.charge);
    visit("Id", motion.bodies.id);
    visit("Acceleration", motion.acceleration);
    visit("Jerk", motion.jerk);
}

double energy_or_zero(const Checkpoint& c) { return c.state.initial_energy.value_or(0.0); }

double frame_exponent(const Checkpoint& c) { return c.state.frame.exponent; } // attributes have no int

template <class Enum>
Enum enum_attribute(const hdf5::Group& group, const char* attribute) {
    const auto text = group.text_attribute(attribute);
    const auto value = from_name<Enum>(text);
    if (!value)
        throw InvalidArgument(
            fmt::format("{}: {} is '{}', which is not known", group.label(), attribute, text));
    return *value;
}

void rename_or_throw(const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::rename(from, to, error);
    if (error)
        throw IoError(fmt::format("cannot rename '{}' to '{}': {}; check the folder's permissions",
                                  from.string(), to.string(), error.message()));
}

} // namespace

void write_checkpoint(const RunFolder& folder, const Checkpoint& checkpoint) {
    auto file = hdf5::File::create();
    auto root = file.root();
    root.write_attribute("FormatVersion", format_version);
    root.write_attribute("FarfieldVersion", checkpoint.version.c_str());
    root.write_attribute("Case", checkpoint.deciding_text.c_str());
    root.write_attribute("Device", name_of(DeviceChoice{.kind = checkpoint.backend.device}).c_str());
    root.write_attribute("Isa", std::string(name_of(checkpoint.backend.isa)).c_str());
    root.write_attribute("Variant", std::string(name_of(checkpoint.backend.variant)).c_str());
    root.write_attribute("Precision", std::string(name_of(checkpoint.backend.precision)).c_str());
    visit_scalars(checkpoint,
                  [&](const char* name, const auto& value) { root.write_attribute(name, value); });
    if (checkpoint.state.initial_energy) root.write_attribute("InitialEnergy", energy_or_zero(checkpoint));
    root.write_attribute("FrameExponent", frame_exponent(checkpoint));
    visit_arrays(checkpoint, [&](const char* name, const auto& values) {
        if (!values.empty()) root.write(name, values);
    });
    const auto content = file.image();
    const auto seal = seal_of(content);
    const std::array<std::span<const std::byte>, 2> pieces{content, std::as_bytes(std::span(&seal, 1))};
    // A kill between the two leaves the previous one alone, and that is enough to go on.
    if (fs::exists(folder.checkpoint())) rename_or_throw(folder.checkpoint(), folder.previous_checkpoint());
    write_pieces_atomically(folder.checkpoint(), pieces);
}

Checkpoint read_checkpoint(const fs::path& path) {
    const auto bytes = read_file(path);
    const auto file = hdf5::File::open_image(unsealed(bytes, path), path.string());
    const auto root = file.root();
    if (const auto format = root.attribute<std::uint64_t>("FormatVersion"); format != format_version)
        throw InvalidArgument(fmt::format("{}: its format is {}, this version of Farfield reads {}",
                                          path.string(), format, format_version));
    Checkpoint c;
    c.version = root.text_attribute("FarfieldVersion");
    c.deciding_text = root.text_attribute("Case");
    c.backend = {.device = device_from_name(root.text_attribute("Device")).kind,
                 .isa = enum_attribute<Isa>(root, "Isa"),
                 .variant = enum_attribute<Variant>(root, "Variant"),
                 .precision = enum_attribute<Precision>(root, "Precision")};
    visit_scalars(c, [&](const char* name, auto& value) {
        value = root.attribute<std::remove_reference_t<decltype(value)>>(name);
    });
    c.state.frame.exponent = static_cast<int>(root.attribute<double>("FrameExponent"));
    if (root.has_attribute("InitialEnergy")) c.state.initial_energy = root.attribute<double>("InitialEnergy");
    visit_arrays(c, [&](const char* name, auto& values) {
        using Value = typename std::remove_reference_t<decltype(values)>::value_type;
        if (root.has_dataset(name)) values = root.dataset(name).template read<Value>();
    });
    return c;
}

std::optional<Checkpoint> newest_checkpoint(const RunFolder& folder,
                                            const std::function<void(const std::string&)>& message) {
    std::string failures;
    for (const auto& path : {folder.checkpoint(), folder.previous_checkpoint()}) {
        if (!fs::exists(path)) continue;
        try {
            auto checkpoint = read_checkpoint(path);
            if (path != folder.checkpoint())
                message(fmt::format("{}; continuing from the one before it, '{}'",
                                    failures.empty() ? "checkpoint.h5 is missing" : failures, path.string()));
            return checkpoint;
        } catch (const Error& error) {
            failures += fmt::format("{}cannot use '{}' ({})", failures.empty() ? "" : "; ", path.string(),
                                    error.what());
        }
    }
    if (failures.empty()) return std::nullopt;
    throw IoError(failures + "; remove the damaged checkpoints to restart from the beginning");
}

} // namespace farfield
