// Errors as tests see them: which class is thrown, and which words its message has.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <initializer_list>
#include <string>

namespace farfield::test {

/// The message of the error that `call` throws; a failure if it is not an `Expected`.
template <class Expected, class Call>
std::string error_of(Call&& call) {
    try {
        call();
    } catch (const Expected& error) {
        return error.what();
    } catch (const std::exception& error) {
        ADD_FAILURE() << "another kind of error: " << error.what();
        return {};
    }
    ADD_FAILURE() << "no error";
    return {};
}

inline void expect_contains(const std::string& text, std::initializer_list<std::string> parts) {
    for (const auto& part : parts)
        EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

} // namespace farfield::test
