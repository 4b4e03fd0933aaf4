// What kernels of a GPU do with plain operators, number by number on the host.
#pragma once

#include "sums/expansions/function_values.h"
#include "sums/fmm/plain_operators.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace farfield::test {

using Point = std::array<double, 3>;

/// Functions at a point, in widths of the cell, in the order of degrees.
inline std::vector<double> functions_at(const PlainOperators<double>& of, const Point& at) {
    FunctionLoop loop;
    loop.functions = of.inside.functions;
    loop.order = of.inside.order;
    loop.pairs = of.inside.pairs;
    loop.diagonal = of.inside.diagonal.data();
    loop.climb = of.inside.climb.data();
    loop.climb_back = of.inside.climb_back.data();
    std::vector<double> out(static_cast<std::size_t>(of.size));
    const auto put = [&](int t, const double& first, const double& second) {
        const auto* places = of.inside.places.data() + std::ptrdiff_t{2} * t;
        if (places[0] >= 0) out[static_cast<std::size_t>(places[0])] = first;
        if (places[1] >= 0) out[static_cast<std::size_t>(places[1])] = second;
    };
    if (loop.functions == Functions::harmonics)
        each_harmonic<double>(loop, at[0], at[1], at[2], put);
    else
        each_polynomial<double>(loop, at[0], at[1], at[2], put);
    return out;
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

/// A set of a local expansion, itself or a derivative, at a point.
inline double value_at(const PlainOperators<double>& of, int set, const std::vector<double>& local,
                       const Point& at) {
    const auto functions = functions_at(of, at);
    const auto rows = 2 * of.inside.pairs;
    const auto& terms = of.inside.sets;
    double sum = 0.0;
    for (int row = 0; row < rows; ++row) {
        const auto place = of.inside.places[static_cast<std::size_t>(row)];
        if (place < 0) continue;
        const auto n = static_cast<std::size_t>(set * rows + row);
        for (auto k = terms.first[n]; k < terms.first[n + 1]; ++k)
            sum += terms.weight[static_cast<std::size_t>(k)] *
                   local[static_cast<std::size_t>(terms.from[static_cast<std::size_t>(k)])] *
                   functions[static_cast<std::size_t>(place)];
    }
    return sum;
}

} // namespace farfield::test
