// What the tests of files share: a directory of their own and the wording of failures.
#pragma once

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
    try {
        action();
    } catch (const E& error) {
        const std::string message = error.what();
        for (std::string_view part : {std::string_view(parts)...})
            EXPECT_NE(message.find(part), std::string::npos) << "expected \"" << part << "\" in: " << message;
        return;
    } catch (const std::exception& error) {
        FAIL() << "another kind of error was thrown: " << error.what();
    }
    FAIL() << "nothing was thrown";
}

} // namespace farfield::test
