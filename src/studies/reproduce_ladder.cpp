// farfield reproduce ladder.
#include "studies/ladder_study.h"
#include "studies/reproduce.h"
#include "studies/seed_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>

namespace farfield {

namespace {

using cuda::Rung;

StudyTable threads_table(Ladder& ladder) {
    constexpr std::array<std::int64_t, 2> sizes{10000, 3000};
    StudyTable table{"One thread and many (slides: n = 10000, 10000, 3000)", card_columns(), {}};
    for (const auto n : sizes) table.columns.push_back(ladder.column(n));
    const auto add = [&](StudyRow row, const std::function<double(std::int64_t)>& value) {
        row.values.resize(seeds::cards.size(), StudyValue::none(""));
        for (const auto n : sizes)
            row.values.push_back(ladder.has_gpu() ? StudyValue::of(value(n)) : ladder.missing());
        table.rows.push_back(std::move(row));
    };
    const auto gpu = [&](std::int64_t n, Rung rung) { return ladder.steps(n, rung).pairs_per_second(); };
    const auto cpu = [&](std::int64_t n, Variant variant) {
        return ladder.cpu(n, variant).pairs_per_second();
    };
    add(of_cards("a CPU thread over one GPU thread", "1-Thread Performance", seeds::one_thread_slowdown),
        [&](std::int64_t n) { return cpu(n, Variant::naive) / gpu(n, Rung::one_thread); });
    add(of_cards("N GPU threads over one", "N Thread Speedup", seeds::threads_over_one_thread),
        [&](std::int64_t n) { return gpu(n, Rung::naive) / gpu(n, Rung::one_thread); });
    add(of_cards("N GPU threads over a CPU thread", "N Thread Speedup", seeds::threads_over_cpu_thread),
        [&](std::int64_t n) { return gpu(n, Rung::naive) / cpu(n, Variant::naive); });
    add({"the same with the fastest rungs of both", {}, {}},
        [&](std::int64_t n) { return gpu(n, Rung::symmetric) / cpu(n, Variant::automatic); });
    auto elements =
        of_cards("processing elements (here lanes)", "Evaluation Methodology", seeds::processing_elements);
    for (std::size_t column = 0; column < sizes.size(); ++column)
        elements.values.push_back(ladder.has_gpu() ? StudyValue::given(ladder.lanes().total)
                                                   : ladder.missing());
    table.rows.push_back(std::move(elements));
    add(of_cards("N GPU threads over one, per element", "N Thread Speedup",
                 seeds::threads_over_one_an_element),
        [&](std::int64_t n) {
            return gpu(n, Rung::naive) / gpu(n, Rung::one_thread) / ladder.lanes().total;
        });
    add(of_cards("a CPU thread over an element", "N Thread Speedup", seeds::cpu_core_over_element),
        [&](std::int64_t n) { return cpu(n, Variant::naive) * ladder.lanes().total / gpu(n, Rung::naive); });
    StudyRow cpu_row{"a CPU thread, 1e9 pairs/s: naive", {}, {}}, fast_row{"its fastest rung", {}, {}};
    for (auto* row : {&cpu_row, &fast_row}) row->values.resize(seeds::cards.size(), StudyValue::none(""));
    for (const auto n : sizes) {
        const auto naive = ladder.cpu(n, Variant::naive), fastest = ladder.cpu(n, Variant::automatic);
        cpu_row.values.push_back(StudyValue::of(1e-9 * naive.pairs_per_second(), naive.error));
        fast_row.values.push_back(StudyValue::of(1e-9 * fastest.pairs_per_second(), fastest.error));
    }
    table.rows.push_back(std::move(cpu_row));
    table.rows.push_back(std::move(fast_row));
    return table;
}

StudyTable speedup_table(Ladder& ladder) {
    constexpr std::array<std::int64_t, 2> sizes{100000, 300000};
    StudyTable table{
        "Whole steps: speed-up of a rung over the one it changes (slides: n = 100000, 100000, 300000)",
        card_columns(),
        {}};
    for (const auto n : sizes) table.columns.push_back(ladder.column(n));
    const auto add = [&](StudyRow row, Rung rung) {
        row.values.resize(seeds::cards.size(), StudyValue::none(""));
        for (const auto n : sizes)
            row.values.push_back(ladder.has_gpu()
                                     ? StudyValue::of(ladder.steps(n, rung).pairs_per_second() /
                                                      ladder.steps(n, *predecessor(rung)).pairs_per_second())
                                     : ladder.missing());
        table.rows.push_back(std::move(row));
    };
    for (const auto& step : seeds::slide_steps())
        if (step.steps == 1)
            add(of_cards(std::string(cuda::info_of(step.rung).name), step.slide, step.speedup), step.rung);
    for (const auto rung : {Rung::fast_math, Rung::register_tile, Rung::symmetric, Rung::atomics_tiled})
        add({std::string(cuda::info_of(rung).name), {}, {}}, rung);
    return table;
}

StudyTable steps_table(Ladder& ladder) {
    constexpr std::array<std::int64_t, 2> sizes{1000, 3000};
    const auto& slide = *std::find_if(seeds::slide_steps().begin(), seeds::slide_steps().end(),
                                      [](const seeds::SlideStep& step) { return step.steps > 1; });
    const auto rung = slide.rung, before = *predecessor(slide.rung);
    StudyTable table{fmt::format("{} steps: {} over {} (slides: n = 1000, 1000, 3000), and seconds",
                                 slide.steps, cuda::info_of(rung).name, cuda::info_of(before).name),
                     card_columns(),
                     {}};
    for (const auto n : sizes) table.columns.push_back(ladder.column(n));
    const auto add = [&](StudyRow row, const std::function<StudyValue(std::int64_t)>& value) {
        row.values.resize(seeds::cards.size(), StudyValue::none(""));
        for (const auto n : sizes) row.values.push_back(value(n));
        table.rows.push_back(std::move(row));
    };
    const auto seconds = [&](std::int64_t n, Rung of) { return ladder.steps(n, of, slide.steps).seconds; };
    add(of_cards(std::string(cuda::info_of(rung).name), slide.slide, slide.speedup), [&](std::int64_t n) {
        return ladder.has_gpu() ? StudyValue::of(seconds(n, before) / seconds(n, rung)) : ladder.missing();
    });
    for (const auto of : {before, rung, Rung::symmetric})
        add({fmt::format("{}, whole steps, float, s", cuda::info_of(of).name), {}, {}}, [&](std::int64_t n) {
            return ladder.has_gpu() ? StudyValue::of(seconds(n, of)) : ladder.missing();
        });
    add({"whole leapfrog steps on the GPU, double, s", {}, {}},
        [&](std::int64_t n) { return ladder.simulation(n, slide.steps, true); });
    add({"the same on the CPU, all threads, 1/10 of them, s", {}, {}},
        [&](std::int64_t n) { return ladder.simulation(n, slide.steps / 10, false); });
    return table;
}

StudyTable absolute_table(Ladder& ladder) {
    StudyTable table{"Absolute performance, float",
                     {"N", "ms", "Gflop/s", "GB/s (model)", "% of peak", "Gflop/s double"},
                     {}};
    for (const auto& slide : seeds::slide_absolutes())
        table.rows.push_back(
            {fmt::format("{}, {}", slide.card, cuda::info_of(slide.rung).name),
             fmt::format("Slides, {}", slide.slide),
             {StudyValue::given(static_cast<double>(slide.n)), StudyValue::given(slide.milliseconds),
              StudyValue::given(slide.gflops), StudyValue::given(slide.gigabytes_per_second),
              StudyValue::given(100.0 * slide.share_of_peak),
              slide.gflops_double ? StudyValue::given(*slide.gflops_double) : StudyValue::none("-")}});
    const double peak = peaks(ladder.lanes(), Precision::float32, {}).peak;
    const auto add = [&](std::int64_t n, Rung rung) {
        StudyRow row{fmt::format("here, {}", cuda::info_of(rung).name), {}, {}};
        row.values.push_back(StudyValue::given(static_cast<double>(ladder.cut(n))));
        if (ladder.has_gpu()) {
            const auto timed = ladder.gpu(n, rung);
            const auto in_double = ladder.gpu(n, rung, Precision::float64);
            const double flops = flop_a_pair * timed.pairs_per_second();
            const double bytes = bytes_moved(rung, Precision::float32, timed.n);
            row.values.push_back(StudyValue::of(1e3 * timed.seconds, timed.error));
            row.values.push_back(StudyValue::of(1e-9 * flops));
            row.values.push_back(StudyValue::given(1e-9 * bytes / timed.seconds));
            row.values.push_back(StudyValue::of(100.0 * flops / peak));
            row.values.push_back(StudyValue::of(1e-9 * flop_a_pair * in_double.pairs_per_second()));
        }
        row.values.resize(table.columns.size(), ladder.missing());
        table.rows.push_back(std::move(row));
    };
    add(100000, Rung::unrolled);
    for (const std::int64_t n : {100000, 300000})
        for (const auto rung : {Rung::flush, Rung::symmetric}) add(n, rung);
    return table;
}

} // namespace

Study reproduce_ladder(const ReproduceOptions& options) {
    const auto device = study_device(options.device);
    auto study = begin_study(
        "ladder", "The ladder of optimisations of the CUDA slides after Burtscher, and this machine's",
        options, device);
    if (!device.gpu)
        study.lacking += "\nThe ladder is one of GPU code: without a GPU its speed-ups, steps and absolute "
                         "figures stay empty, as do "
                         "the share\nof the sum in a step, registers and occupancy, and the rates of memory "
                         "and link; what is "
                         "measured here is one CPU\nthread (table 1) and whole steps on the CPU (table 3).";
    StudyTimer timer(options.repeats, device.gpu, options.threads, options.progress);
    Ladder ladder(timer, device, options.most_points);
    study.tables.push_back(threads_table(ladder));
    study.tables.push_back(speedup_table(ladder));
    study.tables.push_back(steps_table(ladder));
    study.tables.push_back(absolute_table(ladder));
    study.tables.push_back(whole_steps_table(ladder));
    study.tables.push_back(resources_table(ladder));
    study.tables.push_back(link_table(ladder));
    study.notes.emplace_back("As on the slides, speed-ups are of whole steps (the sum, and the kernel that "
                             "moves the bodies), medians of the "
                             "repeats, by events on the GPU; the absolute figures are of the sum alone. "
                             "Bodies move in double and are laid out "
                             "for the rung before each sum.");
    study.notes.emplace_back("One GPU thread gets 4096 bodies at most, atomics 65536; rates are compared, "
                             "not times. CPU thread: the "
                             "rung naive, two plain loops as on the slides, and its sum alone.");
    study.notes.emplace_back("Per element: over the cards' processing elements, here lanes of single "
                             "precision. The slides' 4.4 and 5 for a CPU "
                             "core over an element are twice 240/107.5 and 448/176.7, their 8.7 is "
                             "1536/176.2 itself; ours are such quotients.");
    study.notes.emplace_back(
        "constant copies its parameters once, at the first step. softened tests nothing. flush is compiled "
        "with "
        "-ftz=true, fast-math with -use_fast_math; the slides compile all of the program so.");
    study.notes.emplace_back(
        "GB/s (model): the bytes that the layout of a rung implies before any cache, over the time; the "
        "slides count alike. Nothing counted them here.");
    study.notes.emplace_back(
        "Fermi GTX 480 is a slip of the slides: 675.6 Gflop/s are 66 % of 1030, the peak of the Tesla C2050 "
        "that the steps before were measured on, and those steps multiply to the ratio of 612 and 296.1 ms. "
        "A GTX 480 (480 lanes of 1.4 GHz) has a peak of 1344.");
    return study;
}

} // namespace farfield
