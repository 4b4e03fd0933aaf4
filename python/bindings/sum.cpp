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
                        Named<Variant> variant) {
    return {.kernel = kernel.value("kernel"),
            .method = method.value("method"),
            .softening = softening,
            .precision = precision.value("precision"),
            .coincident = coincident.value("coincident"),
            .threads = threads,
            .isa = isa.value("isa"),
            .variant = variant.value("variant")};
}

// The arrays one execution writes: the caller's where given, new ones otherwise, none where not wanted.
struct Outputs {
    Held<ArrayView> potential;
    Held<ArrayView> field;

    Outputs(std::int64_t targets, bool want_potential, bool want_field, nb::handle out) {
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
        potential = make(given_potential, want_potential, {targets}, "out[0]");
        field = make(given_field, want_field, {targets, 3}, "out[1]");
    }

    [[nodiscard]] SumOutputs views() const { return {.potential = potential.view, .field = field.view}; }

private:
    static Held<ArrayView> make(nb::handle given, bool wanted, std::initializer_list<std::int64_t> shape,
                                const char* parameter) {
        if (!wanted) {
            if (!given.is_none())
                throw InvalidArgument(std::string(parameter) + " is given but its output is switched off");
            return {nb::none(), nullptr, {}};
        }
        return given.is_none() ? new_array(shape) : output_view(given, shape, parameter);
    }
};

// A plan that several Python threads may use: the GIL is released while it works, so it locks itself.
class LockedPlan {
public:
    LockedPlan(nb::handle points, nb::handle targets, const SumOptions& options)
        : plan_(make_plan(points, targets, options)), self_(targets.is_none()) {
        remember_count(points, targets);
    }

    Result execute(nb::handle strengths, bool want_potential, bool want_field, nb::handle out) {
        const auto input = input_view(strengths, "strengths");
        Outputs outputs(targets_, want_potential, want_field, out);
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
        const auto source_view = input_view(points, "points");
        const auto target_view = self_ ? Held<ConstArrayView>{} : input_view(targets, "targets");
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
    static SumPlan make_plan(nb::handle points, nb::handle targets, const SumOptions& options) {
        const auto source_view = input_view(points, "points");
        if (targets.is_none()) {
            nb::gil_scoped_release no_gil;
            return SumPlan(source_view.view, options);
        }
        const auto target_view = input_view(targets, "targets");
        nb::gil_scoped_release no_gil;
        return {source_view.view, target_view.view, options};
    }
    void remember_count(nb::handle points, nb::handle targets) {
        targets_ = static_cast<std::int64_t>(nb::len(self_ ? points : targets));
    }

    SumPlan plan_;
    bool self_;
    std::int64_t targets_ = 0;
    std::mutex mutex_;
};

constexpr const char* sum_doc =
    R"(One particle sum: φ_i = Σ_j q_j K(x_i − y_j) and the field −∇φ.

Gravity: φ = −Σ m/√(r²+ε²); Coulomb: φ = +Σ q/√(r²+ε²); field = −∇φ for both, so masses attract and like charges
repel. G = 1 and 1/(4πε₀) = 1. A point does not act on itself.

Args:
    points: (N, 3) source positions, float32 or float64, any strides; viewed, not copied at the boundary.
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
    potential, field: which outputs to compute.
    out: (potential, field), arrays of shape (M,) and (M, 3) in float32 or float64 to write into; None in either
        place makes a new float64 array.

Returns:
    SumResult with .potential (M,), .field (M, 3) and .report.

Raises:
    InvalidArgument (a ValueError): wrong shape, a value that is not finite, an unknown name, coincident points.
    TypeError: something that is no array of float32 or float64 on the host.)";

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
    nb::arg("isa") = py_name(defaults.isa), nb::arg("variant") = py_name(defaults.variant)

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
        .def_ro("threads", &SumReport::threads)
        .def_ro("coincident_pairs_skipped", &SumReport::coincident_pairs_skipped);
    make_record(cls,
                {"sources", "targets", "pairs", "prepare_seconds", "compute_seconds", "finish_seconds",
                 "pairs_per_second", "isa", "variant", "precision", "threads", "coincident_pairs_skipped"});
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
    using Kernel_ = Named<Kernel>;
    nb::class_<LockedPlan>(module, "SumPlan", plan_doc)
        .def(
            "__init__",
            [](LockedPlan* self, Input points, std::optional<Input> targets, Kernel_ kernel, double softening,
               Named<Precision> precision, Named<Method> method, Named<Coincident> coincident, int threads,
               Named<Isa> isa, Named<Variant> variant) {
                new (self) LockedPlan(
                    points.object, targets ? targets->object : nb::none(),
                    make_options(kernel, softening, precision, method, coincident, threads, isa, variant));
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
        [](Input points, Input strengths, std::optional<Input> targets, Named<Kernel> kernel,
           double softening, Named<Precision> precision, Named<Method> method, Named<Coincident> coincident,
           int threads, Named<Isa> isa, Named<Variant> variant, bool potential, bool field,
           std::optional<OutputPair> out) {
            LockedPlan plan(
                points.object, targets ? targets->object : nb::none(),
                make_options(kernel, softening, precision, method, coincident, threads, isa, variant));
            return plan.execute(strengths.object, potential, field, out ? out->object : nb::none());
        },
        "points"_a, "strengths"_a, nb::kw_only(), "targets"_a.none() = nb::none(), FF_OPTION_ARGUMENTS,
        "potential"_a = true, "field"_a = true, "out"_a.none() = nb::none(), sum_doc);
}

} // namespace farfield::python
