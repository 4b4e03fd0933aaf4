// Lets the portable functions (math/portable) run on xsimd batches: every lane gets the bits that a scalar
// gets. Include it, and what instantiates it, only in sources compiled for the one instruction set of the
// batch.
#pragma once

#include "math/portable/functions.h"

#include <xsimd/xsimd.hpp>

#include <cstddef>

namespace farfield::portable {

template <class T, class Arch>
struct Lanes<xsimd::batch<T, Arch>> {
    using Scalar = T;
    using Batch = xsimd::batch<T, Arch>;
    using Bits = xsimd::batch<typename Format<T>::Bits, Arch>;
    using Mask = typename Batch::batch_bool_type;

    static Bits bits(const Batch& x) { return xsimd::bitwise_cast<Bits>(x); }
    static Batch value(const Bits& x) { return xsimd::bitwise_cast<Batch>(x); }
    static Batch select(const Mask& mask, const Batch& a, const Batch& b) {
        return xsimd::select(mask, a, b);
    }
    static bool any(const Mask& mask) { return xsimd::any(mask); }
    static Batch sqrt(const Batch& x) { return xsimd::sqrt(x); }

    template <class F, class... V>
    static void each(F f, V&... values) {
        each_lane(f, Stored{values}...);
    }

private:
    // The lanes of a batch in memory, put back when the last use is over.
    struct Stored {
        explicit Stored(Batch& home_batch) : home(home_batch) { home.store_unaligned(lanes); }
        ~Stored() { home = Batch::load_unaligned(lanes); }
        Stored(const Stored&) = delete;
        Stored& operator=(const Stored&) = delete;
        Batch& home;
        T lanes[Batch::size];
    };

    template <class F, class... S>
    static void each_lane(F f, S&&... stored) {
        for (std::size_t i = 0; i < Batch::size; ++i) f(stored.lanes[i]...);
    }
};

} // namespace farfield::portable
