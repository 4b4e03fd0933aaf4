// farfield.stencil: programs and runs. Programs are built in Python itself (farfield/stencil.py), as text.
#include "arrays.h"
#include "bindings.h"
#include "communicator.h"
#include "interrupt.h"
#include "pickles.h"
#include "stencil_values.h"

#include <farfield/stencil.h>
#include <farfield/stencil_run.h>

#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace farfield::python {
namespace {

using Values = nb::typed<nb::dict, std::string, nb::object>;

nb::dict dict_of(const StencilParameters& parameters) {
    nb::dict out;
    for (const auto& parameter : parameters)
        std::visit([&](const auto& value) { out[parameter.name.c_str()] = nb::cast(value); },
                   parameter.value);
    return out;
}

// A NumPy array that owns the values.
Float64Array array_of(std::vector<double> values, const std::vector<std::int64_t>& shape) {
    auto owned = std::make_unique<std::vector<double>>(std::move(values));
    auto* data = owned->data();
    const std::vector<std::size_t> extents(shape.begin(), shape.end());
    const nb::capsule owner(owned.release(),
                            [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return {nb::cast(nb::ndarray<nb::numpy, double>(data, extents.size(), extents.data(), owner))};
}

void advance(StencilRun& run, std::int64_t steps) {
    Interrupt interrupt;
    {
        const nb::gil_scoped_release no_gil;
        run.advance(steps, [&] { return interrupt.poll(); });
    }
    interrupt.rethrow();
}

void run_to_end(StencilRun& run) {
    const auto end = run.program().steps();
    if (!end) run.run(); // and say that there is none
    if (*end > run.step()) advance(run, *end - run.step());
}

void set_field(StencilRun& run, const std::string& name, const Input& values) {
    const auto numpy = nb::module_::import_("numpy");
    if (nb::cast<bool>(numpy.attr("iscomplexobj")(values.object)))
        throw nb::type_error(("the values for the field " + name +
                              " are complex; fields are real: give a field each to .real and .imag")
                                 .c_str());
    const auto array = numpy.attr("ascontiguousarray")(values.object, "float64");
    const auto view = nb::cast<nb::ndarray<const double, nb::c_contig, nb::device::cpu>>(array);
    const auto shape = run.field(name).shape;
    const auto same = view.ndim() == shape.size() && [&] {
        for (std::size_t i = 0; i < shape.size(); ++i)
            if (static_cast<std::int64_t>(view.shape(i)) != shape[i]) return false;
        return true;
    }();
    if (!same)
        throw InvalidArgument("the field " + name + " has the shape " +
                              nb::cast<std::string>(nb::repr(nb::tuple(nb::cast(shape)))) +
                              ", the values have " + nb::cast<std::string>(nb::repr(array.attr("shape"))));
    run.set_field(name, {view.data(), view.size()});
}

StencilOptions options_of(const std::string& target, int device, const std::string& mask, int threads,
                          int time_tile, const std::array<int, 3>& block, bool allow_unstable,
                          nb::handle comm, const std::string& mpi_gpu) {
    StencilOptions options;
    options.target = target;
    options.device = device;
    options.mask = mask_of(mask);
    options.threads = threads;
    options.time_tile = time_tile;
    options.block = block;
    options.allow_unstable = allow_unstable;
    options.communicator = communicator_from(comm);
    options.mpi_gpu = mpi_gpu_of(mpi_gpu);
    return options;
}

StencilRun make_run(const StencilProgram& program, const std::string& target, int device,
                    const std::string& mask, int threads, int time_tile, const std::array<int, 3>& block,
                    bool allow_unstable, const nb::object& comm, const std::string& mpi_gpu) {
    const auto options =
        options_of(target, device, mask, threads, time_tile, block, allow_unstable, comm, mpi_gpu);
    const nb::gil_scoped_release no_gil;
    return StencilRun(program, options);
}

StencilRun load_run(const std::filesystem::path& path, const std::string& target, int device,
                    const std::string& mask, int threads, int time_tile, const std::array<int, 3>& block,
                    bool allow_unstable, const nb::object& comm, const std::string& mpi_gpu) {
    const auto options =
        options_of(target, device, mask, threads, time_tile, block, allow_unstable, comm, mpi_gpu);
    const nb::gil_scoped_release no_gil;
    return load_stencil_run(path, options);
}

void bind_program(nb::module_& module) {
    nb::class_<StencilProgram>(module, "StencilProgram",
                               "A checked program; farfield.stencil.load makes one.")
        .def_static(
            "from_file",
            [](const std::filesystem::path& path, const Values& parameters) {
                return StencilProgram::from_file(path, parameters_of(parameters));
            },
            "path"_a, "parameters"_a = nb::dict())
        .def_static(
            "from_text",
            [](const std::string& text, const Values& parameters, const std::string& name,
               const std::filesystem::path& folder) {
                return StencilProgram::from_text(text, parameters_of(parameters), name, folder);
            },
            "text"_a, "parameters"_a = nb::dict(), "name"_a = "program", "folder"_a = std::filesystem::path())
        .def(
            "replace",
            [](const StencilProgram& program, const Values& parameters) {
                return program.with(parameters_of(parameters));
            },
            "parameters"_a, "The same program with other values of parameters.")
        .def(
            "__getstate__",
            [](const StencilProgram& program) {
                return nb::make_tuple(program.text(), dict_of(program.given_parameters()), program.name(),
                                      program.folder());
            },
            FF_GETSTATE_SIG)
        .def(
            "__setstate__",
            [](StencilProgram& self, const nb::tuple& state) {
                require_state(state, 4);
                new (&self) StencilProgram(StencilProgram::from_text(
                    nb::cast<std::string>(state[0]), parameters_of(nb::cast<nb::dict>(state[1])),
                    nb::cast<std::string>(state[2]), nb::cast<std::filesystem::path>(state[3])));
            },
            FF_SETSTATE_SIG)
        .def_prop_ro("name", &StencilProgram::name)
        .def_prop_ro("warnings", &StencilProgram::warnings, "Warnings with their lines; may be empty.")
        .def_prop_ro("text", &StencilProgram::text, "The program as Farfield prints it.")
        .def_prop_ro("parameters",
                     [](const StencilProgram& program) -> Values { return dict_of(program.parameters()); })
        .def_prop_ro("fields", &StencilProgram::fields)
        .def_prop_ro("records", &StencilProgram::records)
        .def_prop_ro("dt", &StencilProgram::dt)
        .def_prop_ro("steps", &StencilProgram::steps, "Steps to the end that the program names, or None.")
        .def("__repr__",
             [](const StencilProgram& program) { return "<stencil program '" + program.name() + "'>"; });
}

constexpr const char* run_doc =
    R"(A program in memory, ready to take steps; fields have their initial values.

It writes no files but those of `save`: farfield.run_stencil leaves fields, pictures, animations and checkpoints in a
folder.

Args:
    program: a StencilProgram.
    target: auto, interpreter, cpu or cuda; all give the same bits.
    device: the GPU for cuda.
    mask: auto, none, select, branch, spans or multiply: how cells outside subdomains are left alone.
    threads: of the CPU; 0: all.
    time_tile: steps a pass over memory; 0: chosen.
    block: cells of a GPU's tile, or threads of its block where updates are not fused; of a CPU the last
        side alone: rows (3D: planes) of one update done at a time; 0: chosen.
    allow_unstable: run a program whose time step is too long to be stable.
    comm: ranks that share the grids, a communicator of mpi4py or a farfield.Communicator: all make the same calls, and
        get whole fields. None: this process alone.
    mpi_gpu: 'auto', 'on' or 'off': whether messages between ranks hold memory of their GPUs; 'auto': where the MPI says
        that it can.

Raises:
    CompileError (a ValueError) with all messages, InvalidArgument, BackendUnavailable, DeviceError.)";

void bind_run_class(nb::module_& module) {
    nb::class_<StencilRun>(module, "StencilRun", run_doc)
        .def(nb::new_(&make_run), "program"_a, nb::kw_only(), "target"_a = "auto", "device"_a = 0,
             "mask"_a = "auto", "threads"_a = 0, "time_tile"_a = 0, "block"_a = std::array<int, 3>{},
             "allow_unstable"_a = false, "comm"_a.none() = nb::none(), "mpi_gpu"_a = "auto")
        .def("advance", &advance, "steps"_a,
             "Takes steps. Ctrl-C ends it between two of them. FarfieldError where a field is no longer "
             "finite.")
        .def("run", &run_to_end, "Goes on to the end that the program names.")
        .def_prop_ro("step", &StencilRun::step, "Steps taken.")
        .def_prop_ro("time", &StencilRun::time)
        .def(
            "field",
            [](StencilRun& run, const std::string& name) {
                auto field = run.field(name);
                return array_of(std::move(field.values), field.shape);
            },
            "name"_a, "A copy of a field, of shape (z, y, x) without the axes that the grid lacks.")
        .def("set_field", &set_field, "name"_a, "values"_a, "Replaces a field by finite real values.")
        .def(
            "series",
            [](StencilRun& run, const std::string& name) -> nb::typed<nb::tuple, Float64Array, Float64Array> {
                auto series = run.series(name);
                const auto n = static_cast<std::int64_t>(series.times.size());
                return nb::make_tuple(array_of(std::move(series.times), {n}),
                                      array_of(std::move(series.values), {n}));
            },
            "name"_a, "Times and values of a record so far.")
        .def(
            "plot",
            [](nb::handle_t<StencilRun> self, const std::string& name, const nb::object& axes,
               const nb::kwargs& style) {
                return display("plot_field")(self.attr("field")(name), name, self.attr("time"), axes, style);
            },
            "name"_a, "axes"_a.none() = nb::none(), "style"_a,
            nb::sig("def plot(self, name: str, axes: typing.Any = None, **style: typing.Any) -> typing.Any"),
            R"(Draws a field with matplotlib, and returns the axes: a line in 1D, a picture in 2D, of 3D the middle plane.

`axes`: to draw into; None: those of a new figure. `style`: keywords of `Axes.plot` or `Axes.imshow`.)")
        .def(
            "save",
            [](StencilRun& run, const std::filesystem::path& path) {
                const nb::gil_scoped_release no_gil;
                save_stencil_run(run, path);
            },
            "path"_a,
            "Writes fields, step, records and the program with its parameters to a file, in the format of "
            "checkpoints.")
        .def_static("load", &load_run, "path"_a, nb::kw_only(), "target"_a = "auto", "device"_a = 0,
                    "mask"_a = "auto", "threads"_a = 0, "time_tile"_a = 0, "block"_a = std::array<int, 3>{},
                    "allow_unstable"_a = false, "comm"_a.none() = nb::none(), "mpi_gpu"_a = "auto",
                    "The run of such a file: it goes on to the same bits, whatever the options, which are "
                    "those of the class.")
        .def_prop_ro("program", &StencilRun::program)
        .def_prop_ro("description", &StencilRun::description, "What computes.")
        .def_prop_ro("notes", &StencilRun::notes, "Warnings of the analysis, and that a compiler is missing.")
        .def("__repr__", [](const StencilRun& run) {
            return "<stencil run of '" + run.program().name() + "' at step " + std::to_string(run.step()) +
                   ">";
        });
}

} // namespace

StencilParameters parameters_of(const nb::dict& values) {
    StencilParameters out;
    for (const auto& [key, value] : values) {
        const auto name = nb::cast<std::string>(key);
        if (PyBool_Check(value.ptr()))
            out.emplace_back(name, value.ptr() == Py_True);
        else if (PyIndex_Check(value.ptr()))
            out.emplace_back(name, nb::cast<std::int64_t>(nb::steal(PyNumber_Index(value.ptr()))));
        else if (PyFloat_Check(value.ptr()))
            out.emplace_back(name, nb::cast<double>(value));
        else
            throw InvalidArgument("the value of the parameter " + name + " is no number and no truth value");
    }
    return out;
}

StencilMask mask_of(const std::string& name) {
    const auto known = from_name<StencilMask>(name);
    if (!known)
        throw InvalidArgument("mask is '" + name +
                              "'; allowed are auto, none, select, branch, spans and multiply");
    return *known;
}

MpiGpu mpi_gpu_of(const std::string& name) {
    const auto known = from_name<MpiGpu>(name);
    if (!known) throw InvalidArgument("mpi_gpu is '" + name + "'; allowed are auto, on and off");
    return *known;
}

void bind_stencil(nb::module_& module) {
    bind_program(module);
    bind_run_class(module);
}

} // namespace farfield::python
