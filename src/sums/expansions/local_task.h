// What crosses the border to the loops of local expansions (local.h), compiled once for each instruction set.
// Numbers are float or double, as `wide` says.
#pragma once

#include <cstdint>

namespace farfield {

/// Arrays are padded to a multiple of this.
constexpr std::int64_t local_lanes = 16;

/// Adds the sums that `count` monopoles have about a centre.
struct LocalSumsTask {
    bool wide = true;
    std::int64_t count = 0;
    const void* d[3] = {nullptr, nullptr, nullptr}; ///< from the centre; padding lies apart from it
    const void* strength = nullptr;                 ///< 0 in padding
    double softening2 = 0.0;
    double unit = 1.0;      ///< h
    double* sums = nullptr; ///< local_sums
};

/// Adds values of a local expansion at targets.
struct LocalValuesTask {
    bool wide = true;
    bool potential = true;         ///< wanted, beside the field
    const void* numbers = nullptr; ///< local_value_numbers
    std::int64_t targets = 0;
    const void* s[3] = {nullptr, nullptr, nullptr}; ///< offsets of targets in units of h
    double* potential_sums = nullptr;               ///< of each target; null without potential
    double* field_sums[3] = {nullptr, nullptr, nullptr};
};

extern "C" {
void ff_local_sums_scalar(const LocalSumsTask*);
void ff_local_sums_sse42(const LocalSumsTask*);
void ff_local_sums_avx2(const LocalSumsTask*);
void ff_local_sums_avx512(const LocalSumsTask*);
void ff_local_values_scalar(const LocalValuesTask*);
void ff_local_values_sse42(const LocalValuesTask*);
void ff_local_values_avx2(const LocalValuesTask*);
void ff_local_values_avx512(const LocalValuesTask*);
}

} // namespace farfield
