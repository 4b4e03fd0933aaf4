// farfield.density, DensityReport and DensityResult.
#include "arrays.h"
#include "bindings.h"
#include "interrupt.h"
#include "pickles.h"
#include "table_options.h"

#include "base/text.h"

#include <farfield/density.h>
#include <farfield/error.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace farfield::python {
namespace {

struct DensityObjects {
    nb::object density, gradient;
    DensityReport report;
};

constexpr const char* density_doc =
    R"(The density of points by Gaussians (kernel density estimate) in 1 to 6 dimensions, as a fast sum.

p(x) = 1/W Σ w_i exp(−(x − x_i)ᵀ H⁻¹ (x − x_i)/2)/((2π)^(d/2) √det H), W = Σ w. By Scott's or Silverman's rule H = f² C,
with C, f and the effective number of points as SciPy's gaussian_kde has them; its `dataset` has points as columns,
these are rows. With a width σ, H = σ². Ctrl-C stops a long sum on the CPU.

Args:
    points: (N, d), or (N,) on a line. Arrays are read as in farfield.sum. Those on a GPU (CuPy, PyTorch, anything with
        DLPack) are copied to the host, where they are whitened; the sum runs on the GPU, and results are arrays of the same
        library there.
    weights: (N,) numbers ≥ 0; None: 1 each.
    targets: (M, d) where the density is wanted; None: at the points.
    bandwidth: "scott", "silverman", the width σ of the Gaussians in the unit of the points, or (N,) widths, one a point,
        of at most 64 different ones.
    gradient: also compute ∇p.
    out: a dict of arrays of the host to write into, such as {"density": array}.
    stream: as in farfield.sum.
    self_term: "exclude" gives at each point the density of all others (leave-one-out), divided by W − w_i.
    tolerance: bounds the largest error of the density over the largest density, and of gradients over the longest; these
        are measured in widths of the Gaussians along their main axes.

The other options are those of farfield.sum:)";

constexpr const char* density_doc_end =
    R"(

Returns:
    DensityResult with .density (M,), .gradient (M, d) or None, and .report.

Raises:
    InvalidArgument (a ValueError): wrong shape, a number that is not finite, a weight below 0, no weight above 0, points
        that a rule has no widths for because they are too few or lie on a line, a plane or another flat.
    ToleranceNotReached, BackendUnavailable, DeviceError, TypeError: as in farfield.sum.)";

/// Names of options that densities settle for themselves.
const std::vector<std::string_view>& settled() {
    static const std::vector<std::string_view> names{"kernel", "sigma", "self_term", "tolerance"};
    return names;
}

// Points on a line may be one axis.
ConstArrayView as_rows(ConstArrayView view) {
    if (view.ndim != 1) return view;
    view.ndim = 2;
    view.shape[1] = 1;
    view.strides[1] = 1;
    return view;
}

void set_bandwidth(DensityOptions& options, nb::handle bandwidth) {
    if (nb::isinstance<nb::str>(bandwidth)) {
        const auto name = nb::cast<std::string>(bandwidth);
        const std::vector<std::string_view> rules{"scott", "silverman"};
        if (std::find(rules.begin(), rules.end(), name) == rules.end())
            throw InvalidArgument("bandwidth = '" + name + "' is not known" + suggestion(name, rules) +
                                  "; a number is a width");
        options.bandwidth = *from_name<BandwidthRule>(name);
        return;
    }
    if (holds_several(bandwidth)) { // a width for each point
        options.bandwidth = BandwidthRule::sigma;
        return;
    }
    const double sigma = nb::isinstance<nb::bool_>(bandwidth) ? -1.0 : PyFloat_AsDouble(bandwidth.ptr());
    if (PyErr_Occurred() != nullptr || nb::isinstance<nb::bool_>(bandwidth)) {
        PyErr_Clear();
        throw nb::type_error(
            "bandwidth must be \"scott\", \"silverman\", a width > 0, or a width for each point");
    }
    if (!(sigma > 0.0) || !std::isfinite(sigma))
        throw InvalidArgument("bandwidth = " + number_text(sigma) + ": a width must be finite and > 0");
    options.bandwidth = BandwidthRule::sigma;
    options.sum.sigma = sigma;
}

/// Where results are written: the caller's arrays, or new ones.
struct Places {
    Held<ArrayView> density, gradient;

    Places(nb::handle out, const Shape& values, const Shape& slopes, bool with_gradient) {
        gradient.object = nb::none();
        nb::dict given;
        if (!out.is_none()) {
            if (!nb::isinstance<nb::dict>(out))
                throw nb::type_error("out must be a dict such as {\"density\": array, \"gradient\": array}");
            given = nb::borrow<nb::dict>(out);
        }
        for (const auto& [key, array] : given) {
            const auto name = nb::cast<std::string>(nb::str(key));
            const std::vector<std::string_view> names{"density", "gradient"};
            if (std::find(names.begin(), names.end(), name) == names.end())
                throw InvalidArgument("out has the key '" + name + "'" + suggestion(name, names));
            if (name == "gradient" && !with_gradient && !array.is_none())
                throw InvalidArgument("out['gradient'] is given, but gradient is False");
        }
        const auto place = [&](const char* name, const Shape& shape) {
            if (!given.contains(name) || given[name].is_none()) return new_array(shape);
            return output_view(given[name], shape, ("out['" + std::string(name) + "']").c_str());
        };
        density = place("density", values);
        if (with_gradient) gradient = place("gradient", slopes);
    }
};

// Results of points on a GPU go there.
nb::object like_points(const nb::object& points, const nb::object& array) {
    if (array.is_none() || !is_on_gpu(points)) return array;
    return nb::module_::import_("farfield._device_arrays").attr("from_host")(points, array);
}

DensityObjects density_of(const nb::object& points, const nb::object& weights, const nb::object& targets,
                          const nb::object& bandwidth, const DensityOptions& options, bool with_gradient,
                          const nb::object& out) {
    const Memory memory{.gpu = true, .stream = options.sum.stream};
    const auto at = [&](const nb::object& array, const char* name) {
        return array.is_none() ? Held<ConstArrayView>{} : input_view(array, name, memory);
    };
    const auto point_input = at(points, "points");
    const auto weight_input = at(weights, "weights");
    const auto target_input = at(targets, "targets");
    const auto sigma_input = at(holds_several(bandwidth) ? bandwidth : nb::none(), "bandwidth");
    const DensityPoints given{.points = as_rows(point_input.view),
                              .weights = weight_input.view,
                              .targets =
                                  target_input.view.ndim == 0 ? ConstArrayView{} : as_rows(target_input.view),
                              .sigmas = sigma_input.view};
    const auto m = targets.is_none() ? given.points.shape[0] : given.targets.shape[0];
    const bool is_line = point_input.view.ndim == 1;
    const Places places(out, {m}, is_line ? Shape{m} : Shape{m, given.points.shape[1]}, with_gradient);
    Interrupt interrupt;
    DensityReport report;
    interruptible(interrupt, [&] {
        const nb::gil_scoped_release no_gil;
        report = density(given, options, {.density = places.density.view, .gradient = places.gradient.view},
                         {.progress = {}, .stop_requested = [&] { return interrupt.poll(); }});
    });
    interrupt.rethrow(); // Ctrl-C that came too late to stop anything
    return {like_points(points, places.density.object), like_points(points, places.gradient.object), report};
}

nb::object cholesky_of(const DensityReport& report) {
    if (report.cholesky.empty()) return nb::none();
    const auto d = static_cast<std::int64_t>(report.widths.size());
    auto array = new_array({d, d});
    std::copy(report.cholesky.begin(), report.cholesky.end(), static_cast<double*>(array.view.data));
    return array.object;
}

void bind_density_report(nb::module_& module) {
    auto cls = nb::class_<DensityReport>(module, "DensityReport",
                                         "Where the widths of a density came from, and how its sum went.");
    cls.def_prop_ro(
           "bandwidth",
           [](const DensityReport& r) {
               const auto name = name_of(r.bandwidth);
               return nb::str(name.data(), name.size());
           },
           nb::sig("def bandwidth(self) -> str"), "\"scott\", \"silverman\", or \"sigma\" for given widths.")
        .def_ro("factor", &DensityReport::factor, "f of the rule; 1 for given widths.")
        .def_ro("n_eff", &DensityReport::effective, "(Σ w)²/Σ w².")
        .def_ro("weight", &DensityReport::weight, "W = Σ w.")
        .def_prop_ro("cholesky", cholesky_of,
                     nb::sig("def cholesky(self) -> numpy.typing.NDArray[numpy.float64] | None"),
                     "(d, d) lower triangle L of C = L Lᵀ; None for given widths.")
        .def_ro("widths", &DensityReport::widths,
                "Of a Gaussian along each axis; empty if each point has its own.")
        .def_ro("sum", &DensityReport::sum,
                "The SumReport of the sum of Gaussians; its errors are those of the density.");
    make_record(cls, {"bandwidth", "factor", "n_eff", "weight", "cholesky", "widths", "sum"});
    make_picklable(cls, &DensityReport::bandwidth, &DensityReport::factor, &DensityReport::effective,
                   &DensityReport::weight, &DensityReport::cholesky, &DensityReport::widths,
                   &DensityReport::sum);
}

void bind_density_result(nb::module_& module) {
    auto cls =
        nb::class_<DensityObjects>(module, "DensityResult", "A density at targets, and how it was computed.");
    cls.def_ro("density", &DensityObjects::density,
               nb::sig("def density(self) -> numpy.typing.NDArray[numpy.float64]"), "(M,) densities.")
        .def_ro("gradient", &DensityObjects::gradient,
                nb::sig("def gradient(self) -> numpy.typing.NDArray[numpy.float64] | None"),
                "(M, d) gradients +∇p, (M,) for points on a line given as (N,), or None.")
        .def_ro("report", &DensityObjects::report, "The DensityReport.");
    make_record(cls, {"density", "gradient", "report"});
    make_picklable(cls, &DensityObjects::density, &DensityObjects::gradient, &DensityObjects::report);
}

} // namespace

void bind_density(nb::module_& module) {
    bind_density_report(module);
    bind_density_result(module);
    const auto signature =
        "def density(points: numpy.typing.ArrayLike, weights: numpy.typing.ArrayLike | None = None, *, "
        "targets: numpy.typing.ArrayLike | None = None, "
        "bandwidth: typing.Literal['scott', 'silverman'] | float | numpy.typing.ArrayLike = 'scott', "
        "gradient: bool = False, "
        "out: collections.abc.Mapping[str, numpy.typing.NDArray[numpy.floating] | None] | None = None, "
        "stream: object | None = None, self_term: _SelfTerm = 'include', tolerance: float = 0.0" +
        option_parameters<SumOptions>(settled()) + ") -> DensityResult";
    const auto doc = density_doc + option_docs<SumOptions>(settled()) + density_doc_end;
    module.def(
        "density",
        [](const Input& points, const std::optional<Input>& weights, const std::optional<Input>& targets,
           const nb::object& bandwidth, bool gradient, const nb::object& out, const nb::object& stream,
           const nb::kwargs& keywords) {
            DensityOptions options;
            options.sum = options_from<SumOptions>(
                keywords, {"density",
                           {"weights", "targets", "bandwidth", "gradient", "out", "stream"},
                           {"kernel", "sigma"}});
            options.sum.kernel = Kernel::gauss;
            options.sum.stream = stream_pointer(stream);
            set_bandwidth(options, bandwidth);
            const auto object = [](const std::optional<Input>& input) {
                return input ? input->object : nb::none();
            };
            return density_of(points.object, object(weights), object(targets), bandwidth, options, gradient,
                              out);
        },
        "points"_a, "weights"_a.none() = nb::none(), nb::kw_only(), "targets"_a.none() = nb::none(),
        "bandwidth"_a = "scott", "gradient"_a = false, "out"_a.none() = nb::none(),
        "stream"_a.none() = nb::none(), "options"_a, nb::sig(signature.c_str()), doc.c_str());
}

} // namespace farfield::python
