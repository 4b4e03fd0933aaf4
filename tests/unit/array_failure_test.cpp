// An array that the system has no memory for. Sanitizers end a program that asks for so much.
#include "base/array_memory.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <new>

namespace farfield {
namespace {

TEST(ArrayFailure, LeavesNoMoreToBeHeld) {
    const auto before = large_arrays();
    constexpr std::size_t too_much = std::size_t{1} << 60;
    EXPECT_THROW(free_array(allocate_array(too_much), too_much), std::bad_alloc);
    EXPECT_EQ(large_arrays().in_use, before.in_use);
    EXPECT_EQ(large_arrays().most_in_use, before.most_in_use);
}

} // namespace
} // namespace farfield
