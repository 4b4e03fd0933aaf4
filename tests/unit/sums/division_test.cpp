// How a symmetric sum is divided among GPUs, checked without one: the plan of every part is played on random
// numbers, and must give the bits of one part for any number of parts and any workspace.
#include "sums/direct/cuda/division.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace farfield::cuda {
namespace {

// One random number for each slot of the whole ring: what the pair kernel would leave for one body. Sizes
// differ by 12 orders of magnitude, so that any other order of additions shows in the last bits.
std::vector<double> partial_sums(int tiles) {
    std::mt19937 engine(static_cast<unsigned>(tiles));
    std::uniform_real_distribution<double> exponent(-6, 6), value(-1, 1);
    std::vector<double> sums(static_cast<std::size_t>(slots_of(0, tiles / 2, tiles)));
    for (auto& sum : sums) sum = value(engine) * std::pow(10.0, exponent(engine));
    return sums;
}

struct Played {
    std::vector<double> stack;
    double result = 0;
    int most_slots = 0;
    std::vector<int> times; ///< how often each slot was added
};

double add_slots(const std::vector<double>& partials, const Ring& ring, const Slab& slab, const Piece& piece,
                 int group, double sum, std::vector<int>& times) {
    for (int d = ring.first_distance(group); d < ring.first_distance(group + 1); ++d) {
        if (d < piece.nearest || d > piece.farthest) continue;
        EXPECT_GE(d, slab.nearest);
        EXPECT_LE(d, slab.farthest);
        const int count = d == 0 || 2 * d == ring.tiles ? 1 : 2;
        for (int k = 0; k < count; ++k) {
            const auto slot = static_cast<std::size_t>(slot_of(d, 0) + k);
            sum += partials[slot];
            ++times[slot];
        }
    }
    return sum;
}

double add_tree(const std::vector<double>& of_groups) {
    if (of_groups.size() == 1) return of_groups[0];
    const auto middle = of_groups.begin() + static_cast<std::ptrdiff_t>(of_groups.size() / 2);
    return add_tree({of_groups.begin(), middle}) + add_tree({middle, of_groups.end()});
}

void play(const Share& share, const std::vector<double>& partials, Played& played) {
    played.stack.assign(static_cast<std::size_t>(share.depth), std::nan(""));
    auto& stack = played.stack;
    for (const auto& slab : share.slabs) {
        const int slots = slots_of(slab.nearest, slab.farthest, share.ring.tiles);
        EXPECT_LE(slots, share.slots);
        played.most_slots = std::max(played.most_slots, slots);
        for (const auto& piece : slab.pieces) {
            const auto top = static_cast<std::size_t>(piece.position + piece.merges);
            std::vector<double> of_groups;
            for (int g = piece.subtree.first; g < piece.subtree.first + piece.subtree.groups; ++g)
                of_groups.push_back(add_slots(partials, share.ring, slab, piece, g,
                                              piece.resumes ? stack.at(top) : 0.0, played.times));
            double sum = add_tree(of_groups);
            for (int m = piece.merges - 1; m >= 0; --m)
                sum = stack.at(static_cast<std::size_t>(piece.position + m)) + sum;
            (piece.whole ? played.result : stack.at(static_cast<std::size_t>(piece.position))) = sum;
        }
    }
}

double sum_in_parts(int tiles, int parts, int most_slots) {
    const auto partials = partial_sums(tiles);
    const Ring ring = ring_of(tiles);
    Played played;
    played.times.resize(partials.size());
    std::vector<Subtree> subtrees;
    std::vector<double> sums;
    for (int p = 0; p < parts; ++p) {
        const auto share = share_of(ring, p, parts, most_slots);
        play(share, partials, played);
        subtrees.insert(subtrees.end(), share.subtrees.begin(), share.subtrees.end());
        sums.insert(sums.end(), played.stack.begin(),
                    played.stack.begin() + static_cast<std::ptrdiff_t>(share.subtrees.size()));
    }
    EXPECT_LE(played.most_slots, most_slots);
    EXPECT_EQ(played.times, std::vector<int>(partials.size(), 1)) << "each slot once";
    if (parts == 1) return played.result;
    std::vector<double> stack;
    const auto merges = merges_of(subtrees);
    for (std::size_t k = 0; k < sums.size(); ++k) {
        double sum = sums[k];
        for (int m = 0; m < merges[k]; ++m) {
            sum = stack.back() + sum;
            stack.pop_back();
        }
        stack.push_back(sum);
    }
    EXPECT_EQ(stack.size(), 1U);
    return stack.front();
}

TEST(Division, SumsHaveTheSameBitsForAnyPartsAndWorkspace) {
    for (int tiles : {1, 2, 3, 4, 5, 8, 16, 33, 64, 126, 127, 200, 1023, 1024}) {
        const double one = sum_in_parts(tiles, 1, 1 << 20);
        for (int parts : {1, 2, 3, 4, 5, 6, 7, 8, 13, 64})
            for (int most_slots : {2, 3, 5, 16, 17, 64, 65, 300, 1 << 20}) {
                SCOPED_TRACE(testing::Message()
                             << "tiles=" << tiles << " parts=" << parts << " slots=" << most_slots);
                EXPECT_EQ(sum_in_parts(tiles, parts, most_slots), one);
            }
    }
}

TEST(Division, OrderOfAdditionsMattersForTheseNumbers) {
    const auto partials = partial_sums(64);
    double in_order = 0;
    for (double partial : partials) in_order += partial;
    EXPECT_NE(sum_in_parts(64, 1, 1 << 20), in_order); // or the test above would prove nothing
}

TEST(Division, RingsHaveEveryDistanceInOneGroup) {
    for (int tiles = 1; tiles < 600; ++tiles) {
        const Ring ring = ring_of(tiles);
        EXPECT_EQ(ring.first_distance(0), 0);
        EXPECT_EQ(ring.first_distance(ring.groups), tiles / 2 + 1);
        for (int g = 0; g < ring.groups; ++g) EXPECT_LT(ring.first_distance(g), ring.first_distance(g + 1));
        // a pair of tiles has a slot on either side, a tile with itself one: tiles² slots in all, tiles a
        // body
        EXPECT_EQ(slots_of(0, tiles / 2, tiles), tiles);
    }
}

TEST(Division, PartsTakeNearlyEqualWork) {
    // Pairs of tiles; at most one distance more than an equal share, plus half of one at either end of the
    // ring.
    const Ring ring = ring_of(1024);
    for (int parts : {1, 2, 4, 8}) {
        int most = 0;
        for (int p = 0; p < parts; ++p) {
            const auto groups = interval_of_part(ring.groups, p, parts);
            most = std::max(most, slots_of(ring.first_distance(groups.begin),
                                           ring.first_distance(groups.end) - 1, ring.tiles));
        }
        EXPECT_LE(most, 1024 / parts + 1);
    }
}

TEST(Division, BodiesAreDividedWithoutGapOrOverlap) {
    for (int n : {0, 1, 5, 1000, 50001, 2000000000})
        for (int parts : {1, 2, 3, 4, 7, 64}) {
            int end = 0;
            for (int p = 0; p < parts; ++p) {
                const auto range = interval_of_part(n, p, parts);
                EXPECT_EQ(range.begin, end);
                EXPECT_LE(range.size(), n / parts + 1);
                EXPECT_GE(range.size(), n / parts);
                end = range.end;
            }
            EXPECT_EQ(end, n);
        }
}

} // namespace
} // namespace farfield::cuda
