// farfield reproduce m2l-2d.
#include "studies/m2l_2d/measurements.h"
#include "studies/m2l_2d/whole_sums.h"

namespace farfield {

Study reproduce_m2l_2d(const ReproduceOptions& options) {
    using namespace m2l2d;
    const auto device = study_device(options.device);
    auto study = begin_study("m2l-2d",
                             "M2L in two dimensions: \"How to obtain efficient GPU kernels\" (Tesla C1060 "
                             "and C2050, 2011) and this machine",
                             options, device);
    study.about = "all boxes of the levels 2, 3, … of a uniform quadtree, 27 translations each, "
                  "float.\nValues with > were measured here; "
                  "error: relative L2 of the local expansions of sampled boxes, weighted by their part in "
                  "the\npotential, "
                  "against the formulas in double.";
    if (!device.gpu) study.lacking += "\nThe tables hold the paper's numbers and what follows from formulas.";
    Measurements measured(options, device);
    for (const int terms : terms_measured) { // all of a number of terms while its expansions are there
        study.tables.push_back(seed_table(measured, terms));
        study.tables.push_back(resources_table(measured, terms));
        study.tables.push_back(variants_table(measured, terms));
    }
    const WholeSums sums(options, device);
    if (!sums.refusal().empty())
        study.lacking += (study.lacking.empty() ? "" : "\n") +
                         ("Whole sums were measured on the CPU, not on the GPU: " + sums.refusal() + ".");
    study.tables.push_back(sums.passes());
    study.tables.push_back(sums.leaves());
    study.notes.emplace_back("A time here is that of one of 8 launches in a row between two events. Tables 2 "
                             "and 3: op/s count the paper's "
                             "28·p·(p + 7) a translation, bytes its 8p·28/27 + 8 + 16/27,\nwhatever a kernel "
                             "does. A translation by a dense "
                             "complex matrix takes 8p². \"Fused\" kernels add up a target's 27 expansions "
                             "and write the sum alone.");
    study.notes.emplace_back(
        "Flop: as written in a variant's formulas, over 27 translations, counted by running them. "
        "\"Predicted\" is the "
        "least of three bounds: those operations, products\nfused into additions, at the rated peak; "
        "expansions read once "
        "and written through memory at its rated speed; a thread's own traffic with shared "
        "memory.\n\"Ceiling\" is the same "
        "with the multiply-adds and the filling of memory that were measured in this run. \"% of peak\" is "
        "flop over the "
        "rated peak; of the cards,\nthe paper's operations over the peak that the row names.");
    study.notes.emplace_back(
        "Integers a flop: of the compiled instructions of the innermost loop with the most flop, or of all "
        "code where no "
        "loop is left. Occupancy: threads at work\nover those a multiprocessor holds (equation 13).");
    study.notes.emplace_back("The paper's equation 8 is that of a field: it has no logarithm. Its kernels "
                             "translate as printed; ours translate "
                             "potentials, with the logarithm, which takes no\nmore terms. Lists that leave "
                             "the square go on at its other side, "
                             "so that every box has 27.");
    study.notes.emplace_back("Whole sums: velocities of vortices in a square, in double, by `farfield sum "
                             "--method fmm` with p − 1 as its "
                             "order; shares are of the passes together.\n\"tree\" is what new points need "
                             "before the passes. The error is "
                             "that of the velocities. The paper's shares are those of the near field and the "
                             "downward sweep, in which it counts L2L, too.");
    return study;
}

} // namespace farfield
