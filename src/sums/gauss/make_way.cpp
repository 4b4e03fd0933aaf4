#include "sums/gauss/make_way.h"

#include "sums/gauss/boxes/boxes.h"
#include "sums/gauss/cells.h"
#include "sums/gauss/clusters/clusters.h"
#include "sums/gauss/grid/grid.h"

namespace farfield {

std::unique_ptr<GaussWay> make_gauss_way(GaussStrategy strategy, const SumProblem& problem, Isa isa,
                                         int threads, comm::Transport* ranks) {
    if (strategy == GaussStrategy::grid) return std::make_unique<GaussGrid>(problem, isa, threads, ranks);
    if (strategy == GaussStrategy::clusters)
        return std::make_unique<GaussClusters>(problem, isa, threads, ranks);
    if (strategy == GaussStrategy::boxes) return std::make_unique<GaussBoxes>(problem, isa, threads, ranks);
    return std::make_unique<GaussCells>(problem, isa, threads, ranks);
}

} // namespace farfield
