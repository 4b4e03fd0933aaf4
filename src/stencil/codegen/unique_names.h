// Names for generated code, close to those of the program.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace farfield::stencil::codegen {

class UniqueNames {
public:
    /// Words of C++ and those that the printers use themselves are taken from the start.
    UniqueNames();
    /// `wanted`, with whatever is no letter, digit or underscore replaced; with a number behind it where it
    /// is taken.
    std::string unique(std::string_view wanted);

private:
    std::set<std::string, std::less<>> taken_;
};

} // namespace farfield::stencil::codegen
