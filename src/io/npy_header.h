// The header of a .npy file: a Python dictionary with the keys descr, fortran_order and shape.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {

struct NpyHeader {
    std::string descr; ///< such as "<f8"; records keep the text of their list, from its "["
    bool fortran_order = false;
    std::vector<std::int64_t> shape;
};

/// @throws InvalidArgument naming `file` where the text is not such a dictionary.
NpyHeader parse_npy_header(std::string_view text, std::string_view file);

} // namespace farfield
