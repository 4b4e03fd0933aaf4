// farfield reproduce fmm-strategies.
#include "studies/fmm_strategies/strategy_tables.h"

namespace farfield {

Study reproduce_fmm_strategies(const ReproduceOptions& options) {
    using namespace strategies;
    const auto device = study_device(options.device);
    auto study = begin_study(
        "fmm-strategies", "Strategies of M2L on a GPU: \"FMM goes GPU\" (Tesla K40, 2015) and this machine",
        options, device);
    study.about =
        "charges spread evenly over a cube.\nValues with > were measured here; error: relative L2 of "
        "the local moments in sampled boxes, weighted by their part in the potential,\nagainst the "
        "host's loops in double.";
    if (!device.gpu)
        study.lacking +=
            "\nThe strategies are ways to use one, so their times, gains and winners stay empty; "
            "what is measured here are the host's loops.";
    Measurements measured(options, device);
    // all of an order and depth one after the other, deepest last: that is kept for the first table
    std::vector<StudyTable> winners = winner_tables(measured);
    study.tables.push_back(times_table(measured));
    study.tables.push_back(gain_table(measured));
    for (auto& table : winners) study.tables.push_back(std::move(table));
    study.tables.push_back(indices_table(measured));
    study.tables.push_back(cubed_table(measured));
    study.tables.push_back(split_table(measured));
    study.tables.push_back(memory_table(measured));
    study.tables.push_back(sparse_table(measured));
    study.notes.emplace_back(
        "The slides' figures on M2L are drawings without numbers, and do not define their "
        "optimal line or their precision. Ours is the multiply-adds of the loops as "
        "written, four a complex product, over the multiply-adds a second measured in "
        "this run. Kernels of half the multiply-adds, or of fewer, may lie below it.");
    study.notes.emplace_back(
        "Times are of all levels from 2, launches by the host among them, by events; medians, "
        "but single runs above 0.1 s. The order of sums by atomics differs from run to run "
        "in the slides' strategies; matrix tiles, rotations and sparse trees give the "
        "same bits.");
    study.notes.emplace_back(
        "Dynamic schemes launch kernels from kernels (CUDA dynamic parallelism) into the "
        "fire-and-forget stream; the host spreads the boxes over 32 streams.");
    study.notes.emplace_back("The whole sum is that of method 'fmm' here, potential and field. Its near and "
                             "far pairs run side by side, "
                             "so that each takes longer than alone; shares are of the sum of all passes.");
    return study;
}

} // namespace farfield
