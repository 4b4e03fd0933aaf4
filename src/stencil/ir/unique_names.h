// Names for generated code, close to those of the program.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace farfield::stencil {

class UniqueNames {
public:
    /// What is taken from the start.
    enum class Taken : std::uint8_t { words_of_cpp, those_of_printers_too };
    explicit UniqueNames(Taken taken);
    UniqueNames() : UniqueNames(Taken::those_of_printers_too) {}
    /// `wanted`, with whatever is no letter, digit or underscore replaced; with a number behind it where it
    /// is taken.
    std::string unique(std::string_view wanted);

private:
    std::set<std::string, std::less<>> taken_;
};

} // namespace farfield::stencil
