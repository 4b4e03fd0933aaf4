// farfield.run_stencil: a stencil program with its files, interruptible by Ctrl-C.
#include "bindings.h"
#include "communicator.h"
#include "interrupt.h"
#include "pickles.h"
#include "stencil_values.h"

#include <farfield/stencil_run.h>

#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace nb = nanobind;
using namespace nb::literals;

namespace farfield::python {
namespace {

namespace fs = std::filesystem;

/// What the caller gives beside the program and the folder.
struct Arguments {
    StencilRunSettings settings;
    StencilParameters parameters;
    nb::object progress = nb::none();
    nb::object message = nb::none();
};

/// A keyword of run_stencil: the signature, the docstring and the reading of it.
struct Keyword {
    const char* name;
    const char* type;
    const char* by_default;
    const char* doc;
    void (*set)(Arguments&, const Keyword&, nb::handle);
};

template <class T>
T value_of(const Keyword& keyword, nb::handle value, const char* type) {
    T out{};
    if (!nb::try_cast<T>(value, out))
        throw nb::type_error((std::string(keyword.name) + " must be " + type + ", not " +
                              nb::cast<std::string>(nb::repr(value)))
                                 .c_str());
    return out;
}

template <auto member>
void set_member(Arguments& arguments, const Keyword& keyword, nb::handle value) {
    auto& place = arguments.settings.*member;
    place = value_of<std::remove_reference_t<decltype(place)>>(keyword, value, keyword.type);
}

template <auto member>
void set_option(Arguments& arguments, const Keyword& keyword, nb::handle value) {
    auto& place = arguments.settings.options.*member;
    place = value_of<std::remove_reference_t<decltype(place)>>(keyword, value, keyword.type);
}

void set_function(nb::object& place, const Keyword& keyword, nb::handle value) {
    if (!value.is_none() && PyCallable_Check(value.ptr()) == 0)
        throw nb::type_error((std::string(keyword.name) + " must be a function or None").c_str());
    place = nb::borrow(value);
}

void set_mask(Arguments& arguments, const Keyword& keyword, nb::handle value) {
    arguments.settings.options.mask = mask_of(value_of<std::string>(keyword, value, "a str"));
}

nb::dict items_of(const Keyword& keyword, nb::handle value) {
    if (!nb::hasattr(value, "keys"))
        throw nb::type_error((std::string(keyword.name) + " must be a dict").c_str());
    return nb::cast<nb::dict>(nb::module_::import_("builtins").attr("dict")(value));
}

void set_parameters(Arguments& arguments, const Keyword& keyword, nb::handle value) {
    if (!value.is_none()) arguments.parameters = parameters_of(items_of(keyword, value));
}

// A dict: "file", and what else tells of a picture.
StencilAnimation picture_of(const Keyword& keyword, nb::handle value, bool animated) {
    StencilAnimation picture;
    for (const auto& [key, part] : items_of(keyword, value)) {
        const auto name = value_of<std::string>(keyword, key, "dicts with keys of str");
        if (name == "file")
            picture.png = value_of<fs::path>(keyword, part, "a path as \"file\"");
        else if (name == "every" && animated)
            picture.every = value_of<std::int64_t>(keyword, part, "an int as \"every\"");
        else if (name == "range")
            picture.look.range =
                value_of<std::array<double, 2>>(keyword, part, "a pair of floats as \"range\"");
        else if (name == "slice") {
            constexpr const char* type = "a pair (axis, cell) as \"slice\"";
            const auto [axis, cell] = value_of<std::pair<std::string, std::int64_t>>(keyword, part, type);
            if (axis != "x" && axis != "y" && axis != "z")
                throw InvalidArgument(std::string(keyword.name) +
                                      ": the axis of a slice is x, y or z, not '" + axis + "'");
            picture.look.slice = {axis[0], cell};
        } else if (name == "colours")
            picture.look.colours = value_of<std::string>(keyword, part, "a str as \"colours\"");
        else
            throw InvalidArgument(std::string(keyword.name) + ": the key '" + name +
                                  "' is not known; known: file, range, slice, colours" +
                                  (animated ? ", every" : ""));
    }
    if (picture.png.empty())
        throw InvalidArgument(std::string(keyword.name) + ": a dict of a picture needs the key \"file\"");
    return picture;
}

void set_plots(Arguments& arguments, const Keyword& keyword, nb::handle value) {
    for (const auto& [field, plan] : items_of(keyword, value)) {
        const auto name = value_of<std::string>(keyword, field, "a dict of str");
        StencilAnimation picture;
        if (nb::hasattr(plan, "keys"))
            picture = picture_of(keyword, plan, false);
        else
            picture.png = value_of<fs::path>(keyword, plan, "a dict of paths");
        arguments.settings.plots.push_back({name, picture.png, picture.look});
    }
}

// A value is a file, a file and the steps from frame to frame, or a dict.
void set_animations(Arguments& arguments, const Keyword& keyword, nb::handle value) {
    constexpr const char* type = "a dict of paths or pairs (path, steps)";
    for (const auto& [field, plan] : items_of(keyword, value)) {
        StencilAnimation animation{value_of<std::string>(keyword, field, "a dict of str"), {}, 0};
        if (nb::hasattr(plan, "keys")) {
            const auto name = std::move(animation.field);
            animation = picture_of(keyword, plan, true);
            animation.field = name;
            arguments.settings.animations.push_back(std::move(animation));
            continue;
        }
        const bool pair = nb::isinstance<nb::tuple>(plan) && nb::len(plan) == 2;
        animation.png = value_of<fs::path>(keyword, pair ? nb::object(plan[0]) : nb::borrow(plan), type);
        if (pair) animation.every = value_of<std::int64_t>(keyword, nb::object(plan[1]), type);
        arguments.settings.animations.push_back(std::move(animation));
    }
}

constexpr std::array run_keywords{
    Keyword{"parameters", "collections.abc.Mapping[str, bool | int | float] | None", "None",
            "other values for parameters of the program.", set_parameters},
    Keyword{"steps", "int | None", "None", "where the run ends, counted from its beginning; None: see `end`.",
            set_member<&StencilRunSettings::steps>},
    Keyword{"end", "float | None", "None", "the time at or after which it ends; None: what the program says.",
            set_member<&StencilRunSettings::end>},
    Keyword{"restart", "bool", "False", "go on from the last checkpoint in `out`.",
            set_member<&StencilRunSettings::restart>},
    Keyword{"overwrite", "bool", "False", "replace the files of an earlier run in `out`.",
            set_member<&StencilRunSettings::overwrite>},
    Keyword{"plots", "collections.abc.Mapping[str, str | os.PathLike | collections.abc.Mapping[str, object]]",
            "{}",
            "fields and the PNG files that they are drawn into at the end; a dict has \"file\", and may have "
            "\"range\" (low, high), \"slice\" (axis, cell) and \"colours\" (heat, ocean, grey, blue-red, "
            "purple-green).",
            set_plots},
    Keyword{"animations",
            "collections.abc.Mapping[str, str | os.PathLike | tuple[str | os.PathLike, int] | "
            "collections.abc.Mapping[str, object]]",
            "{}",
            "fields and their animated PNG files; (file, n): a frame every n steps; a dict may have "
            "\"every\", too.",
            set_animations},
    Keyword{"checkpoint_steps", "int", "0", "steps between checkpoints; 0: by the clock.",
            set_member<&StencilRunSettings::checkpoint_steps>},
    Keyword{"checkpoint_seconds", "float", "600.0",
            "of the clock between checkpoints; 0: only when stopped and at the end.",
            set_member<&StencilRunSettings::checkpoint_seconds>},
    Keyword{"target", "str", "'auto'", "auto, interpreter, cpu or cuda; all give the same bits.",
            set_option<&StencilOptions::target>},
    Keyword{"device", "int", "0", "the GPU for cuda.", set_option<&StencilOptions::device>},
    Keyword{"mpi_gpu", "str", "'auto'",
            "auto, on or off: whether messages between ranks hold memory of their GPUs; auto: where the MPI "
            "says that it can.",
            [](Arguments& a, const Keyword& keyword, nb::handle value) {
                a.settings.options.mpi_gpu = mpi_gpu_of(value_of<std::string>(keyword, value, "a str"));
            }},
    Keyword{"mask", "str", "'auto'",
            "auto, none, select, branch, spans or multiply: how cells outside subdomains are left alone.",
            set_mask},
    Keyword{"threads", "int", "0", "of the CPU; 0: all.", set_option<&StencilOptions::threads>},
    Keyword{"time_tile", "int", "0", "steps a pass over memory; 0: chosen.",
            set_option<&StencilOptions::time_tile>},
    Keyword{"block", "tuple[int, int, int]", "(0, 0, 0)", "as of StencilRun; 0: chosen.",
            set_option<&StencilOptions::block>},
    Keyword{"allow_unstable", "bool", "False", "run a program whose time step is too long to be stable.",
            set_option<&StencilOptions::allow_unstable>},
    Keyword{"comm", "Communicator | typing.Any | None", "None",
            "ranks that share the grids, a communicator of mpi4py or a farfield.Communicator; rank 0 alone "
            "writes.",
            [](Arguments& a, const Keyword& /*k*/, nb::handle value) {
                a.settings.options.communicator = communicator_from(value);
            }},
    Keyword{"progress", "collections.abc.Callable[[StencilRunProgress], None] | None", "None",
            "called with a StencilRunProgress about ten times a second.",
            [](Arguments& a, const Keyword& k, nb::handle value) { set_function(a.progress, k, value); }},
    Keyword{"message", "collections.abc.Callable[[str], None] | None", "None",
            "called with each warning or note, one line; None: they go to the logger \"farfield\".",
            [](Arguments& a, const Keyword& k, nb::handle value) { set_function(a.message, k, value); }},
};

Arguments arguments_of(const nb::kwargs& given) {
    Arguments arguments;
    for (const auto& [key, value] : given) {
        const auto name = nb::cast<std::string>(key);
        const Keyword* found = nullptr;
        for (const auto& keyword : run_keywords)
            if (name == keyword.name) found = &keyword;
        if (found == nullptr) throw nb::type_error(("run_stencil() has no keyword '" + name + "'").c_str());
        found->set(arguments, *found, value);
    }
    return arguments;
}

StencilRunResult run(const StencilProgram& program, const Arguments& arguments) {
    Interrupt interrupt;
    StencilRunHooks hooks;
    hooks.stop_requested = [&] { return interrupt.poll(); };
    if (!arguments.progress.is_none())
        hooks.progress = [&](const StencilRunProgress& now) {
            interrupt.guard([&] { arguments.progress(now); });
        };
    hooks.message = [&](const std::string& text) { interrupt.guard([&] { tell(arguments.message, text); }); };
    StencilRunResult result;
    {
        const nb::gil_scoped_release no_gil;
        result = run_stencil(program, arguments.settings, hooks);
    }
    interrupt.rethrow();
    return result;
}

StencilProgram program_of(const nb::object& program, const StencilParameters& parameters) {
    if (nb::isinstance<StencilProgram>(program)) {
        const auto& made = nb::cast<const StencilProgram&>(program);
        return parameters.empty() ? made : made.with(parameters);
    }
    fs::path path;
    if (!nb::try_cast<fs::path>(program, path))
        throw nb::type_error("program must be a StencilProgram or the path of a program");
    return StencilProgram::from_file(path, parameters);
}

std::string signature() {
    std::string out =
        "def run_stencil(program: StencilProgram | str | os.PathLike, out: str | os.PathLike, *";
    for (const auto& keyword : run_keywords)
        out += std::string(", ") + keyword.name + ": " + keyword.type + " = " + keyword.by_default;
    return out + ") -> StencilRunResult";
}

std::string stencil_run_doc() {
    std::string out =
        R"(Runs a stencil program to its end, leaving fields, series.csv, pictures, checkpoint.h5 and summary.json in `out`.

The files are those of `farfield stencil run`. Ctrl-C, or an exception raised by a callback, finishes the steps at hand,
writes a checkpoint and is then raised; restart=True goes on from there to fields and series that are byte-identical to
those of an undisturbed run.

Args:
    program: a StencilProgram, or the path of a program (.ff).
    out: the output folder; created if missing, refused if it holds an earlier run, without `restart` or `overwrite`.)";
    for (const auto& keyword : run_keywords) out += std::string("\n    ") + keyword.name + ": " + keyword.doc;
    return out + R"(

Raises:
    CompileError or InvalidArgument (ValueErrors), IoError (an OSError), BackendUnavailable or DeviceError
    (RuntimeErrors), Error where a field is no longer finite.)";
}

void bind_progress(nb::module_& module) {
    auto progress =
        nb::class_<StencilRunProgress>(module, "StencilRunProgress", "How far a stencil run has come.");
    progress.def_ro("step", &StencilRunProgress::step)
        .def_ro("steps_total", &StencilRunProgress::steps_total)
        .def_ro("time", &StencilRunProgress::time)
        .def_ro("end", &StencilRunProgress::end)
        .def_ro("cell_steps_per_second", &StencilRunProgress::cell_steps_per_second,
                "Cells of all grids times steps; 0 before the first step.")
        .def_ro("stencils_per_second", &StencilRunProgress::stencils_per_second,
                "Equations at cells where they apply.")
        .def_ro("seconds_left", &StencilRunProgress::seconds_left);
    make_record(progress, {"step", "steps_total", "time", "end", "cell_steps_per_second",
                           "stencils_per_second", "seconds_left"});
    make_picklable(progress, &StencilRunProgress::step, &StencilRunProgress::steps_total,
                   &StencilRunProgress::time, &StencilRunProgress::end,
                   &StencilRunProgress::cell_steps_per_second, &StencilRunProgress::stencils_per_second,
                   &StencilRunProgress::seconds_left);
}

void bind_run_result(nb::module_& module) {
    auto result = nb::class_<StencilRunResult>(module, "StencilRunResult",
                                               "What a stencil run has done and what it left behind.");
    result.def_ro("finished", &StencilRunResult::finished)
        .def_ro("step", &StencilRunResult::step)
        .def_ro("time", &StencilRunResult::time)
        .def_ro("steps_here", &StencilRunResult::steps_here, "Steps of this call; a restart goes on.")
        .def_ro("cell_steps_per_second", &StencilRunResult::cell_steps_per_second)
        .def_ro("stencils_per_second", &StencilRunResult::stencils_per_second)
        .def_ro("files", &StencilRunResult::files, "Everything the run left, pictures included.");
    make_record(result, {"finished", "step", "time", "steps_here", "cell_steps_per_second",
                         "stencils_per_second", "files"});
    make_picklable(result, &StencilRunResult::finished, &StencilRunResult::step, &StencilRunResult::time,
                   &StencilRunResult::steps_here, &StencilRunResult::cell_steps_per_second,
                   &StencilRunResult::stencils_per_second, &StencilRunResult::files);
}

} // namespace

void bind_stencil_run(nb::module_& module) {
    bind_progress(module);
    bind_run_result(module);
    const auto call_signature = signature();
    module.def(
        "run_stencil",
        [](const nb::object& program, const fs::path& out, const nb::kwargs& given) {
            auto arguments = arguments_of(given);
            arguments.settings.out = out;
            return run(program_of(program, arguments.parameters), arguments);
        },
        "program"_a, "out"_a, "keywords"_a, nb::sig(call_signature.c_str()), stencil_run_doc().c_str());
}

} // namespace farfield::python
