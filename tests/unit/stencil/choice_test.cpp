// What is kept of measurements between runs.
#include "stencil/tuning/choice.h"

#include "backend/jit/cache_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace farfield::stencil {
namespace {

class KeptChoice : public testing::Test {
protected:
    void SetUp() override {
        folder_ =
            std::filesystem::path(testing::TempDir()) /
            (std::string("farfield_choice_") + testing::UnitTest::GetInstance()->current_test_info()->name());
        std::filesystem::remove_all(folder_);
        setenv("FARFIELD_CACHE", folder_.c_str(), 1);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::filesystem::path folder_;
};

TEST_F(KeptChoice, ComesBack) {
    const auto name = choice_name("step: a", "cpu", {});
    EXPECT_FALSE(read_choice(name));
    write_choice(name, {Mask::branch, 8, {32, 4, 1}, false, 1.5e9});
    const auto choice = read_choice(name);
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->mask, Mask::branch);
    EXPECT_EQ(choice->time_tile, 8);
    EXPECT_EQ(choice->block, (std::array<int, 3>{32, 4, 1}));
    EXPECT_FALSE(choice->fuse);
    EXPECT_EQ(choice->cell_steps_per_second, 1.5e9);
}

TEST_F(KeptChoice, BelongsToAProgramATargetAndAMachine) {
    const auto name = choice_name("step: a", "cpu", {});
    ExecutorOptions fewer;
    fewer.threads = 1;
    ExecutorOptions more;
    more.threads = 3;
    EXPECT_NE(choice_name("step: b", "cpu", {}), name);
    EXPECT_NE(choice_name("step: a", "cuda", {}), name);
    EXPECT_NE(choice_name("step: a", "cpu", more), choice_name("step: a", "cpu", fewer));
    ExecutorOptions masked; // what is chosen does not decide where it is kept
    masked.mask = Mask::none;
    masked.time_tile = 4;
    EXPECT_EQ(choice_name("step: a", "cpu", masked), name);
}

TEST_F(KeptChoice, DamageIsNoChoice) {
    const auto name = choice_name("step: a", "cpu", {});
    const auto folder = jit::CacheFolder::open();
    for (const auto* text : {"", "another file", "farfield stencil choice 1\n3 8",
                             "farfield stencil choice 1\n99 1 0 0 0 1 1\n"}) {
        folder.write(name, text);
        EXPECT_FALSE(read_choice(name)) << text;
    }
}

TEST_F(KeptChoice, WhatTheUserSaysCounts) {
    const Choice choice{Mask::branch, 8, {32, 4, 1}, false, 1};
    EXPECT_EQ(with_choice({}, choice).time_tile, 8);
    EXPECT_EQ(with_choice({}, choice).mask, Mask::branch);
    EXPECT_EQ(with_choice({}, std::nullopt).mask, Mask::automatic);
    ExecutorOptions given;
    given.block = {64, 2, 1};
    EXPECT_EQ(with_choice(given, choice).block, given.block);
    EXPECT_EQ(with_choice(given, choice).time_tile, 0);
}

} // namespace
} // namespace farfield::stencil
