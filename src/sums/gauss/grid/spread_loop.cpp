// Spreads strengths onto a grid, compiled once for each instruction set: a row of taps at a time.
#include "sums/gauss/grid/point_taps.h"

namespace farfield {
namespace {

template <int Width>
void spread(const GridSpreadTask& task) {
    using V = Value<double>;
    using O = Ops<V>;
    using Taps = PointTaps<Width>;
    constexpr std::ptrdiff_t lanes = Taps::lanes;
    constexpr int vectors = Taps::vectors;
    const auto& places = task.places;
    const auto stride = places.stride[1];
    Taps taps(places);
    const int rows = taps.rows();
    for (auto i = task.begin; i < task.end; ++i) {
        taps.template set<false>(i);
        taps.layer_weights(task.strengths[i], -1, places.scratch);
        V row[vectors];
        for (int v = 0; v < vectors; ++v) row[v] = O::load(taps.value[0] + v * lanes);
        double* const first = task.grid + taps.place;
        for (std::int64_t n = 0; n < places.layer_count; ++n) {
            double* out = first + places.layers[n];
            const double layer = places.scratch[n];
            for (int k = 0; k < rows; ++k, out += stride) {
                const V weight = O::set(layer * taps.value[1][k]);
                for (int v = 0; v < vectors; ++v)
                    O::store(out + v * lanes, O::fma(weight, row[v], O::load(out + v * lanes)));
            }
        }
    }
}

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_grid_spread)(const farfield::GridSpreadTask* task) {
    farfield::with_width(task->places.width,
                         [&](auto width) { farfield::spread<decltype(width)::value>(*task); });
}
