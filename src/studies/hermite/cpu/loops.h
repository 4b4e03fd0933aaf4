// The evaluation on a CPU: a plain loop as the paper's, and ours.
#pragma once

#include "studies/hermite/problem.h"

#include <farfield/sum.h>

#include <vector>

namespace farfield::hermite {

enum class CpuLoop {
    plain, ///< series.h, a target at a time, unrolled by the compiler
    simd   ///< powers.h, vectors of targets
};

class CpuEvaluation {
public:
    explicit CpuEvaluation(const Problem& problem);

    /// At all targets, on so many threads; the same bits for any number. `isa` is for `simd`.
    /// @throws BackendUnavailable for an instruction set that this machine lacks.
    void run(CpuLoop loop, int threads, Isa isa = Isa::automatic);
    [[nodiscard]] const std::vector<float>& potentials() const { return potentials_; }

private:
    void run_simd(int threads, Isa isa);

    const Problem& problem_;
    std::vector<float> powers_, potentials_;
};

} // namespace farfield::hermite
