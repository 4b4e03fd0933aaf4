#include "sums/direct/cpu/block_function.h"

#include "sums/direct/cpu/isa_function.h"

namespace farfield {

BlockFunction block_function(PairLoop loop, double sigma, Isa isa) {
    if (loop == PairLoop::vortex && sigma > 0.0) return FF_ISA_FUNCTION(ff_vortex_block, isa);
    if (loop == PairLoop::logarithm || loop == PairLoop::vortex) return FF_ISA_FUNCTION(ff_plane_block, isa);
    return FF_ISA_FUNCTION(ff_block, isa);
}

} // namespace farfield
