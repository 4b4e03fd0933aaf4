#include "dynamics/run/checkpoint.h"

#include "io/hdf5.h"

#include <farfield/error.h>
#include <farfield/farfield.h>

#include <fmt/format.h>

#include <bit>
#include <system_error>

namespace farfield {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t format_version = 2;

// A 64-bit checksum over words and texts, each mixed in by multiplication and shift (as in splitmix64). It
// finds damage, not malice.
class Checksum {
public:
    void add(std::uint64_t word) {
        value_ = (value_ ^ word) * 0x9E3779B97F4A7C15U;
        value_ ^= value_ >> 29U;
    }
    void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }
    template <class T>
    void add(const std::vector<T>& values) {
        add(static_cast<std::uint64_t>(values.size()));
        for (const T& value : values) add(value);
    }
    void add(const std::string& text) {
        add(static_cast<std::uint64_t>(text.size()));
        for (const char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    }
    [[nodiscard]] std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_ = 0;
};

// Names every scalar and array of a checkpoint once; `visit(name, member)` reads, writes or sums it up. Read
// and write cannot disagree, and nothing is left out of the checksum.
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

std::uint64_t checksum_of(const Checkpoint& c) {
    Checksum sum;
    const auto add = [&](const char*, const auto& member) { sum.add(member); };
    visit_scalars(c, add);
    visit_arrays(c, add);
    sum.add(energy_or_zero(c));
    sum.add(static_cast<std::uint64_t>(c.state.initial_energy.has_value()));
    sum.add(frame_exponent(c));
    sum.add(name_of(DeviceChoice{.kind = c.backend.device}));
    for (auto name : {name_of(c.backend.isa), name_of(c.backend.variant), name_of(c.backend.precision)})
        sum.add(std::string(name));
    sum.add(c.deciding_text);
    sum.add(c.version);
    return sum.value();
}

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
    root.write_attribute("Checksum", checksum_of(checkpoint));
    visit_arrays(checkpoint, [&](const char* name, const auto& values) {
        if (!values.empty()) root.write(name, values);
    });
    // A kill between the two leaves the previous one alone, and that is enough to go on.
    if (fs::exists(folder.checkpoint())) rename_or_throw(folder.checkpoint(), folder.previous_checkpoint());
    file.save(folder.checkpoint());
}

Checkpoint read_checkpoint(const fs::path& path) {
    const auto file = hdf5::File::open(path);
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
    if (checksum_of(c) != root.attribute<std::uint64_t>("Checksum"))
        throw IoError(
            fmt::format("{}: the checksum does not fit the content; the file is damaged", path.string()));
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
