// Of a text of functions, those that a code uses: what generated code carries along.
#pragma once

#include <string>
#include <string_view>

namespace farfield::stencil::codegen {

/// The declarations of `library` that `code` mentions by name, and those that these mention, in their order
/// with their remarks. Declarations stand at the left margin, in no namespace or one at a time; `#if …
/// #endif` is kept or left out as a whole. With a `prefix`, only names behind it count as mentioned by
/// `code`.
std::string used_functions(std::string_view library, std::string_view code, std::string_view prefix = {});

} // namespace farfield::stencil::codegen
