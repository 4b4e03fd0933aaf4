// How far expansions of 1/|x − y| can be from it, in widths of a cell. README.md, "Guaranteed bounds", has
// the derivation. Potentials are of unit charges, or of unit dipoles where a bound is differentiated at the
// source.
#pragma once

#include <array>
#include <cstddef>

namespace farfield {

/// How often a bound is differentiated.
struct BoundOf {
    std::size_t source = 0; ///< 0: charges, 1: dipoles
    std::size_t target = 0; ///< 0: potential, 1: field, 2: Hessian, in Frobenius' norm
};

/// Σ_{l>p} ∂^m/∂a^m ∂^n/∂(−R)^n a^l/R^(l+1), m + n ≤ 3: what is missing of the multipole expansion of a
/// source at the distance a from its centre, R from there; or of a local expansion, inside out. Infinite for
/// a ≥ R.
/// @pre order ≥ m − 1
double expansion_tail(int order, double inner, double outer, std::size_t of_inner, std::size_t of_outer);

/// The largest error of a multipole expansion (M2P) of a source at `inner` from its centre, at `outer` from
/// it.
double multipole_error(int order, double inner, double outer, BoundOf what);

/// The largest error of the local expansion (P2L) of a source at `outer` from the cell's centre, at `inner`.
double local_error(int order, double inner, double outer, BoundOf what);

/// The largest error of a translation (M2L) that keeps degrees up to `degree` on both sides, of a source at
/// the distance `a` from its centre, at a target at `b` from its own, centres `distance` apart.
double translation_error(int degree, double a, double b, double distance, BoundOf what);

/// At least the sum of the magnitudes of all products in that translation: what rounding errors scale with.
double translation_size(int degree, double a, double b, double distance, BoundOf what);

/// The same of a multipole or a local expansion; `of_inner`, `of_outer`: how often it is differentiated.
double expansion_size(int order, double inner, double outer, std::size_t of_inner, std::size_t of_outer);

/// Distances from a cell's centre, from 0 to its corner, finer towards it. Bounds are convex in both
/// distances, so that a weight may be shared by the two nodes around its place: bounds only grow by that.
constexpr std::size_t radius_nodes = 12;
double radius_node(std::size_t node);

struct RadiusShare {
    std::size_t node = 0; ///< this one and the next
    double upper = 0.0;   ///< the next one's share
};
/// Of a point at this distance; beyond the corner, where rounding may leave it, it counts as at the corner.
RadiusShare radius_share(double radius);

/// The distance of a cube's corner from its centre, with room for points that rounding left outside.
inline constexpr double corner_radius = 0.8660254037844387 * (1.0 + 1e-6);

} // namespace farfield
