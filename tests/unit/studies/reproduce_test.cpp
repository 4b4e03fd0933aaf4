// The sources' numbers, checked against what the sources themselves derive from them, and the tables in which
// they stand; without a GPU.
#include "studies/ladder_model.h"
#include "studies/ladder_study.h"
#include "studies/reproduce.h"
#include "studies/seed_tables.h"

#include <farfield/error.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace farfield {
namespace {

TEST(SeedTables, TheHandbooksTableGivesTheSpeedupsOfItsText) {
    std::vector<double> cg1, cc2;
    for (const auto& row : seeds::handbook_timings()) {
        cg1.push_back(row.cg1_sse / row.cg1_threads);
        cc2.push_back(row.cc2_sse / row.cc2_threads);
    }
    ASSERT_EQ(cg1.size(), 3U);
    // "speedups of 14.4-17x on cc2.8xlarge versus 7.2-7.9x on cg1.4xlarge"
    EXPECT_NEAR(*std::min_element(cg1.begin(), cg1.end()), 7.2, 0.05);
    EXPECT_NEAR(*std::max_element(cg1.begin(), cg1.end()), 7.9, 0.05);
    EXPECT_NEAR(*std::min_element(cc2.begin(), cc2.end()), 14.4, 0.06);
    EXPECT_NEAR(*std::max_element(cc2.begin(), cc2.end()), 17.0, 0.1);
    // "the multithreaded version would only be within 3.26x of the 16K bodies case", with SSE doubled
    const auto& last = seeds::handbook_timings().back();
    EXPECT_NEAR(last.cc2_threads / 2.0 / last.gk104, 3.26, 0.005);
}

TEST(SeedTables, TheSlidesRatesFollowFromTheirTimes) {
    for (const auto& slide : seeds::slide_absolutes()) {
        const double n = static_cast<double>(slide.n);
        EXPECT_NEAR(1e-6 * flop_a_pair * n * n / slide.milliseconds, slide.gflops, 1e-3 * slide.gflops);
        EXPECT_NEAR(1e-6 * bytes_moved(slide.rung, Precision::float32, slide.n) / slide.milliseconds,
                    slide.gigabytes_per_second, 0.01 * slide.gigabytes_per_second);
    }
    // the steps between the two absolute figures of CC 2.0 multiply to the ratio of their times
    double product = 1.0;
    for (const auto& step : seeds::slide_steps())
        if (step.rung > cuda::Rung::unrolled && step.rung <= cuda::Rung::flush) product *= step.speedup[1];
    EXPECT_NEAR(product, 612 / 296.1, 0.05 * product);
}

// "(32, 14.5, and 7.9 times)", "4.4, 5, and 8.7 times": of the last, two are twice the quotient.
TEST(SeedTables, TheSlidesRatiosPerElementFollowFromTheirSpeedups) {
    for (std::size_t card = 0; card < seeds::cards.size(); ++card) {
        const double elements = seeds::processing_elements[card];
        EXPECT_NEAR(seeds::threads_over_one_thread[card] / elements, seeds::threads_over_one_an_element[card],
                    0.45);
        const double twice = card < 2 ? 2.0 : 1.0;
        EXPECT_NEAR(twice * elements / seeds::threads_over_cpu_thread[card],
                    seeds::cpu_core_over_element[card], 0.075);
    }
}

TEST(SeedTables, EveryRungOfTheSlidesStandsOnce) {
    std::vector<cuda::Rung> rungs;
    for (const auto& step : seeds::slide_steps()) rungs.push_back(step.rung);
    for (auto rung = cuda::Rung::soa; rung <= cuda::Rung::two_loops;
         rung = static_cast<cuda::Rung>(static_cast<int>(rung) + 1))
        EXPECT_EQ(std::count(rungs.begin(), rungs.end(), rung), 1) << cuda::info_of(rung).name;
    EXPECT_EQ(rungs.size(), 10U);
}

TEST(Reproduce, TheLadderTellsOfStepsRegistersAndLinkWhatItCan) {
    const auto study =
        reproduce_ladder({.device = {.kind = DeviceKind::cpu}, .repeats = 1, .most_points = 64});
    ASSERT_EQ(study.tables.size(), 7U);
    StudyTimer timer(1, {}, 1);
    const StudyDevice none{{}, "left out", "-", ""};
    const Ladder ladder(timer, none, 200000);
    EXPECT_EQ(ladder.cut(300000, cuda::Rung::flush), 200000);
    EXPECT_EQ(ladder.cut(300000, cuda::Rung::one_thread), 4096);
    EXPECT_EQ(ladder.cut(300000, cuda::Rung::atomics_index), 65536); // minutes otherwise
    EXPECT_EQ(ladder.cut(3000, cuda::Rung::one_thread), 3000);
    const auto& steps = study.tables[4];
    EXPECT_EQ(steps.rows.size(), cuda::rungs().size() + 1);
    EXPECT_DOUBLE_EQ(steps.rows[0].values[1].value.value(), 99.9);
    const auto& resources = study.tables[5];
    ASSERT_EQ(resources.rows.size(), cuda::rungs().size());
    for (const auto& row : resources.rows) EXPECT_EQ(row.values.size(), resources.columns.size()) << row.what;
    EXPECT_EQ(resources.rows[0].values[0].missing, "-");
    const auto& link = study.tables[6];
    EXPECT_DOUBLE_EQ(link.rows[0].values[0].value.value(), 1.6);
    EXPECT_FALSE(link.rows.back().values[0].value.has_value());
    for (const auto* word : {"share\nof the sum", "registers and occupancy", "link"})
        EXPECT_NE(study.lacking.find(word), std::string::npos) << word;
}

TEST(Reproduce, TheHandbooksKernelsStandBesideTheirRungs) {
    const auto study =
        reproduce_handbook_timings({.device = {.kind = DeviceKind::cpu}, .repeats = 1, .most_points = 64});
    const auto& kernels = study.tables.back();
    const std::vector<std::string> first(kernels.columns.begin(), kernels.columns.begin() + 4);
    EXPECT_EQ(first, (std::vector<std::string>{"Atomics (here atomics-pointer)", "Naive (here float4)",
                                               "Shared (here shared)", "here atomics-index"}));
    const auto& timings = study.tables.front().rows;
    for (const auto* name : {"float4", "atomics-pointer"})
        EXPECT_TRUE(std::any_of(timings.begin(), timings.end(), [&](const StudyRow& row) {
            return row.what.find(name) != std::string::npos && row.source.empty();
        })) << name;
    EXPECT_NE(study.lacking.find("atomics-index"), std::string::npos); // said before the tables
}

TEST(StudyTable, TextAlignsAndMarksWhatWasMeasuredHere) {
    Study study;
    study.title = "A study";
    study.tables.push_back({"Times",
                            {"a", "long column"},
                            {{"theirs", "Book, page 3", {StudyValue::given(1.25), StudyValue::of(123456)}},
                             {"ours, µs", {}, {StudyValue::of(0.5, 2e-8), StudyValue::none("no GPU")}}}});
    study.notes.emplace_back("A note.");
    const auto text = to_text(study);
    EXPECT_NE(text.find("\n  theirs        1.25      >123456\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\n  ours, µs      >0.5       no GPU  error 2.0e-08\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\nA note.\n"), std::string::npos);
}

TEST(StudyTable, JsonKeepsSourcesAndHasNullForWhatIsMissing) {
    Study study;
    study.name = "x";
    study.tables.push_back({"T",
                            {"a", "b"},
                            {{"theirs", "Book", {StudyValue::given(1), StudyValue::given(2)}},
                             {"ours", {}, {StudyValue::of(3, 1e-7), StudyValue::none("-")}}}});
    const auto json = nlohmann::json::parse(to_json(study));
    EXPECT_EQ(json["study"], "x");
    const auto& rows = json["tables"][0]["rows"];
    EXPECT_EQ(rows[0]["source"], "Book");
    EXPECT_FALSE(rows[0].contains("errors"));
    EXPECT_EQ(rows[0]["measured"], nlohmann::json({false, false}));
    EXPECT_EQ(rows[1]["measured"], nlohmann::json({true, false}));
    EXPECT_TRUE(rows[1]["source"].is_null());
    EXPECT_EQ(rows[1]["values"][0], 3.0);
    EXPECT_TRUE(rows[1]["values"][1].is_null());
    EXPECT_EQ(rows[1]["errors"][0], 1e-7);
}

TEST(Reproduce, WithoutAGpuTheCpuIsMeasuredAndTheRestSaysSo) {
    const ReproduceOptions options{.device = {.kind = DeviceKind::cpu}, .repeats = 1, .most_points = 256};
    for (const auto& study : {reproduce_handbook_timings(options), reproduce_ladder(options)}) {
        EXPECT_EQ(study.device, "left out");
        int measured = 0;
        for (const auto& table : study.tables)
            for (const auto& row : table.rows) {
                ASSERT_EQ(row.values.size(), table.columns.size()) << row.what;
                if (row.source.empty())
                    for (const auto& value : row.values) {
                        measured += value.value && value.error ? 1 : 0;
                        EXPECT_LT(value.error.value_or(0.0), 1e-6) << row.what; // float, 256 bodies
                    }
            }
        EXPECT_GE(measured, 4) << study.name;
        const auto text = to_text(study);
        EXPECT_LT(text.find("Nothing was measured on a GPU"), text.find(study.tables.front().title));
        EXPECT_LT(text.find("Nothing was measured on a GPU"), text.size());
        EXPECT_EQ(text.find("speed-ups, steps and absolute figures stay empty") < text.size(),
                  study.name == "ladder");
    }
}

TEST(Reproduce, OptionsOutOfRangeAreRefused) {
    EXPECT_THROW(reproduce_ladder({.repeats = 0}), InvalidArgument);
    EXPECT_THROW(reproduce_handbook_timings({.most_points = 1}), InvalidArgument);
    EXPECT_THROW(reproduce_ladder({.device = {.kind = DeviceKind::cuda, .gpus = {0, 1}}}), InvalidArgument);
}

} // namespace
} // namespace farfield
