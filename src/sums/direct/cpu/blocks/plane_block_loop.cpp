// Blocks of points in the plane that act by ln r, with real or complex strengths, compiled once for each
// instruction set.
#include "backend/simd/value.h"
#if !defined(FF_ISA_SCALAR)
#include "backend/simd/portable_lanes.h"
#endif
#include "sums/direct/cpu/blocks/block_loop.h"
#include "sums/kernels/logarithm.h"

extern "C" void FF_ISA_ENTRY(ff_plane_block)(farfield::Precision precision, farfield::LoopOutputs outputs,
                                             const farfield::BlockTile* tile) {
    farfield::with_types(precision, outputs, [&](auto number, auto mixed, auto wanted) {
        using Number = decltype(number);
        constexpr bool is_mixed = decltype(mixed)::value;
        constexpr int outputs_wanted = decltype(wanted)::value;
        constexpr int group = farfield::vector_registers > 16 ? 4 : 2;
        using Real = farfield::PlaneLogarithm<1>;
        using Complex = farfield::PlaneLogarithm<2>;
        const bool is_complex = tile->sources.strength_imaginary != nullptr;
        if (tile->mutual && is_complex)
            farfield::BlockLoop<Number, is_mixed, outputs_wanted, true, Complex, group>(*tile).run();
        else if (tile->mutual)
            farfield::BlockLoop<Number, is_mixed, outputs_wanted, true, Real, group>(*tile).run();
        else if (is_complex)
            farfield::BlockLoop<Number, is_mixed, outputs_wanted, false, Complex, group>(*tile).run();
        else
            farfield::BlockLoop<Number, is_mixed, outputs_wanted, false, Real, group>(*tile).run();
    });
}
