// What sums over Gaussians share: reading the strengths of several vectors, and writing what they sum up to
// into the caller's arrays.
#pragma once

#include "base/aligned.h"
#include "sums/direct/gauss/gauss_points.h"
#include "sums/method/problem.h"

#include <farfield/sum.h>

#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

/// Of strengths N, N×1 or N×k.
inline std::int64_t gauss_vectors_of(const ConstArrayView& strengths) {
    return strengths.ndim == 2 ? strengths.shape[1] : 1;
}

/// Sums of all vectors in the frame: a potential and the components of a gradient each, as far as wanted.
class GaussSums {
public:
    /// All 0.
    void take(const SumProblem& problem, const SumOutputs& outputs, std::int64_t vectors, int threads);
    [[nodiscard]] std::int64_t vectors() const { return vectors_; }
    [[nodiscard]] std::int64_t targets() const { return targets_; }
    /// All columns, of M numbers each.
    [[nodiscard]] std::vector<double*> all_columns();
    [[nodiscard]] bool with_potential() const { return potential_ > 0; }
    [[nodiscard]] bool with_gradient() const { return gradient_ > 0; }
    /// M numbers.
    double* potential(std::int64_t vector) { return with_potential() ? row(vector * columns()) : nullptr; }
    double* gradient(std::int64_t vector, int axis) {
        return with_gradient() ? row(vector * columns() + potential_ + axis) : nullptr;
    }

private:
    [[nodiscard]] std::int64_t columns() const { return potential_ + gradient_; }
    double* row(std::int64_t number) { return values_.data() + number * targets_; }

    std::int64_t vectors_ = 0, targets_ = 0;
    int potential_ = 0, gradient_ = 0; ///< columns
    RawVector<double> values_;
};

/// @throws InvalidArgument: strengths are so large that a row left the range of a double.
[[noreturn]] void refuse_gauss_row(std::size_t row);

/// Writes them in the caller's units: q = q' 2^−exponent. Sum i is of the caller's row order[i], or of row i
/// of an empty order. @throws InvalidArgument naming a row that is not finite.
void write_gauss_sums(const SumProblem& problem, GaussSums& sums, const GaussFrame& frame, int exponent,
                      std::span<const std::int32_t> order, const SumOutputs& outputs, int threads);

} // namespace farfield
