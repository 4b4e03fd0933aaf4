// Where arrays get their memory.
#include "base/aligned.h"
#include "base/work_array.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace farfield {
namespace {

std::uintptr_t place_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

TEST(ArrayMemory, StartsOnACacheLineAndWhereLargeOnAHugePage) {
    constexpr std::size_t huge_page = std::size_t{1} << 21;
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{1000}, 2 * huge_page - 8, 2 * huge_page, 5 * huge_page + 24}) {
        auto* const memory = static_cast<std::byte*>(allocate_array(bytes));
        EXPECT_EQ(place_of(memory) % (bytes < 2 * huge_page ? 64 : huge_page), 0U) << bytes;
        std::fill_n(memory, bytes, std::byte{7});
        EXPECT_EQ(memory[bytes - 1], std::byte{7});
        free_array(memory, bytes);
    }
}

TEST(ArrayMemory, ServesVectorsThatGrow) {
    AlignedVector<double> values;
    for (int i = 0; i < 700000; ++i) values.push_back(i); // past 4 MB
    EXPECT_EQ(values[699999], 699999.0);
    EXPECT_EQ(values[1], 1.0);
    EXPECT_EQ(place_of(values.data()) % 64, 0U);
}

TEST(WorkArray, KeepsItsMemoryWhereItSuffices) {
    WorkArray array;
    EXPECT_EQ(array.take(0), nullptr);
    double* const first = array.take(1000);
    first[999] = 5.0;
    EXPECT_EQ(array.take(10), first);
    EXPECT_EQ(array.take(1000)[999], 5.0);
    double* const more = array.take(600000);
    more[599999] = 6.0;
    EXPECT_EQ(array.take(600000), more);
}

} // namespace
} // namespace farfield
