#include "sums/lattice/images/tin_foil.h"

#include "backend/threads/parallel.h"

#include <cstddef>
#include <numbers>

namespace farfield {

void add_tin_foil(const FoiledBox& box, const PointViews& sources, const PointViews& targets,
                  std::span<const double> strengths, const LatticeResults& results, int threads) {
    Lengths middle{};
    for (std::size_t k = 0; k < 3; ++k) middle[k] = box.low[k] + 0.5 * box.period[k];
    std::array<long double, 5> moments{}; // 1, x, y, z, r²
    for (std::size_t j = 0; j < strengths.size(); ++j) {
        double square = 0.0;
        for (std::size_t k = 0; k < 3; ++k) {
            const double y = sources[k][j] - middle[k];
            moments[k + 1] += strengths[j] * y;
            square += y * y;
        }
        moments[0] += strengths[j];
        moments[4] += strengths[j] * square;
    }
    const double factor = 4.0 * std::numbers::pi / (3.0 * box.period[0] * box.period[1] * box.period[2]);
    const auto total = static_cast<double>(moments[0]), squares = static_cast<double>(moments[4]);
    parallel_parts(threads, targets[0].size(), [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) {
            double square = 0.0, along = 0.0;
            for (std::size_t k = 0; k < 3; ++k) {
                const double x = targets[k][i] - middle[k], moment = static_cast<double>(moments[k + 1]);
                square += x * x;
                along += x * moment;
                if (results.field != nullptr) results.field[3 * i + k] -= factor * (total * x - moment);
            }
            if (results.potential != nullptr)
                results.potential[i] += factor * (0.5 * (total * square + squares) - along);
        }
    });
}

} // namespace farfield
