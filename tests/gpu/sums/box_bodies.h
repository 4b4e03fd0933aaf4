// Charges that cancel, for sums over periodic boxes on a GPU.
#pragma once

#include "gpu/sums/fmm_clouds.h"

#include <farfield/sum.h>

#include <numeric>

namespace farfield::test {

struct Bodies {
    Values sources, targets, q;

    Bodies(Cloud kind, int n, int m, unsigned seed = 3)
        : sources(cloud(kind, n, seed)), targets(cloud(kind, m, seed + 1)), q(charges(n, seed + 2)) {
        const double mean = std::accumulate(q.begin(), q.end(), 0.0) / n;
        for (auto& value : q) value -= mean;
    }
    [[nodiscard]] SumResult sum_with(const SumOptions& options, OutputSet wanted = {}) const {
        return targets.empty() ? sum(rows(sources), list(q), options, wanted)
                               : sum(rows(sources), rows(targets), list(q), options, wanted);
    }
};

} // namespace farfield::test
