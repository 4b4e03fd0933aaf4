// The cost table: what work costs on a kind of machine, as coefficients with names. Choices left to the
// library compare times that follow from it, so that they are pure functions of options, sizes, machine and
// table: no clock decides bits. The table changes only when `farfield tune` writes another (cost_file.h).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace farfield {

/// Positive finite numbers by name: seconds, and bytes or directed pairs a second. A name consists of words
/// with dots between; the word after "gpu" is the model (`cost_word` of its name) or "generic".
struct CostTable {
    std::map<std::string, double, std::less<>> costs;
    friend bool operator==(const CostTable&, const CostTable&) = default;
};

/// The table that comes with this version; shipped_costs.cpp names the source of each figure.
CostTable shipped_cost_table();

/// `base` with the coefficients of `other` in place of its own.
CostTable overlaid(CostTable base, const CostTable& other);

/// A line "name = value" for each coefficient, sorted by name; values have as many digits as bring back the
/// same bits.
std::string to_text(const CostTable& table);

/// FNV-1a, 64 bits, of `to_text`, as 16 hexadecimal digits.
std::string hash_of(const CostTable& table);

/// A name as a word of the table: lower-case letters, digits and '_' for all else ("NVIDIA H200" becomes
/// "nvidia_h200").
std::string cost_word(std::string_view name);

/// `pattern` with `model` in place of its word MODEL.
std::string of_model(std::string_view pattern, std::string_view model);

/// The coefficient `name`. @throws InternalError where the table has none.
double cost_of(const CostTable& table, std::string_view name);

/// The coefficient of a GPU by the name that CUDA gives it: `pattern` with the most specific model of the
/// table whose words are part of that name, or "generic".
double cost_of_gpu(const CostTable& table, std::string_view pattern, std::string_view gpu_name);

} // namespace farfield
