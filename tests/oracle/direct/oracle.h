// The direct sum in long double, written from the equations alone; it shares no code with the library.
//   φ(x) = s Σ q / √(|x − y|² + ε²),  field(x) = −∇φ = s Σ q (x − y) / (|x − y|² + ε²)^(3/2),
// s = −1 for gravity, +1 for Coulomb; and their second derivatives and those of dipoles. Also the point sets
// that the tests use.
#pragma once

#include <cstdint>
#include <vector>

namespace oracle {

struct Points {
    std::vector<double> xyz; ///< N×3
    std::vector<double> q;   ///< N
    std::vector<double> p{}; ///< dipoles N×3; empty: none
    [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(q.size()); }
};

/// A Plummer sphere (Plummer 1911) of scale length 1 and equal masses 1/n.
Points plummer(std::int64_t n, std::uint64_t seed);
/// Uniform in the cube [−1, 1]³, strengths uniform in [0.5, 1.5]/n.
Points uniform_cube(std::int64_t n, std::uint64_t seed);
/// Every coordinate and strength rounded to float.
Points rounded_to_float(Points points);
/// The given rows.
Points rows(const Points& points, const std::vector<std::int64_t>& which);
/// The other rows.
Points without_rows(const Points& points, const std::vector<std::int64_t>& which);

struct Result {
    std::vector<long double> potential; ///< M
    std::vector<long double> field;     ///< M×3
    std::vector<long double> hessian;   ///< M×6: xx, xy, xz, yy, yz, zz; empty unless asked for
};

/// At targets M×3; no target may sit on a source.
Result direct(const Points& sources, const std::vector<double>& targets, long double softening,
              long double sign, bool with_hessian = false);
/// At the sources themselves, no point acting on itself.
Result direct_self(const Points& points, long double softening, long double sign, bool with_hessian = false);

/// ‖a − b‖₂ / ‖b‖₂ over all entries.
double relative_l2(const std::vector<double>& a, const std::vector<long double>& b);

/// The same for rows of six numbers of symmetric matrices, in Frobenius' norm.
double relative_frobenius(const std::vector<double>& a, const std::vector<long double>& b);

} // namespace oracle
