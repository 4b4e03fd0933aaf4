#include "dynamics/run/checkpoint.h"

#include "io/hdf5.h"
#include "run/checkpoint.h"
#include "run/sealed_file.h"

#include <farfield/error.h>
#include <farfield/farfield.h>
#include <farfield/options.h>

#include <fmt/format.h>

#include <type_traits>
#include <variant>

namespace farfield {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t format_version = 9;

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
    visit("CoreVariance", c.state.motion.core_variance);
    visit("Reinitialisations", c.state.motion.reinitialised.count);
    visit("ReinitialisationResidual", c.state.motion.reinitialised.residual);
    visit("ReinitialisationVorticityError", c.state.motion.reinitialised.vorticity_error);
    visit("ReinitialisationIterations", c.state.motion.reinitialised.iterations);
    visit("LargestReinitialisationResidual", c.state.motion.reinitialised.largest_residual);
    visit("LargestReinitialisationVorticityError", c.state.motion.reinitialised.largest_vorticity_error);
    visit("MostReinitialisationIterations", c.state.motion.reinitialised.most_iterations);
    visit("ReinitialisationBytes", c.state.motion.reinitialised.predicted_bytes);
    visit("FrameOriginX", c.state.motion.frame.origin[0]);
    visit("FrameOriginY", c.state.motion.frame.origin[1]);
    visit("FrameOriginZ", c.state.motion.frame.origin[2]);
    visit("Aim", c.state.motion.force.aim);
    visit("WorstAccelerationError", c.state.motion.force.worst_acceleration_error);
    visit("WorstPotentialError", c.state.motion.force.worst_potential_error);
    visit("StartTime", c.start_time);
    visit("RelativeEnergyError", c.relative_energy_error);
    visit("NextSnapshot", c.outputs.next_snapshot);
    visit("NextDiagnostics", c.outputs.next_diagnostics);
    visit("Snapshots", c.outputs.snapshots);
    visit("PictureCentreX", c.outputs.frame.centre[0]);
    visit("PictureCentreY", c.outputs.frame.centre[1]);
    visit("PictureCentreZ", c.outputs.frame.centre[2]);
    visit("PictureWidth", c.outputs.frame.width);
    visit("PictureLogMin", c.outputs.frame.low);
    visit("PictureLogMax", c.outputs.frame.high);
    visit("DiagnosticsBytes", c.diagnostics_bytes);
    visit("UnitLength_in_cm", c.origin.units.length.in_cgs);
    visit("UnitMass_in_g", c.origin.units.mass.in_cgs);
    visit("UnitVelocity_in_cm_per_s", c.origin.units.velocity.in_cgs);
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
    visit("TrailIds", c.trails.ids);
    visit("TrailTimes", c.trails.times);
    visit("TrailPositions", c.trails.positions);
    visit("TrailVelocities", c.trails.velocities);
}

template <class C, class Visit>
void visit_texts(C& c, Visit&& visit) {
    visit("FarfieldVersion", c.version);
    visit("Case", c.deciding_text);
    visit("CostTable", c.cost_table);
    visit("MethodReason", c.state.motion.force.reason);
    visit("LengthUnit", c.origin.units.length.name);
    visit("MassUnit", c.origin.units.mass.name);
    visit("VelocityUnit", c.origin.units.velocity.name);
    visit("OriginOfG", c.origin.G);
    visit("FileOfBodies", c.origin.file_sum);
    visit("BodyNames", c.origin.names);
}

double energy_or_zero(const Checkpoint& c) { return c.state.initial_energy.value_or(0.0); }

double frame_exponent(const Checkpoint& c) { return c.state.motion.frame.exponent; } // attributes have no int

template <class Enum>
Enum enum_attribute(const hdf5::Group& group, const char* attribute) {
    const auto text = group.text_attribute(attribute);
    const auto value = from_name<Enum>(text);
    if (!value)
        throw InvalidArgument(
            fmt::format("{}: {} is '{}', which is not known", group.label(), attribute, text));
    return *value;
}

// An option of the forces as an attribute: "Force.softening".
std::string attribute_of(const OptionInfo& option) { return "Force." + std::string(option.name); }

void write_options(hdf5::Group& group, const ForceOptions& force, const TimeOptions& time) {
    for (const auto& option : option_table()) {
        if (!option.force) continue;
        const auto value = option.force.get(force);
        const auto name = attribute_of(option);
        if (const auto* text = std::get_if<std::string>(&value)) group.write_attribute(name, text->c_str());
        if (const auto* number = std::get_if<double>(&value)) group.write_attribute(name, *number);
        if (const auto* count = std::get_if<std::int64_t>(&value)) group.write_attribute(name, *count);
        if (const auto* flag = std::get_if<bool>(&value)) group.write_attribute(name, std::uint64_t{*flag});
    }
    group.write_attribute("Time.integrator", std::string(name_of(time.integrator)).c_str());
    group.write_attribute("Time.step", time.step);
    group.write_attribute("Time.end", time.end);
    group.write_attribute("Time.adaptive", std::uint64_t{time.adaptive});
    group.write_attribute("Time.eta", time.eta);
}

void read_options(const hdf5::Group& group, ForceOptions& force, TimeOptions& time) {
    for (const auto& option : option_table()) {
        if (!option.force) continue;
        const auto name = attribute_of(option);
        OptionValue value;
        if (option.type == OptionType::number)
            value = group.attribute<double>(name);
        else if (option.type == OptionType::count)
            value = group.attribute<std::int64_t>(name);
        else if (option.type == OptionType::flag)
            value = group.attribute<std::uint64_t>(name) != 0;
        else
            value = group.text_attribute(name);
        option.force.set(force, value);
    }
    time = {.integrator = enum_attribute<Integrator>(group, "Time.integrator"),
            .step = group.attribute<double>("Time.step"),
            .end = group.attribute<double>("Time.end"),
            .adaptive = group.attribute<std::uint64_t>("Time.adaptive") != 0,
            .eta = group.attribute<double>("Time.eta")};
}

} // namespace

std::vector<std::byte> checkpoint_image(const Checkpoint& checkpoint) {
    auto file = hdf5::File::create();
    auto root = file.root();
    root.write_attribute("FormatVersion", format_version);
    visit_texts(checkpoint, [&](const char* name, const std::string& text) {
        if (!text.empty()) root.write_attribute(name, text);
    });
    root.write_attribute("Device", name_of(DeviceChoice{.kind = checkpoint.backend.device}).c_str());
    root.write_attribute("Isa", std::string(name_of(checkpoint.backend.isa)).c_str());
    root.write_attribute("Variant", std::string(name_of(checkpoint.backend.variant)).c_str());
    root.write_attribute("Precision", std::string(name_of(checkpoint.backend.precision)).c_str());
    visit_scalars(checkpoint,
                  [&](const char* name, const auto& value) { root.write_attribute(name, value); });
    write_options(root, checkpoint.force, checkpoint.time);
    if (checkpoint.state.initial_energy) root.write_attribute("InitialEnergy", energy_or_zero(checkpoint));
    root.write_attribute("FrameExponent", frame_exponent(checkpoint));
    const auto& settled = checkpoint.state.motion.force;
    root.write_attribute("Method", std::string(name_of(settled.method)).c_str());
    root.write_attribute("Order", std::int64_t{settled.order});
    root.write_attribute("Leaf", std::int64_t{settled.leaf});
    root.write_attribute("M2L", std::string(name_of(settled.m2l)).c_str());
    visit_arrays(checkpoint, [&](const char* name, const auto& values) {
        if (!values.empty()) root.write(name, values);
    });
    return file.image();
}

void write_checkpoint(const RunFolder& folder, const Checkpoint& checkpoint) {
    write_sealed(folder.checkpoints(), checkpoint_image(checkpoint));
}

namespace {

Checkpoint checkpoint_of(const hdf5::File& file, const fs::path& path) {
    const auto root = file.root();
    require_format(path, root.attribute<std::uint64_t>("FormatVersion"), format_version);
    Checkpoint c;
    visit_texts(c, [&](const char* name, std::string& text) {
        if (root.has_attribute(name)) text = root.text_attribute(name);
    });
    c.backend = {.device = device_from_name(root.text_attribute("Device")).kind,
                 .isa = enum_attribute<Isa>(root, "Isa"),
                 .variant = enum_attribute<Variant>(root, "Variant"),
                 .precision = enum_attribute<Precision>(root, "Precision")};
    read_options(root, c.force, c.time);
    visit_scalars(c, [&](const char* name, auto& value) {
        value = root.attribute<std::remove_reference_t<decltype(value)>>(name);
    });
    auto& settled = c.state.motion.force;
    settled.method = enum_attribute<Method>(root, "Method");
    settled.order = static_cast<int>(root.attribute<std::int64_t>("Order"));
    settled.leaf = static_cast<int>(root.attribute<std::int64_t>("Leaf"));
    settled.m2l = enum_attribute<M2L>(root, "M2L");
    c.state.motion.frame.exponent = static_cast<int>(root.attribute<double>("FrameExponent"));
    if (root.has_attribute("InitialEnergy")) c.state.initial_energy = root.attribute<double>("InitialEnergy");
    visit_arrays(c, [&](const char* name, auto& values) {
        using Value = typename std::remove_reference_t<decltype(values)>::value_type;
        if (root.has_dataset(name)) values = root.dataset(name).template read<Value>();
    });
    return c;
}

} // namespace

Checkpoint read_checkpoint(const fs::path& path) { return checkpoint_of(open_checkpoint(path), path); }

Checkpoint checkpoint_from_image(std::span<const std::byte> image, const std::string& name) {
    return checkpoint_of(hdf5::File::open_image(image, name), name);
}

std::optional<Checkpoint> newest_checkpoint(const RunFolder& folder,
                                            const std::function<void(const std::string&)>& message) {
    return read_newest(folder.checkpoints(), read_checkpoint, message);
}

} // namespace farfield
