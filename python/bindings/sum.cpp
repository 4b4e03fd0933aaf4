// farfield.sum, SumPlan and SumResult.
#include "arrays.h"
#include "bindings.h"
#include "interrupt.h"
#include "pickles.h"
#include "sum_outputs.h"
#include "table_options.h"

#include <farfield/error.h>

#include <nanobind/stl/optional.h>

#include <mutex>
#include <optional>

namespace nb = nanobind;
using namespace nb::literals;

namespace farfield::python {
namespace {

// A plan that several Python threads may use: the GIL is released while it works, so it locks itself.
class LockedPlan {
public:
    LockedPlan(nb::handle points, nb::handle targets, const SumOptions& options)
        : memory_{.gpu = true, .stream = options.stream}, plan_(make_plan(points, targets, options)),
          self_(targets.is_none()), make_array_(array_maker(points, targets)) {}

    SumObjects execute(nb::handle strengths, nb::handle dipoles, const Wanted& wanted) {
        const auto facts = facts_of(plan_.options().kernel);
        if (strengths.is_none() && dipoles.is_none())
            throw nb::type_error("strengths or dipoles are needed: both are None");
        const auto view_of = [&](nb::handle array, const char* name) {
            return array.is_none() ? Held<ConstArrayView>{} : input_view(array, name, memory_);
        };
        const auto input = view_of(strengths, "strengths");
        const auto dipole_input = view_of(dipoles, "dipoles");
        const auto maker = make_array_.is_none() ? array_maker(strengths, dipoles) : make_array_;
        const Outputs outputs(
            wanted.outputs.empty() ? facts.usual_outputs : wanted.outputs, dict_from(wanted.out),
            [&](Output output) {
                return shape_of_output(output, targets_, dimension_, facts.strength_columns);
            },
            maker, memory_);
        Interrupt interrupt;
        SumReport report;
        try {
            const nb::gil_scoped_release no_gil;
            const std::lock_guard lock(mutex_);
            plan_.execute(SumStrengths{.charges = input.view, .dipoles = dipole_input.view}, outputs.views,
                          {.progress = {}, .stop_requested = [&] { return interrupt.poll(); }});
            report = plan_.report();
        } catch (const Interrupted&) {
            interrupt.rethrow();
            throw;
        }
        interrupt.rethrow(); // Ctrl-C that came too late to stop anything
        return {outputs.objects(), report};
    }

    void update(nb::handle points, nb::handle targets) {
        if (self_ != targets.is_none())
            throw InvalidArgument(
                self_ ? "this plan was made without targets; update(points) moves its points"
                      : "this plan was made with targets; pass them too: update(points, targets)");
        const auto source_view = input_view(points, "points", memory_);
        const auto target_view = self_ ? Held<ConstArrayView>{} : input_view(targets, "targets", memory_);
        nb::gil_scoped_release no_gil;
        const std::lock_guard lock(mutex_);
        if (self_)
            plan_.update(source_view.view);
        else
            plan_.update(source_view.view, target_view.view);
        // ranks may have other numbers of points than before
        sources_ = source_view.view.shape[0];
        targets_ = self_ ? sources_ : target_view.view.shape[0];
    }

    [[nodiscard]] std::string text() const {
        const auto& options = plan_.options();
        return "<SumPlan of " + std::to_string(sources_) + " points" +
               (self_ ? "" : " at " + std::to_string(targets_) + " targets") + ": " +
               std::string(name_of(options.kernel)) + " by method '" + std::string(name_of(options.method)) +
               "' in precision '" + std::string(name_of(options.precision)) + "'>";
    }

    SumReport report() {
        nb::gil_scoped_release no_gil;
        const std::lock_guard lock(mutex_);
        return plan_.report();
    }

private:
    // Of the first of the two that lies on a GPU, or None: results are arrays of the same kind.
    static nb::object array_maker(nb::handle first, nb::handle second) {
        for (const nb::handle array : {first, second})
            if (!array.is_none() && is_on_gpu(array))
                return nb::module_::import_("farfield._device_arrays").attr("maker")(array);
        return nb::none();
    }

    SumPlan make_plan(nb::handle points, nb::handle targets, const SumOptions& options) {
        const auto source_view = input_view(points, "points", memory_);
        dimension_ = source_view.view.shape[1]; // of two axes, or the plan refuses the points
        sources_ = targets_ = source_view.view.shape[0];
        if (targets.is_none()) {
            nb::gil_scoped_release no_gil;
            return SumPlan(source_view.view, options);
        }
        const auto target_view = input_view(targets, "targets", memory_);
        targets_ = target_view.view.shape[0];
        nb::gil_scoped_release no_gil;
        return {source_view.view, target_view.view, options};
    }

    Memory memory_;
    // Set by make_plan, which the next member calls.
    std::int64_t dimension_ = 0;
    std::int64_t sources_ = 0;
    std::int64_t targets_ = 0;
    SumPlan plan_;
    bool self_;
    nb::object make_array_;
    std::mutex mutex_;
};

constexpr const char* sum_doc =
    R"(One particle sum: φ_i = Σ_j q_j K(x_i − y_j) and the field −∇φ.

Gravity: φ = −Σ m/√(r²+ε²); Coulomb: φ = +Σ q/√(r²+ε²); field = −∇φ for both, so masses attract and like charges
repel. G = 1 and 1/(4πε₀) = 1. A point does not act on itself. docs/guide/conventions.md has the other kernels.
Ctrl-C stops a long sum on the CPU.

Args:
    points: (N, 3) source positions. Arrays of float32 and float64 are viewed with their own strides, other numbers
        (lists, DataFrames, whole numbers, another byte order) are copied into float64. This and the other arrays
        may lie on the GPU that computes (CuPy, PyTorch, anything with DLPack), in float32 or float64.
        Kernels of other dimensions take as many columns.
    strengths: (N,) masses or charges; (N, 2), real and imaginary parts, for laplace2d; circulations for vortex2d; None beside dipoles: none.
    targets: (M, 3) positions to evaluate at; None: the points themselves.
    dipoles: (N, 3) dipoles of the sources, for coulomb: φ gets Σ p·(x − y)/(r²+ε²)^(3/2); None: none.
    output: what to compute, such as "potential,field" or ["field"]; None: all that the kernel has, but
        for the Hessian.
    out: a dict of arrays in float32 or float64 to write into, such as {"field": array}. An output that is not in it
        (or None) gets a new float64 array, on the GPU and of the library of the points if they are there.
    sigma: of gauss also (N,) widths, one a source, of at most 64 different ones; errors are those of the whole. Arrays on
        a GPU are then copied to the host in between.
    stream: a stream of CuPy or PyTorch, or the number of a cudaStream_t: the work on the GPU is queued there. None:
        CUDA's default stream for arrays on a GPU. A call returns when its results are written.)";

constexpr const char* sum_doc_end =
    R"(

Returns:
    SumResult with .potential (M,), .field and .gradient (M, 3), .hessian (M, 6), None where not computed, and .report.

Raises:
    InvalidArgument (a ValueError): wrong shape, a value that is not finite, an unknown name, coincident points.
    ToleranceNotReached (a RuntimeError): an error above `tolerance`; with guaranteed=True also a bound above it.
    BackendUnavailable (a RuntimeError): a GPU that this build or machine does not have.
    DeviceError (a RuntimeError): a GPU failed, such as for lack of memory.
    TypeError: something that holds no real numbers; an `out` that cannot be written in place.)";

constexpr const char* plan_doc =
    R"(A sum prepared once and executed many times, for new strengths or moved points.

Takes the options of farfield.sum. The points are copied in; `update` replaces them.)";

constexpr const char* execute_doc =
    R"(Computes the outputs for strengths (N,), dipoles (N, 3) or both; see farfield.sum for `output` and `out`.

The GIL is released; calls from several threads on one plan take turns. Ctrl-C stops a long sum on the CPU.)";

constexpr const char* dipole_type = "dipoles: numpy.typing.ArrayLike | None = None, ";
constexpr const char* stream_type = ", stream: object | None = None";
constexpr const char* wanted_types =
    "output: str | collections.abc.Iterable[str] | None = None, "
    "out: collections.abc.Mapping[str, numpy.typing.NDArray[numpy.floating] | None] | None = None";

SumOptions make_options(const nb::kwargs& keywords, nb::handle stream, const Caller& caller) {
    auto options = options_from<SumOptions>(keywords, caller);
    options.stream = stream_pointer(stream);
    return options;
}

// The keyword sigma where it holds a width for each source, which leaves it out of the options; None
// otherwise.
nb::object take_sigmas(const nb::kwargs& keywords) {
    if (!keywords.contains("sigma")) return nb::none();
    nb::object sigma = keywords["sigma"];
    if (!holds_several(sigma)) return nb::none();
    PyDict_DelItemString(keywords.ptr(), "sigma");
    return sigma;
}

nb::object or_none(const std::optional<Input>& input) { return input ? input->object : nb::none(); }

void bind_result(nb::module_& module) {
    auto cls = nb::class_<SumObjects>(module, "SumResult", "The outputs and the report of one sum.");
    const auto array = [&cls](const char* name, Output output, const char* doc) {
        const auto signature =
            "def " + std::string(name) + "(self) -> numpy.typing.NDArray[numpy.float64] | None";
        cls.def_prop_ro(
            name, [output](const SumObjects& r) { return r.arrays[static_cast<std::size_t>(output)]; },
            nb::sig(signature.c_str()), doc);
    };
    array("potential", Output::potential,
          "(M,) potentials, (M, 2) for laplace2d, or None where not computed.");
    array("field", Output::field,
          "(M, 3) field −∇φ, or None where not computed; (M, 2) velocities for vortex2d.");
    array("gradient", Output::gradient, "(M, 3) gradient +∇φ, or None where not computed.");
    array("hessian", Output::hessian,
          "(M, 6) second derivatives +∂²φ: xx, xy, xz, yy, yz, zz, or None where not computed.");
    cls.def_ro("report", &SumObjects::report, "What was done and how long it took.");
    make_record(cls, {"potential", "field", "gradient", "hessian", "report"});
    make_picklable(cls, &SumObjects::arrays, &SumObjects::report);
}

void bind_plan(nb::module_& module) {
    const auto init = "def __init__(self, points: numpy.typing.ArrayLike, "
                      "targets: numpy.typing.ArrayLike | None = None, *" +
                      option_parameters<SumOptions>() + stream_type + ") -> None";
    const auto execute = "def execute(self, strengths: numpy.typing.ArrayLike | None, *, " +
                         std::string(dipole_type) + std::string(wanted_types) + ") -> SumResult";
    nb::class_<LockedPlan>(module, "SumPlan", plan_doc)
        .def(
            "__init__",
            [](LockedPlan* self, const Input& points, const std::optional<Input>& targets,
               const nb::object& stream, const nb::kwargs& options) {
                new (self) LockedPlan(points.object, or_none(targets),
                                      make_options(options, stream, {"SumPlan", {"targets", "stream"}}));
            },
            "points"_a, "targets"_a.none() = nb::none(), nb::kw_only(), "stream"_a.none() = nb::none(),
            "options"_a, nb::sig(init.c_str()))
        .def(
            "execute",
            [](LockedPlan& self, const std::optional<Input>& strengths, const std::optional<Input>& dipoles,
               const nb::object& output, const nb::object& out) {
                return self.execute(or_none(strengths), or_none(dipoles), {outputs_from(output), out});
            },
            "strengths"_a.none(), nb::kw_only(), "dipoles"_a.none() = nb::none(),
            "output"_a.none() = nb::none(), "out"_a.none() = nb::none(), nb::sig(execute.c_str()),
            execute_doc)
        .def(
            "update",
            [](LockedPlan& self, const Input& points, const std::optional<Input>& targets) {
                self.update(points.object, or_none(targets));
            },
            "points"_a, "targets"_a.none() = nb::none(), "Moves the points (and targets); the counts stay.")
        .def("__repr__", &LockedPlan::text)
        .def_prop_ro("report", &LockedPlan::report, "The SumReport of the last execution.");
}

} // namespace

void bind_sum(nb::module_& module) {
    bind_result(module);
    bind_plan(module);
    auto signature = "def sum(points: numpy.typing.ArrayLike, strengths: numpy.typing.ArrayLike | None, *, "
                     "targets: numpy.typing.ArrayLike | None = None, " +
                     std::string(dipole_type) + std::string(wanted_types) + option_parameters<SumOptions>() +
                     stream_type + ") -> SumResult";
    const std::string one_width = "sigma: float", several = "sigma: float | numpy.typing.ArrayLike";
    signature.replace(signature.find(one_width), one_width.size(), several);
    const auto doc = sum_doc + option_docs<SumOptions>() + sum_doc_end;
    module.def(
        "sum",
        [](const Input& points, const std::optional<Input>& strengths, const std::optional<Input>& targets,
           const std::optional<Input>& dipoles, const nb::object& output, const nb::object& out,
           const nb::object& stream, const nb::kwargs& options) {
            const nb::object sigmas = take_sigmas(options);
            auto made =
                make_options(options, stream, {"sum", {"targets", "dipoles", "output", "out", "stream"}});
            made.outputs = outputs_from(output);
            made.dipoles = dipoles.has_value();
            if (!sigmas.is_none()) {
                if (made.dipoles) throw InvalidArgument("dipoles: kernel 'gauss' has none; leave them out");
                return sum_with_sigmas(points.object, or_none(strengths), or_none(targets), sigmas, made,
                                       {made.outputs, out});
            }
            LockedPlan plan(points.object, or_none(targets), made);
            return plan.execute(or_none(strengths), or_none(dipoles), {made.outputs, out});
        },
        "points"_a, "strengths"_a.none(), nb::kw_only(), "targets"_a.none() = nb::none(),
        "dipoles"_a.none() = nb::none(), "output"_a.none() = nb::none(), "out"_a.none() = nb::none(),
        "stream"_a.none() = nb::none(), "options"_a, nb::sig(signature.c_str()), doc.c_str());
}

} // namespace farfield::python
