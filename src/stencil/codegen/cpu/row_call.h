// What generated row functions are given. The text of the struct in generated code is `row_call_text`; the
// two agree member by member.
#pragma once

#include <string_view>

namespace farfield::stencil::codegen {

/// One row of a kernel or record: cells (·, y, z).
struct RowCall {
    void* const* at = nullptr;        ///< a row of values for each slot of the function
    const long long* spans = nullptr; ///< first, last of each interval of cells
    long long span_count = 0;
    const void* mask = nullptr;       ///< strategies with a mask: an entry for each x
    double* out = nullptr;            ///< records: see RecordFunction
    const double* uniforms = nullptr; ///< Program::uniforms in this step
    double t = 0;
    long long step = 0;
    long long y = 0;
    long long z = 0;
};

inline constexpr std::string_view row_call_text = R"(struct RowCall {
    void* const* at;
    const long long* spans;
    long long span_count;
    const void* mask;
    double* out;
    const double* uniforms;
    double t;
    long long step;
    long long y;
    long long z;
};
)";

using RowFunctionPointer = void(const RowCall*);

} // namespace farfield::stencil::codegen
