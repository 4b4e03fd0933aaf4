// The front over slabs: several steps in blocks of threads are what plain loops give, also where a block is
// late, and nobody waits for a block that failed.
#include "stencil/runtime/cpu/wavefront.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

namespace farfield::stencil::cpu {
namespace {

constexpr int wavefront_steps = 4;
constexpr std::int64_t slabs = 64;
constexpr std::int64_t late = 48; // from this slab on, the upper block of two or three

using Field = std::vector<std::uint64_t>;
using Copies = std::array<Field, 2>;

Copies initial_copies() {
    Field field(slabs);
    for (std::size_t s = 0; s < field.size(); ++s) field[s] = s * s + 1;
    return {field, Field(slabs)};
}

// Step `item` of a slab: a sum over it and its neighbours, from one copy into the other.
void step(Copies& copies, int item, std::int64_t slab) {
    const auto& from = copies[item % 2 == 0 ? 0 : 1];
    const auto s = static_cast<std::size_t>(slab);
    auto sum = 3 * from[s];
    if (s > 0) sum += from[s - 1];
    if (s + 1 < from.size()) sum += 2 * from[s + 1];
    copies[item % 2 == 0 ? 1 : 0][s] = sum;
}

Field by_loops() {
    auto copies = initial_copies();
    for (int item = 0; item < wavefront_steps; ++item)
        for (std::int64_t slab = 0; slab < slabs; ++slab) step(copies, item, slab);
    return copies[wavefront_steps % 2];
}

Wavefront front_of(int threads) {
    std::vector<Entry> entries;
    for (int item = 0; item < wavefront_steps; ++item)
        entries.push_back({{{item % 2, -1, 1, false}, {(item + 1) % 2, 0, 0, true}}, false, 0, slabs});
    return Wavefront::plan(entries, {}, std::vector<std::int64_t>(slabs, 1), threads).value();
}

TEST(Wavefront, WaitsForALateBlock) {
    const auto expected = by_loops();
    for (const int threads : {1, 2, 3, 4})
        for (const int stride : {1, 3}) {
            auto copies = initial_copies();
            front_of(threads).run(stride, [&](int item, std::int64_t first, std::int64_t last) {
                if (item == 0 && last > late) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                for (auto slab = first; slab < last; ++slab) step(copies, item, slab);
            });
            EXPECT_EQ(copies[wavefront_steps % 2], expected) << threads << " threads, stride " << stride;
        }
}

TEST(Wavefront, RethrowsWhatABlockThrows) {
    for (const int threads : {1, 2, 4})
        EXPECT_THROW(front_of(threads).run(1,
                                           [](int, std::int64_t, std::int64_t last) {
                                               if (last > late) throw std::runtime_error("a block");
                                           }),
                     std::runtime_error);
}

} // namespace
} // namespace farfield::stencil::cpu
