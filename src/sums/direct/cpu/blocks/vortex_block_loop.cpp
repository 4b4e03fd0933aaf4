// Blocks of vortices with Gaussian cores, compiled once for each instruction set. Σ Γ (ln r + E₁(x)/2) and
// Σ Γ (1 − e^(−x))/r² (x − y) with x = r²/2σ². What cores add is computed only where a vector of pairs needs
// it.
#include "backend/simd/value.h"
#if !defined(FF_ISA_SCALAR)
#include "backend/simd/portable_lanes.h"
#endif
#include "sums/direct/cpu/blocks/block_loop.h"
#include "sums/kernels/logarithm.h"
#include "sums/kernels/vortex_cores.h"

#include <cmath>

namespace farfield {
namespace {

class VortexBlobs {
    using Points = PlaneLogarithm<1>;
    double inverse_variance2_; ///< 1/2σ²
    double log_variance2_;     ///< ln 2σ²

    template <class V>
    FF_INLINE static V number(double x) {
        return Ops<V>::set(static_cast<typename Ops<V>::Scalar>(x));
    }

    template <bool with_potential, class V>
    FF_INLINE Points::Terms<V> of_value(const V& r2) const {
        using L = portable::Lanes<V>;
        using T = typename Ops<V>::Scalar;
        auto terms = Points::of_value<with_potential>(r2);
        const V x = r2 * number<V>(inverse_variance2_);
        const auto touches = x < number<V>(vortex::beyond<T>);
        if (!L::any(touches)) return terms;
        terms.weight = terms.weight * (number<V>(1.0) - portable::exp(number<V>(0.0) - x));
        const auto near = x < number<V>(vortex::near_core<T>);
        if (L::any(near))
            terms.weight =
                L::select(near, vortex::core_series(x) * number<V>(16.0 * inverse_variance2_), terms.weight);
        if constexpr (with_potential) {
            const auto by_series = x < number<V>(vortex::far_of_series<T>);
            const V rest = vortex::exponential_integral(x);
            terms.potential = terms.potential + L::select(touches, rest, number<V>(0.0));
            if (L::any(by_series))
                terms.potential =
                    L::select(by_series, vortex::log_of_core(x) + number<V>(log_variance2_), terms.potential);
        }
        return terms;
    }

public:
    static constexpr int dimension = 2;
    static constexpr int columns = 1;
    template <bool with_potential>
    static constexpr bool takes_long = true;

    template <class V, bool with_potential>
    using Factors = Points::Factors<V, with_potential>;

    explicit VortexBlobs(double sigma)
        : inverse_variance2_(0.5 / (sigma * sigma)), log_variance2_(portable::log(2.0 * sigma * sigma)) {}

    template <bool with_potential, class V, int N>
    FF_INLINE Points::Terms<Pack<V, N>> of_unit(const Pack<V, N>& r2) const {
        Points::Terms<Pack<V, N>> terms; // NOLINT(*-member-init): filled below
        for (int n = 0; n < N; ++n) {
            const auto one = of_value<with_potential>(r2.v[n]);
            terms.potential.v[n] = one.potential;
            terms.weight.v[n] = one.weight;
        }
        return terms;
    }
};

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_vortex_block)(farfield::Precision precision, farfield::LoopOutputs outputs,
                                              const farfield::BlockTile* tile) {
    farfield::with_types(precision, outputs, [&](auto number, auto mixed, auto wanted) {
        using Number = decltype(number);
        constexpr bool is_mixed = decltype(mixed)::value;
        constexpr int outputs_wanted = decltype(wanted)::value;
        if (tile->mutual)
            farfield::BlockLoop<Number, is_mixed, outputs_wanted, true, farfield::VortexBlobs, 2>(*tile)
                .run();
        else
            farfield::BlockLoop<Number, is_mixed, outputs_wanted, false, farfield::VortexBlobs, 2>(*tile)
                .run();
    });
}
