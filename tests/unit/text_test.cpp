#include "base/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

using namespace farfield;

TEST(Text, NearestWordFindsTypos) {
    const std::array<std::string_view, 3> known{"softening", "precision", "method"};
    EXPECT_EQ(nearest_word("softning", known), "softening");
    EXPECT_EQ(nearest_word("PRECISION", known), "precision");
    EXPECT_EQ(nearest_word("mehtod", known), "method");
    EXPECT_EQ(nearest_word("banana", known), "");
}

TEST(Text, SuggestionNamesTheNearestOrAll) {
    const std::array<std::string_view, 2> known{"run", "sum"};
    EXPECT_EQ(suggestion("rum", known), ", did you mean 'run'?");
    EXPECT_EQ(suggestion("elephant", known), "; known: run or sum");
}

TEST(Text, JoinsItemsAsFmtDoes) {
    const std::vector<double> numbers{0.1, 1e300, -2.0, 1.0 / 3.0};
    EXPECT_EQ(joined(numbers, ", "), fmt::format("{}", fmt::join(numbers, ", ")));
    EXPECT_EQ(joined(numbers, " × ", "{:.4g}"), fmt::format("{:.4g}", fmt::join(numbers, " × ")));
    EXPECT_EQ(joined(std::array<std::string_view, 3>{"a", "", "c"}, "+"), "a++c");
    EXPECT_EQ(joined(std::vector<int>{}, ", "), "");
    EXPECT_EQ(joined(std::vector<std::string>{"alone"}, ", "), "alone");
}
