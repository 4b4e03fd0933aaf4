// Sums over blocks of points and their oracle in long double, for the loops of every device:
//   φ(x) = Σ q / √(|x − y|² + ε²),  field(x) = Σ q (x − y) / (|x − y|² + ε²)^(3/2)
// over the points of the blocks that a target's block is paired with.
#pragma once

#include "block_grid.h"
#include "oracle/direct/oracle.h"
#include "sums/points/block_lists.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace farfield::block_oracle {

struct Model {
    oracle::Points targets, sources;
    std::vector<BlockRange> target_blocks, source_blocks;
    std::vector<std::int32_t> first, partners;
    std::vector<double> centres; ///< blocks×3, if any are used
    bool own = false;            ///< targets are the sources, and a block acts on itself
    double softening = 0.0;

    [[nodiscard]] BlockLists lists() const { return {target_blocks, source_blocks, first, partners, own}; }
};

inline Model model_of(const block_grid::Grid& grid, double softening = 0.0) {
    return {.targets = {grid.points, grid.strengths},
            .sources = {grid.points, grid.strengths},
            .target_blocks = grid.blocks,
            .source_blocks = grid.blocks,
            .first = grid.first,
            .partners = grid.partners,
            .centres = grid.centres,
            .own = true,
            .softening = softening};
}

/// 0 for points that are in no block.
inline oracle::Result exact(const Model& model) {
    const auto n = model.targets.q.size();
    oracle::Result sums{std::vector<long double>(n), std::vector<long double>(3 * n), {}};
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    const auto act = [&](BlockRange targets, BlockRange sources) {
        for (std::int64_t i = targets.begin; i < targets.end; ++i)
            for (std::int64_t j = sources.begin; j < sources.end; ++j) {
                if (model.own && i == j) continue;
                long double d[3];
                long double r2 = static_cast<long double>(model.softening) * model.softening;
                for (int k = 0; k < 3; ++k) {
                    d[k] = static_cast<long double>(model.targets.xyz[at(3 * i + k)]) -
                           static_cast<long double>(model.sources.xyz[at(3 * j + k)]);
                    r2 += d[k] * d[k];
                }
                const long double term = model.sources.q[at(j)] / std::sqrt(r2);
                sums.potential[at(i)] += term;
                for (int k = 0; k < 3; ++k) sums.field[at(3 * i + k)] += term * d[k] / r2;
            }
    };
    for (std::size_t b = 0; b < model.target_blocks.size(); ++b) {
        if (model.own) act(model.target_blocks[b], model.target_blocks[b]);
        for (const auto partner : model.lists().of(b))
            act(model.target_blocks[b], model.source_blocks[static_cast<std::size_t>(partner)]);
    }
    return sums;
}

/// Results of a loop; a part that was not asked for is empty.
struct Found {
    std::vector<double> potential; ///< N
    std::vector<double> field;     ///< N×3
};

/// The relative L2 error of either part over all targets is at most `bar`.
inline void expect_right(const Found& found, const oracle::Result& truth, double bar,
                         const std::string& what) {
    EXPECT_FALSE(found.potential.empty() && found.field.empty()) << what;
    if (!found.potential.empty()) {
        ASSERT_EQ(found.potential.size(), truth.potential.size()) << what;
        EXPECT_LE(oracle::relative_l2(found.potential, truth.potential), bar) << what;
    }
    if (!found.field.empty()) {
        ASSERT_EQ(found.field.size(), truth.field.size()) << what;
        EXPECT_LE(oracle::relative_l2(found.field, truth.field), bar) << what;
    }
}

} // namespace farfield::block_oracle
