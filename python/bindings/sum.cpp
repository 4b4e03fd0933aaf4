// farfield.sum, SumPlan, SumReport and SumResult.
#include "arrays.h"
#include "bindings.h"
#include "names.h"

#include <farfield/error.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>

#include <mutex>

namespace nb = nanobind;
using namespace nb::literals;

namespace farfield::python {
namespace {

struct Result {
    nb::object potential; // arrays, or None where not wanted
    nb::object field;
    SumReport report;
};

SumOptions make_options(Named<Kernel> kernel, double softening, Named<Precision> precision,
                        Named<Method> method, Named<Coincident> coincident, int threads, Named<Isa> isa,
                        Named<Variant> variant, std::string_view device, Named<MultiGpu> multi_gpu,
                        Named<Exchange> exchange, nb::handle stream) {
    return {.kernel = kernel.value("kernel"),
            .method = method.value("method"),
            .softening = softening,
            .precision = precision.value("precision"),
            .coincident = coincident.value("coincident"),
            .threads = threads,
            .isa = isa.value("isa"),
            .variant = variant.value("variant"),
            .device = device_from_name(device),
            .multi_gpu = multi_gpu.value("multi_gpu"),
            .exchange = exchange.value("exchange"),
            .stream = stream_pointer(stream)};
}

// The arrays one execution writes: the caller's where given, new ones otherwise, none where not wanted.
struct Outputs {
    Held<ArrayView> potential;
    Held<ArrayView> field;

    /// `make_array`: the function that makes new arrays of a GPU, or None for NumPy's.
    Outputs(std::int64_t targets, bool want_potential, bool want_field, nb::handle out, nb::handle make_array,
            const Memory& memory) {
        nb::object given_potential = nb::none();
        nb::object given_field = nb::none();
        if (!out.is_none()) {
            if (!nb::isinstance<nb::tuple>(out) || nb::len(out) != 2)
                throw nb::type_error(
                    "out must be a tuple (potential, field) of arrays; None stands for a new array");
            given_potential = out[0];
            given_field = out[1];
        }
        if (!want_potential && !want_field)
            throw InvalidArgument("potential and field are both False: nothing to compute");
        const auto make = [&](nb::handle given, bool wanted, std::initializer_list<std::int64_t> shape,
                              const char* parameter) -> Held<ArrayView> {
            if (!wanted) {
                if (!given.is_none())
                    throw InvalidArgument(std::string(parameter) +
                                          " is given but its output is switched off");
                return {nb::none(), nullptr, {}};
            }
            if (!given.is_none()) return output_view(given, shape, parameter, memory);
            if (make_array.is_none()) return new_array(shape);
            nb::list extents;
            for (auto extent : shape) extents.append(extent);
            return output_view(make_array(nb::tuple(extents)), shape, parameter, memory);
        };
        potential = make(given_potential, want_potential, {targets}, "out[0]");
        field = make(given_field, want_field, {targets, 3}, "out[1]");
    }

    [[nodiscard]] SumOutputs views() const { return {.potential = potential.view, .field = field.view}; }
};

// A plan that several Python threads may use: the GIL is released while it works, so it locks itself.
class LockedPlan {
public:
    LockedPlan(nb::handle points, nb::handle targets, const SumOptions& options)
        : memory_{.gpu = true, .stream = options.stream}, plan_(make_plan(points, targets, options)),
          self_(targets.is_none()), make_array_(array_maker(points, targets)) {
        remember_count(points, targets);
    }

    Result execute(nb::handle strengths, bool want_potential, bool want_field, nb::handle out) {
        const auto input = input_view(strengths, "strengths", memory_);
        const auto& maker = make_array_.is_none() ? array_maker(strengths, nb::none()) : make_array_;
        Outputs outputs(targets_, want_potential, want_field, out, maker, memory_);
        SumReport report;
        {
            nb::gil_scoped_release no_gil;
            const std::lock_guard lock(mutex_);
            plan_.execute(input.view, outputs.views());
            report = plan_.report();
        }
        return {outputs.potential.object, outputs.field.object, report};
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

    SumPlan make_plan(nb::handle points, nb::handle targets, const SumOptions& options) const {
        const auto source_view = input_view(points, "points", memory_);
        if (targets.is_none()) {
            nb::gil_scoped_release no_gil;
            return SumPlan(source_view.view, options);
        }
        const auto target_view = input_view(targets, "targets", memory_);
        nb::gil_scoped_release no_gil;
        return {source_view.view, target_view.view, options};
    }
    void remember_count(nb::handle points, nb::handle targets) {
        targets_ = static_cast<std::int64_t>(nb::len(self_ ? points : targets));
    }

    Memory memory_;
    SumPlan plan_;
    bool self_;
    nb::object make_array_;
    std::int64_t targets_ = 0;
    std::mutex mutex_;
};

constexpr const char* sum_doc =
    R"(One particle sum: φ_i = Σ_j q_j K(x_i − y_j) and the field −∇φ.

Gravity: φ = −Σ m/√(r²+ε²); Coulomb: φ = +Σ q/√(r²+ε²); field = −∇φ for both, so masses attract and like charges
repel. G = 1 and 1/(4πε₀) = 1. A point does not act on itself.

Args:
    points: (N, 3) source positions, float32 or float64, any strides; viewed, not copied at the boundary. This and
        the other arrays may be of NumPy, or lie on the GPU that computes (CuPy, PyTorch, anything with DLPack).
    strengths: (N,) masses or charges.
    targets: (M, 3) positions to evaluate at; None: the points themselves.
    kernel: "gravity" or "coulomb".
    softening: Plummer softening ε ≥ 0, in the length unit of the points.
    precision: "double", "float" or "mixed" (float arithmetic on differences of unrounded positions).
    method: "direct".
    coincident: what two distinct points at one place do without softening: "error" or "skip".
    threads: 0: as OMP_NUM_THREADS says. The result is the same bits for any number.
    isa: instruction set, "auto" for the best of this machine.
    variant: rung of the direct sum, "auto" for the fastest.
    device: "auto", "cpu", "cuda" (the first GPU), "cuda:1", or several as "cuda:0,1". "auto" goes where the arrays
        are, and for arrays of the host takes a GPU where it is faster.
    multi_gpu, exchange: with several GPUs, how they are driven and how they exchange points.
    stream: a stream of CuPy or PyTorch, or the number of a cudaStream_t: the work on the GPU is queued there. None:
        CUDA's default stream for arrays on a GPU. A call returns when its results are written.
    potential, field: which outputs to compute.
    out: (potential, field), arrays of shape (M,) and (M, 3) in float32 or float64 to write into; None in either
        place makes a new float64 array, on the GPU and of the library of the points if they are there.

Returns:
    SumResult with .potential (M,), .field (M, 3) and .report.

Raises:
    InvalidArgument (a ValueError): wrong shape, a value that is not finite, an unknown name, coincident points.
    BackendUnavailable (a RuntimeError): a GPU that this build or machine does not have.
    DeviceError (a RuntimeError): a GPU failed, such as for lack of memory.
    TypeError: something that is no array of float32 or float64.)";

constexpr const char* plan_doc =
    R"(A sum prepared once and executed many times, for new strengths or moved points.

Takes the options of farfield.sum. The points are copied in; `update` replaces them.)";

constexpr const char* execute_doc =
    R"(Computes potential (M,) and field (M, 3) for strengths (N,); see farfield.sum for `out`.

The GIL is released; calls from several threads on one plan take turns.)";

// The options shared by sum and SumPlan, with the defaults of SumOptions.
const SumOptions defaults{};
#define FF_OPTION_ARGUMENTS                                                                                  \
    nb::arg("kernel") = py_name(defaults.kernel), nb::arg("softening") = defaults.softening,                 \
    nb::arg("precision") = py_name(defaults.precision), nb::arg("method") = py_name(defaults.method),        \
    nb::arg("coincident") = py_name(defaults.coincident), nb::arg("threads") = defaults.threads,             \
    nb::arg("isa") = py_name(defaults.isa), nb::arg("variant") = py_name(defaults.variant),                  \
    nb::arg("device") = "auto", nb::arg("multi_gpu") = py_name(defaults.multi_gpu),                          \
    nb::arg("exchange") = py_name(defaults.exchange), nb::arg("stream").none() = nb::none()

// Their types, and passing them on.
#define FF_OPTION_PARAMETERS                                                                                 \
    Named<Kernel> kernel, double softening, Named<Precision> precision, Named<Method> method,                \
        Named<Coincident> coincident, int threads, Named<Isa> isa, Named<Variant> variant,                   \
        std::string_view device, Named<MultiGpu> multi_gpu, Named<Exchange> exchange, nb::object stream
#define FF_OPTIONS                                                                                           \
    make_options(kernel, softening, precision, method, coincident, threads, isa, variant, device, multi_gpu, \
                 exchange, stream)

void bind_report(nb::module_& module) {
    auto cls = nb::class_<SumReport>(module, "SumReport", "What one execution did and how long it took.");
    cls.def_ro("sources", &SumReport::sources, "Number of sources N.")
        .def_ro("targets", &SumReport::targets, "Number of targets M.")
        .def_ro("pairs", &SumReport::pairs, "Directed pairs: M·N, or N·(N−1) where targets are the sources.")
        .def_ro("prepare_seconds", &SumReport::prepare_seconds)
        .def_ro("compute_seconds", &SumReport::compute_seconds, "The pair loop.")
        .def_ro("finish_seconds", &SumReport::finish_seconds, "Checks and copies into the result.")
        .def_ro("pairs_per_second", &SumReport::pairs_per_second)
        .def_prop_ro(
            "isa", [](const SumReport& r) { return py_name(r.isa); }, "Instruction set really used.")
        .def_prop_ro(
            "variant", [](const SumReport& r) { return py_name(r.variant); }, "Variant really used.")
        .def_prop_ro("precision", [](const SumReport& r) { return py_name(r.precision); })
        .def_ro("threads", &SumReport::threads, "Of the CPU; 0 on a GPU.")
        .def_prop_ro(
            "device", [](const SumReport& r) { return name_of(r.device); },
            "Where it was computed: \"cpu\", \"cuda:0\" or \"cuda:0,1\".")
        .def_ro("coincident_pairs_skipped", &SumReport::coincident_pairs_skipped)
        .def_ro("cost_table", &SumReport::cost_table,
                "Hash of the cost table that device=\"auto\" followed; empty if the device was named.");
    make_record(cls, {"sources", "targets", "pairs", "prepare_seconds", "compute_seconds", "finish_seconds",
                      "pairs_per_second", "isa", "variant", "precision", "threads", "device",
                      "coincident_pairs_skipped", "cost_table"});
}

void bind_result(nb::module_& module) {
    auto cls = nb::class_<Result>(module, "SumResult", "Potential, field and report of one sum.");
    cls.def_prop_ro(
           "potential", [](const Result& r) { return r.potential; },
           nb::sig("def potential(self) -> numpy.typing.NDArray[numpy.float64] | None"),
           "(M,) potentials, or None where not asked for.")
        .def_prop_ro(
            "field", [](const Result& r) { return r.field; },
            nb::sig("def field(self) -> numpy.typing.NDArray[numpy.float64] | None"),
            "(M, 3) field −∇φ, or None where not asked for.")
        .def_ro("report", &Result::report, "What was done and how long it took.");
    make_record(cls, {"potential", "field", "report"});
}

void bind_plan(nb::module_& module) {
    nb::class_<LockedPlan>(module, "SumPlan", plan_doc)
        .def(
            "__init__",
            [](LockedPlan* self, Input points, std::optional<Input> targets, FF_OPTION_PARAMETERS) {
                new (self) LockedPlan(points.object, targets ? targets->object : nb::none(), FF_OPTIONS);
            },
            "points"_a, "targets"_a.none() = nb::none(), nb::kw_only(), FF_OPTION_ARGUMENTS)
        .def(
            "execute",
            [](LockedPlan& self, Input strengths, bool potential, bool field, std::optional<OutputPair> out) {
                return self.execute(strengths.object, potential, field, out ? out->object : nb::none());
            },
            "strengths"_a, nb::kw_only(), "potential"_a = true, "field"_a = true, "out"_a.none() = nb::none(),
            execute_doc)
        .def(
            "update",
            [](LockedPlan& self, Input points, std::optional<Input> targets) {
                self.update(points.object, targets ? targets->object : nb::none());
            },
            "points"_a, "targets"_a.none() = nb::none(), "Moves the points (and targets); the counts stay.")
        .def_prop_ro("report", &LockedPlan::report, "The SumReport of the last execution.");
}

} // namespace

void bind_sum(nb::module_& module) {
    bind_report(module);
    bind_result(module);
    bind_plan(module);
    module.def(
        "sum",
        [](Input points, Input strengths, std::optional<Input> targets, FF_OPTION_PARAMETERS, bool potential,
           bool field, std::optional<OutputPair> out) {
            LockedPlan plan(points.object, targets ? targets->object : nb::none(), FF_OPTIONS);
            return plan.execute(strengths.object, potential, field, out ? out->object : nb::none());
        },
        "points"_a, "strengths"_a, nb::kw_only(), "targets"_a.none() = nb::none(), FF_OPTION_ARGUMENTS,
        "potential"_a = true, "field"_a = true, "out"_a.none() = nb::none(), sum_doc);
}

} // namespace farfield::python
