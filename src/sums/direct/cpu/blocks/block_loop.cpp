// Blocks of points in space that act by 1/r, compiled once for each instruction set.
#include "sums/direct/cpu/blocks/block_loop.h"

extern "C" void FF_ISA_ENTRY(ff_block)(farfield::Precision precision, farfield::LoopOutputs outputs,
                                       const farfield::BlockTile* tile) {
    farfield::with_types(precision, outputs, [&](auto number, auto mixed, auto wanted) {
        using Number = decltype(number);
        constexpr bool is_mixed = decltype(mixed)::value;
        constexpr int outputs_wanted = decltype(wanted)::value;
        using Formula = farfield::InverseDistance;
        constexpr int group = farfield::vector_registers > 16 ? 4 : 2;
        if (tile->mutual)
            farfield::BlockLoop<Number, is_mixed, outputs_wanted, true, Formula, group>(*tile).run();
        else
            farfield::BlockLoop<Number, is_mixed, outputs_wanted, false, Formula, group>(*tile).run();
    });
}
