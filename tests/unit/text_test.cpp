#include "base/text.h"

#include <gtest/gtest.h>

#include <array>

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
