// What the tests of files share: a directory of their own and the wording of failures.
#pragma once

#include "expect_error.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace farfield::test {

/// A directory that is empty before each test and gone after it.
class IoTest : public ::testing::Test {
protected:
    void SetUp() override {
        directory_ = std::filesystem::temp_directory_path() /
                     ("farfield-io-" + std::to_string(::getpid()) + "-" +
                      ::testing::UnitTest::GetInstance()->current_test_info()->name());
        std::filesystem::create_directories(directory_);
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }

    [[nodiscard]] std::filesystem::path file(std::string_view name) const { return directory_ / name; }
    [[nodiscard]] std::filesystem::path written(std::string_view name, std::string_view content) const {
        std::ofstream(file(name), std::ios::binary) << content;
        return file(name);
    }

private:
    std::filesystem::path directory_;
};

inline std::string content_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Calls `action` and expects an exception of type E whose message holds every one of `parts`.
template <class E, class Action, class... Parts>
void expect_error(Action action, Parts... parts) {
    expect_contains(error_of<E>(action), {std::string(parts)...});
}

} // namespace farfield::test
