// For a charge in a region whose border lies at R(Ω), far away beside ε, with d = 1/√(r² + ε²) − 1/r:
//   ∫ d dV = −2π ε² (ln(2/ε) − ½) − ½ ε² ∫ ln R dΩ + O(ε⁴),
// from the ball r < ρ, where ∫ d dV = 2πρ(√(ρ² + ε²) − ρ) − 2π ε² asinh(ρ/ε), and d = −ε²/2r³ beyond. The
// differences of a target and the near images of a source fill a rectangular region, whose faces give
// ∫ ln R dΩ.
#include "sums/lattice/images/softened_mean.h"

#include <cmath>
#include <numbers>
#include <vector>

namespace farfield {
namespace {

/// Gauss's and Legendre's rule of five nodes on 0 … 1.
constexpr int rule_size = 5;
constexpr double rule_node[rule_size] = {0.046910077030668, 0.230765344947158, 0.5, 0.769234655052842,
                                         0.953089922969332};
constexpr double rule_weight[rule_size] = {0.118463442528095, 0.239314335249683, 0.284444444444444,
                                           0.239314335249683, 0.118463442528095};

/// ∫ ln R dΩ over the part of an octant that sees the face at a, from 0 to b and c along the others, in
/// y = a sinh u, z = a sinh v.
double of_face(double a, double b, double c) {
    constexpr int parts = 2;
    const double wide = std::asinh(b / a) / parts, high = std::asinh(c / a) / parts;
    double sum = 0.0;
    for (int i = 0; i < parts * rule_size; ++i)
        for (int j = 0; j < parts * rule_size; ++j) {
            const double u = wide * (i / rule_size + rule_node[i % rule_size]);
            const double v = high * (j / rule_size + rule_node[j % rule_size]);
            const double y = std::sinh(u), z = std::sinh(v);
            const double square = 1.0 + y * y + z * z;
            sum += rule_weight[i % rule_size] * rule_weight[j % rule_size] * std::cosh(u) * std::cosh(v) *
                   (std::log(a) + 0.5 * std::log(square)) / (square * std::sqrt(square));
        }
    return wide * high * sum;
}

/// How far a source's region reaches to one side, and how often; sources and both sides are alike.
struct Reach {
    double length, weight;
};

std::vector<Reach> reaches(const ImageGrid& grid, std::size_t axis) {
    constexpr double nodes[2] = {0.211324865405187, 0.788675134594813};
    std::vector<Reach> out;
    for (int cell = 0; cell < grid.cells[axis]; ++cell)
        for (const double node : nodes)
            out.push_back({(cell + node) * grid.side(axis) + grid.near(cell, axis).last * grid.period[axis],
                           1.0 / grid.cells[axis]}); // both sides, each half as often
    return out;
}

} // namespace

double softened_mean(const ImageGrid& grid, double softening) {
    if (softening == 0.0) return 0.0;
    double logarithms = 0.0; // ∫ ln R dΩ
    const auto along_x = reaches(grid, 0), along_y = reaches(grid, 1), along_z = reaches(grid, 2);
    for (const auto& x : along_x)
        for (const auto& y : along_y)
            for (const auto& z : along_z)
                logarithms += x.weight * y.weight * z.weight *
                              (of_face(x.length, y.length, z.length) + of_face(y.length, z.length, x.length) +
                               of_face(z.length, x.length, y.length));
    const double square = softening * softening;
    const double volume = grid.period[0] * grid.period[1] * grid.period[2];
    return -square * (2.0 * std::numbers::pi * (std::log(2.0 / softening) - 0.5) + 0.5 * logarithms) / volume;
}

} // namespace farfield
