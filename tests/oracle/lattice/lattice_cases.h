// Crystals, random charges, and how sums over periodic boxes are asked for and compared.
#pragma once

#include "lattice_oracle.h"

#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace farfield::test {

using lattice_oracle::Charges;
using lattice_oracle::Real;
using lattice_oracle::Values;
using lattice_oracle::Vector;

struct Ion {
    double x, y, z, q;
};

inline Charges charges_of(const std::vector<Ion>& ions) {
    Charges out;
    for (const auto& ion : ions) {
        out.points.insert(out.points.end(), {ion.x, ion.y, ion.z});
        out.strengths.push_back(ion.q);
    }
    return out;
}

/// Neutral, n even, in the box.
inline Charges random_charges(std::size_t n, const std::array<double, 3>& length, unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    Charges out;
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        for (const double side : length) out.points.push_back(side * uniform(engine));
        out.strengths.push_back(i + 1 < n ? uniform(engine) - 0.5 : -sum);
        sum += out.strengths.back();
    }
    return out;
}

inline SumResult periodic_sum(const Charges& charges, const SumOptions& options, OutputSet wanted = {}) {
    return sum(matrix_view(std::span<const double>(charges.points), 3),
               ConstArrayView(std::span<const double>(charges.strengths)), options, wanted);
}

struct Errors {
    double potential, field; ///< relative, L2
};

inline Errors errors_against(const SumResult& result, const std::vector<Values>& exact) {
    Real off[2] = {}, all[2] = {};
    for (std::size_t i = 0; i < exact.size(); ++i) {
        off[0] += std::pow(result.potential[i] - exact[i].potential, 2);
        all[0] += std::pow(exact[i].potential, 2);
        for (std::size_t k = 0; k < 3 && !result.field.empty(); ++k) {
            off[1] += std::pow(result.field[3 * i + k] - exact[i].field[k], 2);
            all[1] += std::pow(exact[i].field[k], 2);
        }
    }
    return {static_cast<double>(std::sqrt(off[0] / all[0])), static_cast<double>(std::sqrt(off[1] / all[1]))};
}

inline Vector box_of(const std::array<double, 3>& length) { return {length[0], length[1], length[2]}; }

} // namespace farfield::test
