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

constexpr std::size_t megabyte = std::size_t{1} << 20;
TEST(ArrayMemory, GivesALargeArrayThatWasFreedToTheNextOfItsSize) {
    free_array(allocate_array(40 * megabyte), 40 * megabyte); // so much may be held from now on
    const auto before = large_arrays();
    auto* const first = static_cast<std::byte*>(allocate_array(9 * megabyte));
    std::fill_n(first, 9 * megabyte, std::byte{1});
    EXPECT_EQ(large_arrays().in_use - before.in_use, 10 * megabyte);
    free_array(first, 9 * megabyte);
    EXPECT_EQ(large_arrays().in_use, before.in_use);
    auto* const other_size = static_cast<std::byte*>(allocate_array(5 * megabyte));
    auto* const second = static_cast<std::byte*>(allocate_array(9 * megabyte + 1000));
    EXPECT_NE(other_size, first);
    if (keeps_arrays) {
        EXPECT_EQ(second, first);
    }
    std::fill_n(second, 9 * megabyte + 1000, std::byte{2});
    std::fill_n(other_size, 5 * megabyte, std::byte{3});
    EXPECT_EQ(second[9 * megabyte], std::byte{2});
    free_array(other_size, 5 * megabyte);
    free_array(second, 9 * megabyte + 1000);
}

TEST(ArrayMemory, HoldsNoMoreThanWasInUseAtOnce) {
    for (std::size_t size = 2; size < 60; size += 3) {
        void* const one = allocate_array(size * megabyte);
        void* const two = allocate_array((62 - size) * megabyte);
        free_array(two, (62 - size) * megabyte);
        void* const three = allocate_array(size / 2 * megabyte + 2 * megabyte);
        const auto now = large_arrays();
        EXPECT_LE(now.in_use + now.kept, now.most_in_use);
        free_array(three, size / 2 * megabyte + 2 * megabyte);
        free_array(one, size * megabyte);
    }
    const auto now = large_arrays();
    EXPECT_LE(now.in_use + now.kept, now.most_in_use);
    EXPECT_EQ(now.kept > 0, keeps_arrays);
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
