// Pairs in the plane as the kernels over blocks take them (space_pairs.cuh has the meaning of the members). A
// point is x, y and the two parts of its strength q = a + ib; sums are Σ (a dx + b dy)/r² and Σ (a dy − b
// dx)/r², which are (Re w, −Im w) of w = Σ q/(z − z_j), and Σ a ln r² and Σ b ln r².
#pragma once

#include "backend/cuda/vec4.h"
#include "sums/direct/cuda/blocks/block_sum.cuh"
#include "sums/kernels/plane_terms.h"

#include <cstdint>

namespace farfield::cuda {

/// The shape that the kernels of pairs in the plane have.
FF_HD constexpr BlockShape plane_block_shape(std::size_t real_bytes) { return {1, real_bytes == 8 ? 5 : 8}; }

/// The shape of items for points in float, whose kernel takes those of all sizes: what a warp should not
/// exceed, so that all take about as long.
constexpr BlockShape plane_points_shape{1, 15};

/// Whose pairs: of real strengths, of complex ones, or of vortices with Gaussian cores, whose strengths are
/// real.
enum class PlaneSources : std::uint8_t { real, complex, cores };

template <PlaneSources sources>
struct PlanePairs {
    static constexpr bool is_complex = sources == PlaneSources::complex;
    template <class Real>
    static constexpr int together = sizeof(Real) == 4 ? 8 : 4;
    FF_HD static constexpr int largest_tile(std::size_t real_bytes, int /*warps*/) {
        return plane_block_shape(real_bytes).most_per_lane;
    }

    static constexpr int resident_warps(std::size_t real_bytes, Meeting /*meeting*/) {
        return real_bytes == 8 ? 12 : 16;
    }

    template <class Real>
    struct Difference {
        Real x, y;
    };
    template <class Real>
    using Terms = plane::Terms<Real>;

    template <class Real, int outputs>
    struct Sum {
        static constexpr bool with_field = (outputs & field_only) != 0;
        static constexpr bool with_potential = (outputs & potential_only) != 0;
        static constexpr int used =
            (with_field ? 3 : 0) | (with_potential ? 4 : 0) | (with_potential && is_complex ? 8 : 0);
        Real x = 0, y = 0, real = 0, imaginary = 0;

        __device__ __forceinline__ void add(const Difference<Real>& d, const Vec4<Real>& source,
                                            const Terms<Real>& terms) {
            if constexpr (with_potential) real = fma(source.z, terms.log, real);
            if constexpr (with_potential && is_complex) imaginary = fma(source.w, terms.log, imaginary);
            if constexpr (!with_field) return;
            const Real dx = d.x * terms.inverse, dy = d.y * terms.inverse;
            x = fma(source.z, dx, x);
            y = fma(source.z, dy, y);
            if constexpr (is_complex) {
                x = fma(source.w, dy, x);
                y = fma(-source.w, dx, y);
            }
        }
        __device__ __forceinline__ Vec4<Real> value() const {
            constexpr Real unit = sources == PlaneSources::cores ? Real(1) : plane::unit_of_log<Real>;
            return {x, y, unit * real, unit * imaginary};
        }
    };

    static constexpr bool mends_later = false;
    /// 1/2σ² of cores.
    template <class Real>
    __device__ __forceinline__ static Real length2(const BlockTask<Real>& task) {
        return task.core2;
    }
    template <class Real>
    __device__ __forceinline__ static Real length2_of_floats(const BlockTask<Real>& task, int /*block*/) {
        return task.core2;
    }
    /// Far beyond all points.
    template <class Real>
    __device__ __forceinline__ static Vec4<Real> nothing(Real side) {
        return {side * Real(1e18), side * Real(1e18), Real(0), Real(0)};
    }
    template <class Real, class Wide>
    __device__ __forceinline__ static Difference<Real> difference(const Vec4<Wide>& x, const Vec4<Wide>& y) {
        return {static_cast<Real>(x.x - y.x), static_cast<Real>(x.y - y.y)};
    }
    template <class Real>
    __device__ __forceinline__ static Real squared_length(const Difference<Real>& d, Real /*core2*/) {
        return fma(d.x, d.x, d.y * d.y);
    }
    template <int outputs, class Real>
    __device__ __forceinline__ static Terms<Real> terms(Real r2, Real core2) {
        constexpr bool with_potential = (outputs & potential_only) != 0;
        if constexpr (sources == PlaneSources::cores)
            return plane::core_terms<with_potential>(r2, core2);
        else
            return plane::point_terms<with_potential>(r2);
    }
};

/// A one-sided sum of pairs in the plane. The plan is one of `plane_block_shape`.
template <class Real>
void launch_plane_blocks(const BlockTask<Real>& task, const BlockPlanView& plan, PlaneSources sources,
                         cudaStream_t stream);

} // namespace farfield::cuda
