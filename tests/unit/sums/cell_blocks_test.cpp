// Cells in lanes: what they get from all senders of their octant, against the translation of each sender
// alone.
#include "sums/fmm/cell_blocks.h"

#include "backend/simd/isa.h"
#include "sums/direct/cpu/isa_function.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <type_traits>
#include <vector>

namespace farfield {
namespace {

template <class T>
class CellBlocks : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(CellBlocks, Types);

std::vector<Isa> available_isas() {
    std::vector<Isa> out;
    for (const Isa isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512})
        if (is_available(isa)) out.push_back(isa);
    return out;
}

/// Multipole expansions of all children of all parents: any numbers.
double number_of(int octant, int parent, int function) {
    return std::sin(octant + 8.0 * parent + 0.37 * function + 1.0);
}

template <class T>
AlignedVector<T> sources_of(const CellBlockSources& layout) {
    AlignedVector<T> out(static_cast<std::size_t>(layout.numbers()), T(NAN));
    for (int octant = 0; octant < 8; ++octant)
        for (int f = 0; f < layout.functions; ++f)
            for (int shift = 0; shift < layout.shifts() && !layout.listed; ++shift)
                for (int z = 0; z < layout.side(); ++z)
                    for (int y = 0; y < layout.side(); ++y)
                        for (int x = 0; x < cell_block_side; ++x) {
                            const auto place = octant * layout.octant() + f * layout.function() +
                                               shift * layout.shift() + z * layout.plane() +
                                               y * cell_block_side + x;
                            const auto parent = static_cast<int>(layout.parent(x + shift, y, z));
                            out[static_cast<std::size_t>(place)] =
                                static_cast<T>(number_of(octant, parent, f));
                        }
    // the same parents as lanes of a list
    const int n = layout.shifts();
    for (int octant = 0; octant < 8 && layout.listed; ++octant)
        for (int neighbour = 0; neighbour < n * n * n; ++neighbour)
            for (int f = 0; f < layout.functions; ++f)
                for (int lane = 0; lane < cell_block_lanes; ++lane) {
                    const auto parent = static_cast<int>(layout.parent(lane % 4 + neighbour % n,
                                                                       lane / 4 % 4 + neighbour / n % n,
                                                                       lane / 16 + neighbour / (n * n)));
                    const auto place = layout.place(octant, neighbour) + f * layout.function() + lane;
                    out[static_cast<std::size_t>(place)] = static_cast<T>(number_of(octant, parent, f));
                }
    return out;
}

/// What the cell of an octant at x, y, z of the block gets, in double: sender after sender.
std::vector<double> expected_of(const FmmOrder& order, const HarmonicBasis& basis,
                                const CellBlockSources& layout, int octant, const std::array<int, 3>& at) {
    const int reach = 2 * order.separation + 1;
    std::vector<double> out(static_cast<std::size_t>(layout.functions), 0.0);
    for (int c = -reach; c <= reach; ++c)
        for (int b = -reach; b <= reach; ++b)
            for (int a = -reach; a <= reach; ++a) {
                const std::array<int, 3> to_source{a, b, c};
                if (std::max({std::abs(a), std::abs(b), std::abs(c)}) <= order.separation) continue;
                std::array<int, 3> parent{};
                int from = 0;
                bool there = true;
                for (std::size_t axis = 0; axis < 3; ++axis) {
                    const int cell = 2 * at[axis] + (octant >> axis & 1) + to_source[axis];
                    parent[axis] = static_cast<int>(std::floor(cell / 2.0));
                    there = there && std::abs(parent[axis] - at[axis]) <= order.separation;
                    from |= (cell & 1) << axis;
                }
                if (!there) continue;
                const int degree = graded_degree(order, {std::abs(a), std::abs(b), std::abs(c)});
                const MultipoleToLocal entry(degree, {-1.0 * a, -1.0 * b, -1.0 * c});
                const auto place =
                    static_cast<int>(layout.parent(parent[0] + order.separation, parent[1] + order.separation,
                                                   parent[2] + order.separation));
                for (int i = 0; i < layout.functions; ++i)
                    for (int j = 0; j < layout.functions; ++j)
                        if (basis.at(i).degree <= degree && basis.at(j).degree <= degree)
                            out[static_cast<std::size_t>(i)] +=
                                entry(basis.at(i), basis.at(j)) * number_of(from, place, j);
            }
    return out;
}

template <class T>
void check_block(const FmmOrder& order, CellGroup::Way way, std::uint64_t lanes, int octant) {
    constexpr double tolerance = std::is_same_v<T, double> ? 1e-13 : 2e-5;
    const auto operators = fmm_operators<T>(order, 1);
    const CellBlockSenders<T> senders(*operators, order.separation);
    const auto layout = senders.layout(way);
    const HarmonicBasis basis(order.order, numbers_a_line<T>);
    const auto sources = sources_of<T>(layout);
    const int n = layout.shifts();
    const std::vector<char> there(static_cast<std::size_t>(8 * n * n * n), 1);
    const auto images = senders.images(3, octant, layout, there);
    std::map<int, std::vector<double>> expected;
    for (int lane = 0; lane < cell_block_lanes; ++lane)
        if ((lanes >> lane & 1) != 0)
            expected[lane] = expected_of(order, basis, layout, octant, {lane % 4, lane / 4 % 4, lane / 16});
    for (const Isa isa : available_isas()) {
        AlignedVector<T> sums(static_cast<std::size_t>(layout.functions) * cell_block_lanes, T(1));
        AlignedVector<T> scratch(static_cast<std::size_t>(cell_block_scratch(basis.size())), T(NAN));
        CellBlockTask task{.wide = std::is_same_v<T, double>,
                           .size = basis.size(),
                           .lanes = lanes,
                           .sources = sources.data(),
                           .function = layout.function(),
                           .plane = layout.plane(),
                           .images = images.data(),
                           .count = static_cast<std::int64_t>(images.size()),
                           .sums = sums.data(),
                           .scratch = scratch.data()};
        for (int parity = 0; parity <= parities; ++parity)
            task.class_begin[parity] = basis.class_begin(parity);
        FF_ISA_FUNCTION(ff_cell_block, isa)(&task);
        for (const auto& [lane, of_lane] : expected) {
            double norm = 0.0, error = 0.0;
            for (std::size_t i = 0; i < of_lane.size(); ++i) {
                const double found = sums[i * cell_block_lanes + static_cast<std::size_t>(lane)];
                norm += of_lane[i] * of_lane[i];
                error += std::pow(found - 1.0 - of_lane[i], 2);
            }
            EXPECT_GT(norm, 0.0);
            EXPECT_LE(std::sqrt(error / norm), tolerance)
                << name_of(isa) << ", order " << order.order << ", lane " << lane;
        }
    }
}

TYPED_TEST(CellBlocks, EachLaneGetsWhatAllSendersOfItsOctantSend) {
    using T = TypeParam;
    for (const auto way : {CellGroup::Way::block, CellGroup::Way::listed}) {
        for (const int order : {1, 4, 7})
            for (const int octant : {0, 3, 6})
                check_block<T>({.order = order}, way, 0x8000000000000001, octant);
        check_block<T>({.order = 4, .grading = 0.0}, way, ~std::uint64_t{0}, 5);
        check_block<T>({.order = 4, .m2l = M2L::matrix}, way, 0x00f0000000008421, 2); // empty vectors
        check_block<T>({.order = 3, .separation = 2}, way, 0x0000300000000020, 7);
    }
}

// The 189 offsets of separation 1, each in one of the sets of mirror images; none where nobody sends.
TEST(CellBlocksOfAll, EachSenderIsThereOnce) {
    for (const auto m2l : {M2L::mirrored, M2L::matrix})
        for (int octant = 0; octant < 8; ++octant) {
            const auto operators = fmm_operators<double>({.order = 2, .m2l = m2l}, 1);
            const CellBlockSenders<double> senders(*operators, 1);
            const auto layout = senders.layout(CellGroup::Way::block);
            std::map<std::int64_t, int> places;
            for (const auto& images : senders.images(1, octant, layout, std::vector<char>(216, 1)))
                for (int q = 0; q < 1 << __builtin_popcount(static_cast<unsigned>(images.free)); ++q)
                    ++places[images.place[q]];
            EXPECT_EQ(places.size(), 189U);
            for (const auto& [place, times] : places) EXPECT_EQ(times, 1) << place;
            EXPECT_TRUE(senders.images(1, octant, layout, std::vector<char>(216, 0)).empty());
        }
}

} // namespace
} // namespace farfield
