// The loops over blocks on a CPU against sums in long double written here from the equations, for every
// instruction set and precision: relative L2 error of potential and field over all targets.
//
// Where the bars come from: those of accuracy_test.cpp, for the same arithmetic. Only the one of mixed is
// that of float: here a few close pairs, each off by up to ten roundings of 6e-8, make up most of the norm.
// Inputs are floats for float; for mixed they are not, so that its low parts must be at work: without those
// of the sources own blocks of odd sizes fail.
#include "oracle/direct/block_oracle.h"
#include "sums/direct/cpu/blocks/block_sum.h"
#include "sums/points/prepared.h"

#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <random>
#include <string>
#include <vector>

namespace farfield {
namespace {

using block_oracle::exact;
using block_oracle::Model;
using block_oracle::model_of;

constexpr std::uint64_t seed = 20261122;

double bar(Precision precision) { return precision == Precision::float64 ? 1e-14 : 5e-7; }

/// Potentials, then the three components of the field, one array after the other.
struct Sums {
    std::vector<double> values;
    explicit Sums(std::size_t n) : values(4 * n) {}
    [[nodiscard]] std::vector<double> potential() const {
        return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4)};
    }
    [[nodiscard]] std::vector<double> field() const { // N×3
        const auto n = values.size() / 4;
        std::vector<double> rows;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t k = 1; k <= 3; ++k) rows.push_back(values[k * n + i]);
        return rows;
    }
};

// Blocks one after the other, behind a few points that are in none.
std::vector<BlockRange> blocks_of(const std::vector<int>& sizes, int before) {
    std::vector<BlockRange> blocks;
    int begin = before;
    for (const int size : sizes) {
        blocks.push_back({begin, begin + size});
        begin += size;
    }
    return blocks;
}

const std::vector<int> odd_sizes{7, 0, 64, 1, 130, 33, 600, 5};

// Targets are the sources. Every block acts on every other one but the next: pairs of neighbours are missing.
Model own_model(double softening, bool to_float) {
    Model model;
    model.target_blocks = model.source_blocks = blocks_of(odd_sizes, 3);
    model.sources = oracle::uniform_cube(model.target_blocks.back().end + 2, seed);
    if (to_float) model.sources = oracle::rounded_to_float(model.sources);
    model.targets = model.sources;
    model.own = true;
    model.softening = softening;
    model.first.push_back(0);
    const int blocks = static_cast<int>(odd_sizes.size());
    for (int b = 0; b < blocks; ++b) {
        for (int other = 0; other < blocks; ++other)
            if (other != b && std::abs(other - b) != 1) model.partners.push_back(other);
        model.first.push_back(static_cast<std::int32_t>(model.partners.size()));
    }
    return model;
}

// Targets and sources are different points; some targets have no source, one source block is named twice.
Model separate_model(double softening, bool to_float) {
    Model model;
    model.target_blocks = blocks_of({130, 1, 0, 64, 7, 9}, 1);
    model.source_blocks = blocks_of(odd_sizes, 2);
    model.sources = oracle::uniform_cube(model.source_blocks.back().end, seed);
    model.targets = oracle::uniform_cube(model.target_blocks.back().end + 1, seed + 1);
    if (to_float) {
        model.sources = oracle::rounded_to_float(model.sources);
        model.targets = oracle::rounded_to_float(model.targets);
    }
    model.softening = softening;
    model.first = {0, 8, 11, 13, 16, 16, 19};
    model.partners = {0, 1, 2, 3, 4, 5, 6, 7, 3, 0, 7, 1, 2, 6, 4, 5, 4, 1, 4};
    return model;
}

struct How {
    Isa isa = Isa::scalar;
    Precision precision = Precision::float64;
    bool mutual = false;
    LoopOutputs outputs = field_and_potential;
    int threads = 1;
};

template <class T>
Sums sum_in(const Model& model, const How& how) {
    // Coordinates lie within ±1: no frame is needed, and mixed gets what rounding to float takes off.
    PreparedPoints<T> targets, sources;
    targets.set(model.targets.xyz, {}, how.precision == Precision::mixed);
    sources.set(model.sources.xyz, {}, how.precision == Precision::mixed);
    sources.set_strengths(model.sources.q, 0);
    const auto n = model.targets.q.size();
    Sums sums(n);
    double* values = sums.values.data();
    const BlockSumTask task{.precision = how.precision,
                            .outputs = how.outputs,
                            .targets = model.own ? sources.view() : targets.view(),
                            .sources = sources.view(),
                            .softening = model.softening,
                            .sums = {values, {values + n, values + 2 * n, values + 3 * n}},
                            .isa = how.isa,
                            .threads = how.threads};
    const auto points = static_cast<std::int64_t>(n);
    if (how.mutual) {
        const auto half = half_of(model.lists());
        const BlockLists lists{model.target_blocks, model.target_blocks, half.first, half.partners,
                               model.own};
        check_mutual_lists(lists, points);
        MutualBlocks(lists, points).sum(task);
    } else {
        check_lists(model.lists(), points, static_cast<std::int64_t>(model.sources.q.size()));
        OneSidedBlocks(model.lists()).sum(task);
    }
    return sums;
}

Sums sum(const Model& model, const How& how) {
    return how.precision == Precision::float64 ? sum_in<double>(model, how) : sum_in<float>(model, how);
}

template <class Check>
void for_each_way(Check check) {
    for (const auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512}) {
        if (!is_available(isa)) {
            std::cout << "left out: this machine has no " << name_of(isa) << "\n";
            continue;
        }
        for (const auto precision : {Precision::float32, Precision::float64, Precision::mixed}) {
            SCOPED_TRACE(std::string(name_of(isa)) + " " + std::string(name_of(precision)));
            check(isa, precision);
        }
    }
}

void expect_right(const Model& model, const oracle::Result& truth, const How& how) {
    const auto got = sum(model, how);
    block_oracle::Found found;
    if ((how.outputs & potential_only) != 0) found.potential = got.potential();
    if ((how.outputs & field_only) != 0) found.field = got.field();
    block_oracle::expect_right(found, truth, bar(how.precision), how.mutual ? "mutual" : "one-sided");
}

TEST(Blocks, OwnAndOtherBlocksOfOddSizes) {
    RecordProperty("seed", static_cast<int>(seed));
    for (const double softening : {0.0, 0.05})
        for_each_way([&](Isa isa, Precision precision) {
            const auto model = own_model(softening, precision == Precision::float32);
            const auto truth = exact(model);
            for (const bool mutual : {false, true})
                for (const auto outputs : {field_and_potential, potential_only, field_only})
                    expect_right(model, truth, {isa, precision, mutual, outputs});
        });
}

TEST(Blocks, SeparateTargets) {
    for (const double softening : {0.0, 0.05})
        for_each_way([&](Isa isa, Precision precision) {
            const auto model = separate_model(softening, precision == Precision::float32);
            const auto truth = exact(model);
            for (const auto outputs : {field_and_potential, potential_only, field_only})
                expect_right(model, truth, {isa, precision, false, outputs});
        });
}

TEST(Blocks, GridWithNeighbours) {
    const auto model = model_of(block_grid::uniform(6000, 5, seed, true));
    const auto truth = exact(model);
    for_each_way([&](Isa isa, Precision precision) {
        for (const bool mutual : {false, true}) expect_right(model, truth, {isa, precision, mutual});
    });
}

// Groups of the mutual sum are smaller than this grid, so threads do meet.
TEST(Blocks, SameBitsForAnyNumberOfThreads) {
    const auto model = model_of(block_grid::uniform(9000, 6, seed, false, true), 1e-3);
    for_each_way([&](Isa isa, Precision precision) {
        for (const bool mutual : {false, true}) {
            How how{isa, precision, mutual};
            const auto one = sum(model, how);
            for (const int threads : {2, 7}) {
                how.threads = threads;
                EXPECT_EQ(sum(model, how).values, one.values) << threads << " threads, mutual " << mutual;
            }
        }
    });
}

// Points in no block keep what was there before.
TEST(Blocks, OtherPointsAreLeftAlone) {
    const auto model = own_model(0.0, false);
    const auto n = model.targets.q.size();
    for (const bool mutual : {false, true}) {
        const auto got = sum(model, {.mutual = mutual});
        for (const std::size_t i : {std::size_t{0}, std::size_t{2}, n - 1})
            for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(got.values[k * n + i], 0.0);
    }
}

// Distinct points on each other are the caller's to find: their results are not finite, all others are.
TEST(Blocks, CoincidentPointsGiveResultsThatAreNotFinite) {
    for_each_way([&](Isa isa, Precision precision) {
        for (const bool mutual : {false, true})
            for (const int other : {20, 200}) { // in the block of point 12, and in another
                auto model = own_model(0.0, false);
                for (std::size_t k = 0; k < 3; ++k)
                    model.sources.xyz[3 * static_cast<std::size_t>(other) + k] = model.sources.xyz[36 + k];
                model.targets = model.sources;
                const auto potential = sum(model, {isa, precision, mutual}).potential();
                for (std::size_t i = 0; i < potential.size(); ++i)
                    EXPECT_EQ(std::isfinite(potential[i]), i != 12 && i != static_cast<std::size_t>(other))
                        << i;
            }
    });
}

} // namespace
} // namespace farfield
