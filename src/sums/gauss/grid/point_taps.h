// The window about one point along every axis, for loops that know its width when they are compiled. Include
// it only in sources compiled for one instruction set.
#pragma once

#include "backend/simd/value.h"
#include "sums/gauss/grid/grid_tasks.h"
#include "sums/gauss/grid/rules.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace farfield {

template <int Width>
class PointTaps {
    using V = Value<double>;
    using O = Ops<V>;
    const GridPlaces& places_;

public:
    static constexpr std::ptrdiff_t lanes = O::width;
    static constexpr std::ptrdiff_t columns = (std::ptrdiff_t{Width} + 7) / 8 * 8;
    static constexpr int vectors = static_cast<int>((Width + lanes - 1) / lanes); ///< that hold a row of taps
    static constexpr int degree = Width + 4;

    alignas(64) double value[most_dimensions][columns];
    alignas(64) double slope[most_dimensions][columns];
    std::int64_t place = 0; ///< of the first grid point that is touched

    explicit PointTaps(const GridPlaces& places) : places_(places) { // NOLINT(*-member-init): filled by set
        for (std::ptrdiff_t tap = 0; tap < columns; ++tap) { // of the second axis, where there is none
            value[1][tap] = tap == 0 ? 1.0 : 0.0;
            slope[1][tap] = 0.0;
        }
    }

    template <bool with_slope>
    FF_INLINE void set(std::int64_t i) {
        place = 0;
        for (int k = 0; k < places_.dimension; ++k) {
            const double x = places_.x[k][i];
            constexpr double half = 0.5 * Width;
            const double first = std::ceil(x * places_.inverse_spacing - half);
            const double rest = (first * places_.spacing[0] - x) + first * places_.spacing[1];
            const double u = 2.0 * (rest * places_.inverse_spacing + half) - 1.0;
            polynomial<degree>(places_.value, u, value[k]);
            if constexpr (with_slope) polynomial<degree - 1>(places_.slope, u, slope[k]);
            place += (static_cast<std::int64_t>(first) - places_.base[k]) * places_.stride[k];
        }
    }

    /// Taps of the second axis.
    [[nodiscard]] FF_INLINE int rows() const { return places_.dimension > 1 ? Width : 1; }

    /// Products over the third and later axes for all layers; of axis `sloped`, if there is one, the slope.
    FF_INLINE void layer_weights(double start, int sloped, double* out) const {
        out[0] = start;
        std::int64_t count = 1;
        for (int k = 2; k < places_.dimension; ++k) {
            const double* taps = k == sloped ? slope[k] : value[k];
            for (std::int64_t tap = Width; tap-- > 0;) // the first block of `out` is read last
                for (std::int64_t n = 0; n < count; ++n) out[tap * count + n] = out[n] * taps[tap];
            count *= Width;
        }
    }

private:
    template <int powers>
    FF_INLINE void polynomial(const double* coefficients, double u, double* out) const {
        const V at = O::set(u);
        for (std::ptrdiff_t first = 0; first < vectors * lanes; first += lanes) {
            V sum = O::load(coefficients + first);
            for (int k = 1; k <= powers; ++k)
                sum = O::fma(sum, at, O::load(coefficients + k * columns + first));
            O::store(out + first, sum);
        }
    }
};

/// Calls body(std::integral_constant<int, width>) for a width of a rule.
template <int Least = 3, class Body>
void with_width(int width, const Body& body) {
    if constexpr (Least < most_grid_width) {
        if (width > Least) return with_width<Least + 1>(width, body);
    }
    body(std::integral_constant<int, Least>{});
}

} // namespace farfield
