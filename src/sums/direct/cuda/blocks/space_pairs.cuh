// Pairs in space as the kernels over blocks take them: 1/r, with Plummer's softening.
#pragma once

#include "sums/direct/cuda/blocks/block_sum.cuh"
#include "sums/direct/cuda/pair.cuh"

namespace farfield::cuda {

struct SpacePairs {
    /// Pairs of a lane that are computed together, so that the latencies of 1/√x overlap.
    template <class Real>
    static constexpr int together = 4;
    /// The most targets a lane that its kernels have.
    FF_HD static constexpr int largest_tile(std::size_t real_bytes, int warps) {
        return cuda::largest_tile(real_bytes, warps);
    }

    /// Warps on a multiprocessor that registers are kept free for.
    static constexpr int resident_warps(std::size_t real_bytes, Meeting meeting) {
        return real_bytes == 4 ? 16 : (meeting == Meeting::mutual ? 8 : 12);
    }

    template <class Real>
    using Difference = cuda::Difference<Real>;
    template <class Real>
    using Terms = InversePowers<Real>;

    template <class Real, int outputs>
    struct Sum : cuda::Sum<Real, outputs> {
        /// Of the components of `value()`, a bit each.
        static constexpr int used =
            ((outputs & field_only) != 0 ? 7 : 0) | ((outputs & potential_only) != 0 ? 8 : 0);

        __device__ __forceinline__ void add(const Difference<Real>& d, const Vec4<Real>& source,
                                            const Terms<Real>& terms) {
            cuda::Sum<Real, outputs>::add(d, source.w, terms);
        }
        /// The partner's share: the same distance, the opposite direction.
        __device__ __forceinline__ void add_opposite(const Difference<Real>& d, const Vec4<Real>& source,
                                                     const Terms<Real>& terms) {
            cuda::Sum<Real, outputs>::add_opposite(d, source.w, terms);
        }
    };

    static constexpr bool mends_later = true;
    /// What the strength of a pair is that takes one away.
    template <class Real>
    __device__ __forceinline__ static Vec4<Real> opposite(const Vec4<Real>& source) {
        return {source.x, source.y, source.z, -source.w};
    }

    template <class Real>
    __device__ __forceinline__ static Real length2(const BlockTask<Real>& task) {
        return task.softening2;
    }
    /// Where close pairs of the block's targets are mended: points that coincide in float get a tiny
    /// distance, so that what is taken away again is finite.
    template <class Real>
    __device__ __forceinline__ static Real length2_of_floats(const BlockTask<Real>& task, int block) {
        constexpr Real tiny = Real(1e-15);
        const auto width = static_cast<Real>(task.target_centres[block].w);
        return task.softening2 + tiny * width * width;
    }
    /// Beyond all points, on either side: pads of strength 0 that never coincide.
    template <class Real>
    __device__ __forceinline__ static Vec4<Real> nothing(Real side) {
        const Real away = side * Real(1e18); // r² = 1.2e37 is still a float
        return {away, away, away, Real(0)};
    }
    /// x − y, in the precision of the points.
    template <class Real, class Wide>
    __device__ __forceinline__ static Difference<Real> difference(const Vec4<Wide>& x, const Vec4<Wide>& y) {
        return {static_cast<Real>(x.x - y.x), static_cast<Real>(x.y - y.y), static_cast<Real>(x.z - y.z)};
    }
    template <class Real>
    __device__ __forceinline__ static Real squared_length(const Difference<Real>& d, Real softening2) {
        return cuda::squared_length(d, softening2);
    }
    template <int outputs, class Real>
    __device__ __forceinline__ static Terms<Real> terms(Real r2, Real /*softening2*/) {
        return inverse_powers<outputs>(r2);
    }
};

} // namespace farfield::cuda
