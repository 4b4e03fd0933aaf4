// One-sided loop over pairs of vortices: a few vectors of targets, sources broadcast one after the other.
// Compiled once for each instruction set. Sums of `source_block` sources are kept in the precision of the sum
// and then added to doubles. exp and E₁ are evaluated only where a vector of pairs needs them.
#include "backend/simd/value.h"
#include "sums/direct/vortex/vortex_formulas.h"
#include "sums/direct/vortex/vortex_tile.h"

#include <algorithm>
#include <type_traits>

namespace farfield {
namespace {

constexpr std::int64_t source_block = 256;
constexpr int target_vectors = 2;

template <class T, bool Mixed, int Wanted, bool Blob>
class VortexLoop {
    using V = Value<T>;
    using O = Ops<V>;
    using L = portable::Lanes<V>;
    static constexpr int vector_width = O::width;
    static constexpr int width = target_vectors * vector_width;
    static constexpr bool potential_wanted = (Wanted & potential_only) != 0;
    static constexpr bool field_wanted = (Wanted & field_only) != 0;

    struct Targets {
        V high[2][target_vectors];
        V low[2][target_vectors];
        V number[target_vectors]; ///< of the target, counted from the first
    };

    struct Sums {
        V logarithm[target_vectors];
        V velocity[2][target_vectors];

        Sums() { // NOLINT(*-member-init): filled below
            for (int n = 0; n < target_vectors; ++n)
                logarithm[n] = velocity[0][n] = velocity[1][n] = O::set(T(0));
        }
    };

    struct Totals {
        double logarithm[width] = {};
        double velocity[2][width] = {};
    };

    const VortexTile& tile_;
    V inverse_variance2_ = O::set(T(0)); ///< 1/2σ²
    V log_variance2_ = O::set(T(0));     ///< ln 2σ²

    static const T* numbers(const void* array) { return static_cast<const T*>(array); }

    FF_INLINE V weight(V r2) const {
        V out = inverse(r2);
        if constexpr (Blob) {
            const V x = r2 * inverse_variance2_;
            if (!L::any(x < O::set(vortex::beyond<T>))) return out;
            const V one = O::set(T(1));
            out = out * (one - portable::exp(O::set(T(0)) - x));
            const auto near = x < O::set(vortex::near_core<T>);
            if (L::any(near)) out = L::select(near, vortex::core_series(x) * inverse_variance2_, out);
        }
        return out;
    }

    FF_INLINE V logarithm(V r2) const {
        V out = portable::log(r2);
        if constexpr (Blob) {
            const V x = r2 * inverse_variance2_;
            if (!L::any(x < O::set(vortex::beyond<T>))) return out;
            const auto near = x < O::set(vortex::far_of_series<T>);
            if (L::any(x >= O::set(vortex::far_of_series<T>))) {
                const auto touches = x < O::set(vortex::beyond<T>);
                out = out + L::select(touches, vortex::exponential_integral(x), O::set(T(0)));
            }
            if (L::any(near)) out = L::select(near, vortex::log_of_core(x) + log_variance2_, out);
        }
        return out;
    }

    // With `Diagonal` the source numbered `own`, counted from the first target, is left out for that lane.
    template <bool Diagonal>
    FF_INLINE void add_sources(const Targets& x, std::int64_t first, std::int64_t begin, std::int64_t end,
                               Sums& sums) const {
        const auto& from = tile_.sources;
        for (auto j = begin; j < end; ++j) {
            const V q = O::set(numbers(from.strength)[j]);
            const V own = O::set(static_cast<T>(j - first));
            for (int n = 0; n < target_vectors; ++n) {
                V d[2];
                for (int k = 0; k < 2; ++k) {
                    d[k] = x.high[k][n] - O::set(numbers(from.high[k])[j]);
                    if constexpr (Mixed) d[k] = d[k] + (x.low[k][n] - O::set(numbers(from.low[k])[j]));
                }
                const V r2 = O::fma(d[0], d[0], d[1] * d[1]);
                const auto without_own = [&](V term) FF_INLINE_LAMBDA {
                    if constexpr (!Diagonal) return term;
                    return L::select(x.number[n] == own, O::set(T(0)), term);
                };
                if constexpr (potential_wanted)
                    sums.logarithm[n] = sums.logarithm[n] + without_own(q * logarithm(r2));
                if constexpr (field_wanted) {
                    const V term = without_own(q * weight(r2));
                    sums.velocity[0][n] = O::fnma(term, d[1], sums.velocity[0][n]);
                    sums.velocity[1][n] = O::fma(term, d[0], sums.velocity[1][n]);
                }
            }
        }
    }

    FF_INLINE static void add(const V (&values)[target_vectors], double* totals) {
        alignas(64) T lanes[width];
        for (int n = 0; n < target_vectors; ++n) O::store(lanes + n * vector_width, values[n]);
        for (int k = 0; k < width; ++k) totals[k] += static_cast<double>(lanes[k]);
    }

    [[nodiscard]] Targets read_targets(std::int64_t first) const {
        Targets x; // NOLINT(*-member-init): filled below
        for (int n = 0; n < target_vectors; ++n) {
            const auto at = first + std::int64_t{n} * vector_width;
            for (int k = 0; k < 2; ++k) {
                x.high[k][n] = O::load(numbers(tile_.targets.high[k]) + at);
                if constexpr (Mixed) x.low[k][n] = O::load(numbers(tile_.targets.low[k]) + at);
            }
            x.number[n] = O::lanes(static_cast<T>(n * vector_width));
        }
        return x;
    }

    void run_targets(std::int64_t first) const {
        const auto x = read_targets(first);
        Totals totals;
        for (std::int64_t begin = 0; begin < tile_.sources.count; begin += source_block) {
            const auto end = std::min(begin + source_block, tile_.sources.count);
            const auto own_begin = tile_.self ? std::clamp(first, begin, end) : end;
            const auto own_end = tile_.self ? std::clamp(first + width, begin, end) : end;
            Sums sums;
            add_sources<false>(x, first, begin, own_begin, sums);
            add_sources<true>(x, first, own_begin, own_end, sums);
            add_sources<false>(x, first, own_end, end, sums);
            if constexpr (potential_wanted) add(sums.logarithm, totals.logarithm);
            for (int k = 0; k < 2 && field_wanted; ++k) add(sums.velocity[k], totals.velocity[k]);
        }
        const auto count = std::min<std::int64_t>(width, tile_.target_end - first);
        if constexpr (potential_wanted) std::copy_n(totals.logarithm, count, tile_.logarithm + first);
        for (int k = 0; k < 2 && field_wanted; ++k)
            std::copy_n(totals.velocity[k], count, tile_.velocity[k] + first);
    }

    FF_INLINE static V inverse(V r2) { return vortex::inverse(r2); }

public:
    explicit VortexLoop(const VortexTile& tile) : tile_(tile) {
        if constexpr (Blob) {
            const double variance2 = 2.0 * tile.sigma * tile.sigma;
            inverse_variance2_ = O::set(static_cast<T>(1.0 / variance2));
            log_variance2_ = O::set(static_cast<T>(portable::log(variance2)));
        }
    }

    void run() const {
        for (auto first = tile_.target_begin; first < tile_.target_end; first += width) run_targets(first);
    }
};

template <class T, bool Mixed, int Wanted>
void run_vortices(const VortexTile& tile) {
    if (tile.sigma > 0.0)
        VortexLoop<T, Mixed, Wanted, true>(tile).run();
    else
        VortexLoop<T, Mixed, Wanted, false>(tile).run();
}

template <class T, bool Mixed>
void run_outputs(LoopOutputs outputs, const VortexTile& tile) {
    if (outputs == potential_only) run_vortices<T, Mixed, potential_only>(tile);
    if (outputs == field_only) run_vortices<T, Mixed, field_only>(tile);
    if (outputs == field_and_potential) run_vortices<T, Mixed, field_and_potential>(tile);
}

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_vortex)(farfield::Precision precision, farfield::LoopOutputs outputs,
                                        const farfield::VortexTile* tile) {
    using farfield::Precision;
    if (precision == Precision::float32) farfield::run_outputs<float, false>(outputs, *tile);
    if (precision == Precision::float64) farfield::run_outputs<double, false>(outputs, *tile);
    if (precision == Precision::mixed) farfield::run_outputs<float, true>(outputs, *tile);
}
