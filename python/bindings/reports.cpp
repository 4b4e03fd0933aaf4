// farfield.SumReport and what is in it.
#include "bindings.h"
#include "pickles.h"

#include <farfield/sum.h>

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace farfield::python {
namespace {

nb::str as_str(std::string_view text) { return nb::str(text.data(), text.size()); }

void bind_direct(nb::module_& module) {
    auto cls = nb::class_<DirectReport>(module, "DirectReport", "What only sums of every pair have.");
    cls.def_ro("pairs", &DirectReport::pairs,
               "Directed pairs: M·N, or N·(N−1) where targets are the sources.")
        .def_ro("pairs_per_second", &DirectReport::pairs_per_second)
        .def_prop_ro(
            "variant", [](const DirectReport& r) { return as_str(name_of(r.variant)); },
            "Variant really used.")
        .def_ro("coincident_pairs_skipped", &DirectReport::coincident_pairs_skipped);
    make_record(cls, {"pairs", "pairs_per_second", "variant", "coincident_pairs_skipped"});
    make_picklable(cls, &DirectReport::pairs, &DirectReport::pairs_per_second, &DirectReport::variant,
                   &DirectReport::coincident_pairs_skipped);
}

void bind_fmm(nb::module_& module) {
    auto cls = nb::class_<FmmReport>(module, "FmmReport", "What only the fast multipole method has.");
    cls.def_ro("order", &FmmReport::order, "Order p really used; 0 where the method is another.")
        .def_prop_ro(
            "m2l", [](const FmmReport& r) { return as_str(name_of(r.m2l)); }, "M2L really used.")
        .def_ro("separation", &FmmReport::separation, "Cells up to this distance act point by point.")
        .def_ro("coarse", &FmmReport::coarse, "Cells an axis of the tree's level 0.")
        .def_ro("levels", &FmmReport::levels, "Of the tree.")
        .def_ro("cells", &FmmReport::cells, "Of all levels.")
        .def_ro("leaves", &FmmReport::leaves)
        .def_ro("near_pairs", &FmmReport::near_pairs, "Directed pairs that were computed one by one.")
        .def_ro("multiply_adds", &FmmReport::multiply_adds,
                "Of M2L, with padding, and about those of P2M and L2P.")
        .def_ro("tree_seconds", &FmmReport::tree_seconds,
                "Of prepare_seconds, on a GPU: keys, sorting, cells and lists.");
    make_record(cls, {"order", "m2l", "separation", "coarse", "levels", "cells", "leaves", "near_pairs",
                      "multiply_adds", "tree_seconds"});
    make_picklable(cls, &FmmReport::order, &FmmReport::m2l, &FmmReport::separation, &FmmReport::coarse,
                   &FmmReport::levels, &FmmReport::cells, &FmmReport::leaves, &FmmReport::near_pairs,
                   &FmmReport::multiply_adds, &FmmReport::tree_seconds);
}

void bind_treecode(nb::module_& module) {
    auto cls = nb::class_<TreecodeReport>(module, "TreecodeReport", "What only the tree code has.");
    cls.def_ro("order", &TreecodeReport::order, "Order p really used; 0 where the method is another.")
        .def_ro("theta", &TreecodeReport::theta,
                "Size over distance that cells had to be below; 0: only the estimate decided.")
        .def_ro("accuracy", &TreecodeReport::accuracy,
                "Estimate of a cell's error over all that acts on a target; 0: only theta decided.")
        .def_ro("levels", &TreecodeReport::levels, "Of the tree.")
        .def_ro("cells", &TreecodeReport::cells, "Of all levels.")
        .def_ro("groups", &TreecodeReport::groups, "Groups of targets that share a walk.")
        .def_ro("near_pairs", &TreecodeReport::near_pairs, "Directed pairs that were computed one by one.")
        .def_ro("far_pairs", &TreecodeReport::far_pairs, "Pairs of a cell and a target.")
        .def_ro("tree_seconds", &TreecodeReport::tree_seconds, "Of prepare_seconds.");
    make_record(cls, {"order", "theta", "accuracy", "levels", "cells", "groups", "near_pairs", "far_pairs",
                      "tree_seconds"});
    make_picklable(cls, &TreecodeReport::order, &TreecodeReport::theta, &TreecodeReport::accuracy,
                   &TreecodeReport::levels, &TreecodeReport::cells, &TreecodeReport::groups,
                   &TreecodeReport::near_pairs, &TreecodeReport::far_pairs, &TreecodeReport::tree_seconds);
}

void bind_lattice(nb::module_& module) {
    auto cls = nb::class_<LatticeReport>(module, "LatticeReport", "What only sums over periodic boxes have.");
    cls.def_ro("splitting", &LatticeReport::splitting, "α: near images count with erfc(αr)/r.")
        .def_ro("cutoff", &LatticeReport::cutoff, "Of near images, in the length unit of the points.")
        .def_ro("wave_cutoff", &LatticeReport::wave_cutoff, "Of wave numbers; method \"ewald\".")
        .def_ro("near_pairs", &LatticeReport::near_pairs, "Targets times the images that were looked at.")
        .def_ro("waves", &LatticeReport::waves, "k and −k count once; method \"ewald\".")
        .def_ro("mesh", &LatticeReport::mesh, "Points along x, y and z; method \"pme\".")
        .def_ro("order", &LatticeReport::order, "Of the splines between points and mesh; method \"pme\".")
        .def_ro("excess_strength", &LatticeReport::excess_strength,
                "Σ q, which a uniform background makes up for.")
        .def_ro("rim_images", &LatticeReport::rim_images, "Points in a rim around the box, beside its own.")
        .def_ro("cells", &LatticeReport::cells, "Of the box, each with an expansion for far images.");
    make_record(cls, {"splitting", "cutoff", "wave_cutoff", "near_pairs", "waves", "mesh", "order",
                      "excess_strength", "rim_images", "cells"});
    make_picklable(cls, &LatticeReport::splitting, &LatticeReport::cutoff, &LatticeReport::wave_cutoff,
                   &LatticeReport::near_pairs, &LatticeReport::waves, &LatticeReport::mesh,
                   &LatticeReport::order, &LatticeReport::excess_strength, &LatticeReport::rim_images,
                   &LatticeReport::cells);
}

void bind_fgt(nb::module_& module) {
    auto cls = nb::class_<FgtReport>(module, "FgtReport", "What only the fast Gauss transform has.");
    cls.def_prop_ro(
           "strategy", [](const FgtReport& r) { return as_str(name_of(r.strategy)); },
           "Strategy really used; \"auto\" where the method is another.")
        .def_ro("width", &FgtReport::width, "Grid points that a point touches along an axis; 0: no grid.")
        .def_ro("grid_numbers", &FgtReport::grid_numbers, "Of the grid.")
        .def_ro("cutoff", &FgtReport::cutoff, "Of pairs and boxes: farther ones are left out, in σ.")
        .def_ro("cells", &FgtReport::cells, "Of pairs: those that hold targets.")
        .def_ro("near_pairs", &FgtReport::near_pairs, "Pairs of points that were computed one by one.")
        .def_ro("clusters", &FgtReport::clusters, "Of sources.")
        .def_ro("order", &FgtReport::order, "Of expansions of clusters or boxes; 0 for none.")
        .def_ro("expansion_terms", &FgtReport::expansion_terms, "Of clusters, over all targets.")
        .def_ro("boxes", &FgtReport::boxes, "That hold sources.")
        .def_ro("side", &FgtReport::side, "Of boxes, the longest, in σ.")
        .def_ro("pair_boxes", &FgtReport::pair_boxes, "Pairs of boxes that act point by point.")
        .def_ro("hermite_boxes", &FgtReport::hermite_boxes,
                "Pairs of boxes that act by the Hermite expansion of the sources.")
        .def_ro("taylor_boxes", &FgtReport::taylor_boxes,
                "Pairs of boxes that act by the Taylor expansion about the targets.")
        .def_ro("translated_boxes", &FgtReport::translated_boxes,
                "Pairs of boxes that act by the first expansion translated to the second.");
    make_record(cls, {"strategy", "width", "grid_numbers", "cutoff", "cells", "near_pairs", "clusters",
                      "order", "expansion_terms", "boxes", "side", "pair_boxes", "hermite_boxes",
                      "taylor_boxes", "translated_boxes"});
    make_picklable(cls, &FgtReport::strategy, &FgtReport::width, &FgtReport::grid_numbers, &FgtReport::cutoff,
                   &FgtReport::cells, &FgtReport::near_pairs, &FgtReport::clusters, &FgtReport::order,
                   &FgtReport::expansion_terms, &FgtReport::boxes, &FgtReport::side, &FgtReport::pair_boxes,
                   &FgtReport::hermite_boxes, &FgtReport::taylor_boxes, &FgtReport::translated_boxes);
}

void bind_error(nb::module_& module) {
    auto cls = nb::class_<OutputError>(
        module, "OutputError",
        "How far one output is from the exact sums of the same inputs, at sampled targets.");
    cls.def_prop_ro(
           "output", [](const OutputError& e) { return as_str(name_of(e.output)); },
           nb::sig("def output(self) -> _Output"))
        .def_ro("relative", &OutputError::relative, "What `tolerance` bounds.")
        .def_ro("largest", &OutputError::largest,
                "`relative` is the largest difference over the largest output, not the L2 norm.")
        .def_ro("median", &OutputError::median, "Of the samples, like percent_99 and maximum.")
        .def_ro("percent_99", &OutputError::percent_99)
        .def_ro("maximum", &OutputError::maximum)
        .def_ro("samples", &OutputError::samples, "Targets that were compared.");
    make_record(cls, {"output", "relative", "largest", "median", "percent_99", "maximum", "samples"});
    make_picklable(cls, &OutputError::output, &OutputError::relative, &OutputError::largest,
                   &OutputError::median, &OutputError::percent_99, &OutputError::maximum,
                   &OutputError::samples);
}

void bind_bound(nb::module_& module) {
    auto cls = nb::class_<OutputBound>(
        module, "OutputBound", "How far one output is from the exact sums of the same inputs at most.");
    cls.def_prop_ro(
           "output", [](const OutputBound& b) { return as_str(name_of(b.output)); },
           nb::sig("def output(self) -> _Output"))
        .def_ro("relative", &OutputBound::relative,
                "Bound of the error's L2 norm over all targets, relative to that of the exact output.");
    make_record(cls, {"output", "relative"});
    make_picklable(cls, &OutputBound::output, &OutputBound::relative);
}

nb::dict seconds_of_passes(const SumReport& report) {
    nb::dict seconds;
    for (const auto& pass : report.passes) seconds[nb::str(pass.name.c_str())] = pass.seconds;
    return seconds;
}

} // namespace

void bind_reports(nb::module_& module) {
    bind_direct(module);
    bind_fmm(module);
    bind_fgt(module);
    bind_treecode(module);
    bind_lattice(module);
    bind_error(module);
    bind_bound(module);
    auto cls = nb::class_<SumReport>(module, "SumReport", "What one execution did and how long it took.");
    cls.def_ro("sources", &SumReport::sources, "Number of sources N.")
        .def_ro("targets", &SumReport::targets, "Number of targets M.")
        .def_prop_ro(
            "method", [](const SumReport& r) { return as_str(name_of(r.method)); }, "Method really used.")
        .def_ro("reason", &SumReport::reason, "Why this method.")
        .def_ro("prepare_seconds", &SumReport::prepare_seconds)
        .def_ro("compute_seconds", &SumReport::compute_seconds, "All passes.")
        .def_ro("finish_seconds", &SumReport::finish_seconds, "Checks and copies into the result.")
        .def_ro("verify_seconds", &SumReport::verify_seconds,
                "Exact sums at sampled targets, and bounds; 0 without a tolerance.")
        .def_prop_ro("passes", seconds_of_passes, nb::sig("def passes(self) -> dict[str, float]"),
                     "Seconds of each pass of compute_seconds.")
        .def_ro("errors", &SumReport::errors,
                "An OutputError for each output, of the last execution that was compared; empty before.")
        .def_ro("bounds", &SumReport::bounds,
                "An OutputBound for each output of a sum with guaranteed=True; empty otherwise.")
        .def_ro("predicted_bytes", &SumReport::predicted_bytes, "Of memory, beside the caller's arrays.")
        .def_prop_ro(
            "isa", [](const SumReport& r) { return as_str(name_of(r.isa)); }, "Instruction set really used.")
        .def_prop_ro("precision", [](const SumReport& r) { return as_str(name_of(r.precision)); })
        .def_ro("threads", &SumReport::threads, "Of the CPU; 0 on a GPU.")
        .def_prop_ro(
            "device", [](const SumReport& r) { return name_of(r.device); },
            "Where it was computed: \"cpu\", \"cuda:0\" or \"cuda:0,1\".")
        .def_ro("cost_table", &SumReport::cost_table,
                "Hash of the cost table that device=\"auto\" followed; empty if the device was named.")
        .def_ro("energy", &SumReport::energy,
                "½ Σ q φ (with dipoles ½ Σ (q φ − p·E)) of a sum at its own points whose outputs include φ "
                "(and E);\n"
                "None otherwise, on a GPU, and for several vectors of strengths.")
        .def_ro("direct", &SumReport::direct, "Of the methods that compute every pair.")
        .def_ro("fmm", &SumReport::fmm, "Of method \"fmm\".")
        .def_ro("fgt", &SumReport::fgt, "Of method \"fgt\".")
        .def_ro("treecode", &SumReport::treecode, "Of method \"treecode\".")
        .def_ro("lattice", &SumReport::lattice, "Of periodic boxes.");
    make_record(cls, {"sources",
                      "targets",
                      "method",
                      "reason",
                      "prepare_seconds",
                      "compute_seconds",
                      "finish_seconds",
                      "verify_seconds",
                      "passes",
                      "errors",
                      "bounds",
                      "predicted_bytes",
                      "isa",
                      "precision",
                      "threads",
                      "device",
                      "cost_table",
                      "energy",
                      "direct",
                      "fmm",
                      "fgt",
                      "treecode",
                      "lattice"});
    make_picklable(cls, &SumReport::sources, &SumReport::targets, &SumReport::method, &SumReport::reason,
                   &SumReport::prepare_seconds, &SumReport::compute_seconds, &SumReport::finish_seconds,
                   &SumReport::verify_seconds, &SumReport::passes, &SumReport::errors,
                   &SumReport::predicted_bytes, &SumReport::isa, &SumReport::precision, &SumReport::threads,
                   &SumReport::device, &SumReport::energy, &SumReport::direct, &SumReport::fmm,
                   &SumReport::fgt, &SumReport::cost_table, &SumReport::bounds, &SumReport::treecode,
                   &SumReport::lattice);
}

} // namespace farfield::python
