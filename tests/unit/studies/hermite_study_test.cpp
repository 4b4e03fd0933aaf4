// Tables, counts and whole transforms of `farfield reproduce hermite`, without a GPU.
#include "studies/hermite/evaluations.h"
#include "studies/hermite/operations.h"
#include "studies/hermite/seed_tables.h"
#include "studies/hermite/whole_transform.h"
#include "studies/reproduce.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace farfield::hermite {
namespace {

// Seventeen clusters of p²(8p + 30) operations are what the tables' op/s over particles a second give. Their
// particles a second have three digits.
TEST(HermiteStudy, OperationsAreThoseOfThePapersTables) {
    for (const auto& machine : seeds::machines)
        for (std::size_t index = 0; index < terms_measured.size(); ++index)
            for (const auto& row : machine.rows[index]) {
                const double counted = seeds::operations(terms_measured[index], clusters_evaluated);
                EXPECT_NEAR(row.operations(), counted, 0.007 * counted) << machine.name;
                EXPECT_GT(row.cores[1], 1.8 * row.cores[0]);
                EXPECT_GT(row.cores[2], 1.6 * row.cores[1]);
            }
}

// One cluster more would be too many numbers for threads, or for the paper's shared memory.
TEST(HermiteStudy, ChunksAreAsLargeAsThreadsAllow) {
    for (const int p : terms_measured) {
        const auto numbers = [p](int clusters) { return p + clusters * (p * p + 2); };
        const int for_threads = chunk_clusters(Variant::balanced, p);
        EXPECT_LE(numbers(for_threads), paper_threads);
        EXPECT_GT(numbers(for_threads + 1), paper_threads);
        const int for_memory = chunk_clusters(Variant::filled_chunks, p);
        EXPECT_LE(4 * numbers(for_memory), paper_shared_bytes);
        EXPECT_GT(4 * numbers(for_memory + 1), paper_shared_bytes);
    }
    EXPECT_EQ(chunk_clusters(Variant::chunks, 12), 3);
    EXPECT_EQ(launches_of(Variant::pairs, 9, 25601, 17), 26 * 17);
    EXPECT_EQ(launches_of(Variant::balanced, 12, 25600, 17), 6);
    EXPECT_EQ(launches_of(Variant::balanced, 5, 25600, 17), 1);
    EXPECT_EQ(launches_of(Variant::filled_chunks, 12, 25600, 17), 1);
    EXPECT_EQ(launches_of(Variant::ours, 12, 25600, 17), 1);
}

TEST(HermiteStudy, VariantsStandInTheirOrder) {
    for (std::size_t k = 0; k < variant_table.size(); ++k)
        EXPECT_EQ(static_cast<std::size_t>(variant_table[k].variant), k);
}

// 17 clusters take what the paper's tables imply; the counts are by hand, from the formulas.
TEST(HermiteStudy, OperationsAreCounted) {
    EXPECT_EQ(flop_of(Variant::balanced, 5, 17), 17 * (25 * (2 * 2 * 4 + 5) + 10));
    EXPECT_EQ(flop_of(Variant::ours, 5, 17), 17 * (2 * 24 + 9));
    EXPECT_EQ(flop_of(Variant::balanced, 12, 17), 17 * (144 * (2 * 2 * 11 + 5) + 10));
    EXPECT_EQ(flop_of(Variant::ours, 12, 17), 17 * (2 * 143 + 9));
}

TEST(HermiteStudy, WithoutAGpuTheTablesHoldThePapersNumbersAndTheCpus) {
    ReproduceOptions options;
    options.device.kind = DeviceKind::cpu;
    options.most_points = 1500;
    options.repeats = 1;
    options.threads = 2;
    const auto study = reproduce_hermite(options);
    ASSERT_EQ(study.tables.size(), 11U);
    for (const auto& table : study.tables)
        for (const auto& row : table.rows) EXPECT_EQ(row.values.size(), table.columns.size()) << row.what;
    for (const std::size_t index : {0U, 3U, 6U}) {
        const auto& rows = study.tables[index].rows;
        ASSERT_EQ(rows.size(), 12U);
        for (const std::size_t k : {0U, 1U}) { // both loops, on one thread and on two
            EXPECT_GT(rows[k].values[0].value.value_or(0), 0);
            EXPECT_GT(rows[k].values[1].value.value_or(0), 0);
            EXPECT_EQ(rows[k].values[2].missing, "2 only");
            EXPECT_LT(rows[k].values[0].error.value_or(1), 2e-6);
        }
    }
    EXPECT_EQ(study.tables[6].rows[10].values[4].value, 2.27e6); // p = 12, most particles, C1060
    EXPECT_EQ(study.tables[6].rows[11].values[3].value, 1012.1);
}

// The paper's own ratios: its Table 5 has 28 to 33 for p = 5, its text 25.
TEST(HermiteStudy, RatiosAreThoseOfTheTables) {
    ReproduceOptions options;
    options.device.kind = DeviceKind::cpu;
    options.most_points = 100;
    options.repeats = 1;
    const auto study = reproduce_hermite(options);
    const auto& rows = study.tables[9].rows;
    ASSERT_EQ(rows.size(), 9U);
    const auto value = [&](std::size_t row, std::size_t column) {
        return rows[row].values[column].value.value_or(0);
    };
    EXPECT_NEAR(value(4, 2), 27.9, 0.05); // Nehalem, p = 5, over four cores
    EXPECT_NEAR(value(4, 3), 32.9, 0.05);
    EXPECT_NEAR(value(5, 3), 23.3, 0.05);
    EXPECT_NEAR(value(2, 2), 10.3, 0.05); // Penryn, p = 12
    EXPECT_NEAR(value(1, 3), 30.1, 0.05);
    EXPECT_EQ(value(3, 3), 30); // the texts
    EXPECT_EQ(value(7, 3), 25);
}

// Series and pairs together give the sum over all sources, as well as p² terms and the reach let them.
TEST(HermiteStudy, WholeTransformsGiveTheSum) {
    const double most[] = {4e-3, 3e-5, 3e-6};
    for (std::size_t index = 0; index < terms_measured.size(); ++index) {
        WholeTransform transform(terms_measured[index], 20000);
        const auto seconds = transform.run(2);
        EXPECT_LT(transform.error(2), most[index]) << "p = " << terms_measured[index];
        EXPECT_GT(transform.share_in_series(), 0.1);
        EXPECT_LT(transform.share_in_series(), 1.0);
        EXPECT_GT(seconds.hermite, 0);
        EXPECT_GT(seconds.direct, 0);
        const auto one = transform.potentials();
        transform.run(1);
        EXPECT_EQ(transform.potentials(), one);
    }
}

} // namespace
} // namespace farfield::hermite
