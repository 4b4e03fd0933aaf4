// What kernels of a GPU do with plain operators, number by number on the host.
#pragma once

#include "sums/expansions/function_values.h"
#include "sums/fmm/plain_operators.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace farfield::test {

using Point = std::array<double, 3>;

/// Each function of the loop at a point, in widths of the cell.
inline std::vector<double> looped(const PlainFunctions<double>& of, const Point& at) {
    FunctionLoop loop;
    loop.functions = of.functions;
    loop.order = of.order;
    loop.pairs = of.pairs;
    loop.diagonal = of.diagonal.data();
    loop.climb = of.climb.data();
    loop.climb_back = of.climb_back.data();
    std::vector<double> out(of.places.size());
    const auto put = [&](int t, const double& first, const double& second) {
        out[static_cast<std::size_t>(2 * t)] = first;
        out[static_cast<std::size_t>(2 * t + 1)] = second;
    };
    if (loop.functions == Functions::harmonics)
        each_harmonic<double>(loop, at[0], at[1], at[2], put);
    else
        each_polynomial<double>(loop, at[0], at[1], at[2], put);
    return out;
}

/// The same in the order of degrees.
inline std::vector<double> functions_at(const PlainOperators<double>& of, const Point& at) {
    const auto values = looped(of.inside, at);
    std::vector<double> out(static_cast<std::size_t>(of.size));
    for (std::size_t n = 0; n < values.size(); ++n)
        if (of.inside.places[n] >= 0) out[static_cast<std::size_t>(of.inside.places[n])] = values[n];
    return out;
}

/// Row `row` of a sparse matrix times x.
inline double row_product(const SparseRows<double>& rows, std::size_t row, const std::vector<double>& x) {
    double sum = 0.0;
    for (auto k = static_cast<std::size_t>(rows.first[row]);
         k < static_cast<std::size_t>(rows.first[row + 1]); ++k)
        sum += rows.weight[k] * x[static_cast<std::size_t>(rows.from[k])];
    return sum;
}

/// u/|u|², and 1/|u|.
struct Inverted {
    explicit Inverted(const Point& u) : weight(1.0 / std::hypot(u[0], u[1], u[2])) {
        for (std::size_t axis = 0; axis < 3; ++axis) at[axis] = u[axis] * weight * weight;
    }
    Point at{};
    double weight;
};

/// A set of an expansion at a point; with `outside` functions as multipole expansions have them there.
inline double set_at(const PlainFunctions<double>& of, std::size_t set, const std::vector<double>& expansion,
                     const Point& at, bool outside) {
    const Inverted inverted(at);
    const auto functions = looped(of, outside ? inverted.at : at);
    double sum = 0.0;
    for (std::size_t n = 0; n < functions.size(); ++n)
        sum += row_product(of.sets, set * functions.size() + n, expansion) * functions[n];
    return outside ? sum * inverted.weight : sum;
}

/// D A D x, of the mirror image D.
template <class T>
std::vector<double> product(const PlainOperators<T>& of, const typename PlainOperators<T>::Matrix& matrix,
                            int mirror, const std::vector<double>& x) {
    std::vector<double> out(x.size(), 0.0);
    const auto* signs = of.signs.data() + static_cast<std::ptrdiff_t>(mirror) * of.stride;
    for (int k = 0; k < matrix.size; ++k)
        for (int i = 0; i < matrix.size; ++i)
            out[static_cast<std::size_t>(i)] +=
                static_cast<double>(signs[i]) *
                static_cast<double>(
                    of.matrices[static_cast<std::size_t>(matrix.begin + k * matrix.rows + i)]) *
                static_cast<double>(signs[k]) * x[static_cast<std::size_t>(k)];
    return out;
}

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

/// Of the sender from a target of the group, in cells, at separation 1.
inline std::array<int, 3> offset_of(const Sender& sender, int group) {
    std::array<int, 3> offset{};
    for (int axis = 0, slot = sender.place >> 3; axis < 3; ++axis, slot /= 3)
        offset[static_cast<std::size_t>(axis)] =
            group == coarse_group ? (sender.place >> 8 * axis & 255) - 128
                                  : 2 * (slot % 3 - 1) + (sender.place >> axis & 1) - (group >> axis & 1);
    return offset;
}

/// From u in a cell to v in one that lies `offset` cells from it.
inline double squared_distance(const Point& u, const Point& v, const std::array<int, 3>& offset) {
    double r2 = 0.0;
    for (std::size_t axis = 0; axis < 3; ++axis) r2 += std::pow(u[axis] - v[axis] - offset[axis], 2);
    return r2;
}

inline std::vector<double> any_expansion(const PlainOperators<double>& of) {
    std::mt19937 engine(5);
    std::normal_distribution<double> normal;
    std::vector<double> out(static_cast<std::size_t>(of.size));
    for (auto& x : out) x = normal(engine);
    return out;
}

/// A point's multipole expansion moves to the parent of its cell, and a local expansion to a child, by
/// octant.
inline void expect_moves_in_family(const PlainOperators<double>& of) {
    const auto local = any_expansion(of);
    for (int octant = 0; octant < 8; ++octant) {
        const Point v{0.3, -0.4, 0.1}; // in widths of the child, from its centre
        Point in_parent{};
        for (std::size_t axis = 0; axis < 3; ++axis)
            in_parent[axis] = 0.5 * v[axis] + ((octant >> axis & 1) != 0 ? 0.25 : -0.25);
        const auto child = functions_at(of, v);
        const auto parent = functions_at(of, in_parent);
        const auto moved = product(of, of.up, octant, child);
        for (std::size_t i = 0; i < parent.size(); ++i) EXPECT_NEAR(moved[i], parent[i], 1e-13);
        // potentials count in 1/width
        EXPECT_NEAR(2.0 * dot(product(of, of.down, octant, local), child), dot(local, parent), 1e-12);
    }
}

/// Sets 1 to 3 are the derivatives of set 0 along x, y and z.
inline void expect_derivatives(const PlainOperators<double>& of) {
    const auto local = any_expansion(of);
    const auto value = [&](int set, const Point& at) {
        return set_at(of.inside, static_cast<std::size_t>(set), local, at, false);
    };
    const Point at{0.2, -0.3, 0.4};
    for (int axis = 0; axis < 3; ++axis) {
        auto ahead = at;
        auto behind = at;
        const double step = 1e-5;
        ahead[static_cast<std::size_t>(axis)] += step;
        behind[static_cast<std::size_t>(axis)] -= step;
        EXPECT_NEAR(value(axis + 1, at), (value(0, ahead) - value(0, behind)) / (2.0 * step), 1e-6);
    }
}

} // namespace farfield::test
