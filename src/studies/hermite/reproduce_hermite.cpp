// farfield reproduce hermite.
#include "studies/hermite/measurements.h"
#include "studies/hermite/whole_transform.h"

#include <fmt/format.h>

namespace farfield {
namespace {

void add_notes(Study& study) {
    study.notes.emplace_back(fmt::format(
        "The paper does not say how many clusters it evaluates. Its op/s over its particles a\n"
        "second are 29.9k, 140k and 310k operations for p = 5, 9 and 12. {} clusters of p²(8p +\n"
        "30) operations each, those of integers among them, make these within 0.5 %. \"1e9 op/s\"\n"
        "counts them, whatever a kernel does.",
        hermite::clusters_evaluated));
    study.notes.emplace_back(
        "The paper's text has 30 times four cores for the Tesla and 25 for the Fermi card, and\n"
        "100 to 120 times one core. Its tables have 28 to 33 (p = 5) and 21 to 23 (p = 9) for\n"
        "the Fermi card, and 10 to 30 for the Tesla.");
    study.notes.emplace_back(
        "\"As the paper's\": on the CPU a plain loop in float, measured for up to 102400\n"
        "particles, as its rate does not depend on their number; on the GPU the kernel with\n"
        "balanced reads. Times of a GPU are those of evaluations between two events, without\n"
        "transfers.");
    study.notes.emplace_back(
        "Flop: as written in a variant's formulas. The paper's kernels evaluate two polynomials\n"
        "of degree p − 1 for each of p² terms; ours one polynomial in two variables, by p² − 1\n"
        "multiply-adds. \"% of peak\" is flop over what multiply-adds reached in this run; of the\n"
        "cards, the paper's op/s over 933 (C1060, whose \"practical peak\" is 622) and 1033.");
    study.notes.emplace_back(
        "Whole transforms: sources and targets half evenly spread, half in dense clouds, boxes\n"
        "of side √2σ, measured once. A box whose sources would take more operations than its\n"
        "series is evaluated as a series, others pair by pair. The share of the series depends\n"
        "on how many sources a box has, which the paper does not tell. The error is that of the\n"
        "whole transform.");
}

} // namespace

Study reproduce_hermite(const ReproduceOptions& options) {
    using namespace hermite;
    const auto device = study_device(options.device);
    auto study =
        begin_study("hermite",
                    "Hermite series in two dimensions: \"How to obtain efficient GPU kernels\" (Tesla "
                    "C1060 and C2050, 2011) and this machine",
                    options, device);
    study.about = fmt::format(
        "the series of {} clusters, p² coefficients each, at every particle, float.\n"
        "Values with > were measured here; error: the largest of sampled particles over the greatest\n"
        "potential, against the same series in long double.",
        clusters_evaluated);
    if (!device.gpu)
        study.lacking += "\nTables of GPUs hold the paper's numbers and what follows from formulas.";
    Measurements measured(options, device);
    for (const int terms : terms_measured) {
        study.tables.push_back(seed_table(measured, terms));
        study.tables.push_back(variants_table(measured, terms));
        study.tables.push_back(resources_table(measured, terms));
    }
    study.tables.push_back(ratios_table(measured));
    study.tables.push_back(whole_transform_table(options));
    add_notes(study);
    return study;
}

} // namespace farfield
