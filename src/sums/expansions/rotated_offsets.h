// Translations from multipole to local expansions by rotation, packed for the loop: matrices for each polar
// angle and each distance, which many offsets share.
//
// A rotation about the direction of z costs a 2×2 matrix an order, one about y (2l + 1)² numbers a degree at
// most, and a translation along z (p − m + 1)² an order m: O(p³) in all (White and Head-Gordon 1996, J. Chem.
// Phys. 105, 5061).
#pragma once

#include "base/aligned.h"
#include "sums/expansions/basis.h"
#include "sums/expansions/loops.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace farfield {

/// From a source's cell to a target's, in cells, and the degree up to which functions are used.
struct RotatedOffset {
    std::array<int, 3> offset{};
    int degree = 0;
};

template <class T>
class RotatedOffsets {
public:
    /// Offsets of one length must have one degree.
    RotatedOffsets(const HarmonicBasis& basis, std::vector<RotatedOffset> offsets, int threads);

    [[nodiscard]] const std::vector<RotatedOffset>& offsets() const { return offsets_; }
    /// The task of an offset, by its place in `offsets`, without sources and sums.
    [[nodiscard]] RotateTask task(std::size_t number) const;

private:
    void make(int threads);
    void make_azimuth(std::size_t number);
    void make_polar(std::size_t number, const std::array<int, 2>& angle, int degree);
    void make_along(std::size_t number, int length2, int degree);

    HarmonicBasis basis_;
    std::vector<RotatedOffset> offsets_;
    std::vector<std::int32_t> places_;
    std::vector<std::array<int, parities>> class_counts_; ///< up to each degree
    std::vector<std::size_t> polar_of_, along_of_;        ///< of each offset
    std::vector<AlignedVector<T>> azimuths_, polars_, alongs_;
};

/// What an offset costs a target, in multiply-adds.
double rotated_work(int degree);

/// Numbers that `RotatedOffsets` holds, about.
double rotated_numbers(const std::vector<RotatedOffset>& offsets);

extern template class RotatedOffsets<float>;
extern template class RotatedOffsets<double>;

} // namespace farfield
