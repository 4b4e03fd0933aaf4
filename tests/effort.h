// How much of a test runs where every instruction is watched, and where a change waits for its tests.
#pragma once

#include <cstdlib>
#include <string_view>

namespace farfield::test {

/// FARFIELD_FEWER_TESTS=1: `./dev test` asks sanitizers for every path once, and for repetitions and accuracy
/// without them. With --all, and where ctest runs alone, everything is repeated.
inline bool fewer() {
    const char* value = std::getenv("FARFIELD_FEWER_TESTS");
    return value != nullptr && std::string_view(value) == "1";
}

/// FARFIELD_SHORTER_TESTS=1: `./dev test` takes smaller inputs and shorter runs in the longest tests. With
/// --all, and where ctest runs alone, nothing is shorter; under sanitizers everything is that can be.
inline bool shorter() {
    const char* value = std::getenv("FARFIELD_SHORTER_TESTS");
    return fewer() || (value != nullptr && std::string_view(value) == "1");
}

/// `all` of something, or `some` of it where fewer will do.
template <class T>
T sized(T all, T some) {
    return fewer() ? some : all;
}

} // namespace farfield::test
