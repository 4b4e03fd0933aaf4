// Takes values and gradients from a grid, compiled once for each instruction set: a row of taps at a time.
#include "sums/gauss/grid/point_taps.h"

namespace farfield {
namespace {

template <int Width, bool with_gradient>
class GridValues {
    using V = Value<double>;
    using O = Ops<V>;
    using Taps = PointTaps<Width>;
    static constexpr std::ptrdiff_t lanes = Taps::lanes;
    static constexpr int vectors = Taps::vectors;
    const GridValueTask& task_;

    /// A sum of rows.
    struct Row {
        V sum[vectors];

        FF_INLINE Row() { // NOLINT(*-member-init): filled here
            for (auto& part : sum) part = O::set(0.0);
        }
        FF_INLINE void add(double weight, const Row& row) {
            const V factor = O::set(weight);
            for (int v = 0; v < vectors; ++v) sum[v] = O::fma(factor, row.sum[v], sum[v]);
        }
        FF_INLINE void add(double weight, const double* row) {
            const V factor = O::set(weight);
            for (int v = 0; v < vectors; ++v) sum[v] = O::fma(factor, O::load(row + v * lanes), sum[v]);
        }
        FF_INLINE double product(const double* taps) const {
            V out = sum[0] * O::load(taps);
            for (int v = 1; v < vectors; ++v) out = O::fma(sum[v], O::load(taps + v * lanes), out);
            return O::sum(out);
        }
    };

    /// Weighted by values along all axes but the first, and by the slope along one of them.
    struct Rows {
        Row value, slope[most_dimensions];
    };

    FF_INLINE void add_layer(const Taps& taps, const double* first, std::int64_t n, Rows& rows) const {
        const auto& places = task_.places;
        Row even, odd, slope; // two chains: each waits for its last addition
        const double* row = first + places.layers[n];
        const int count = taps.rows();
        for (int k = 0; k < count; k += 2, row += 2 * places.stride[1]) {
            even.add(taps.value[1][k], row);
            if constexpr (with_gradient) slope.add(taps.slope[1][k], row);
            if (k + 1 == count) break;
            odd.add(taps.value[1][k + 1], row + places.stride[1]);
            if constexpr (with_gradient) slope.add(taps.slope[1][k + 1], row + places.stride[1]);
        }
        for (int v = 0; v < vectors; ++v) even.sum[v] = even.sum[v] + odd.sum[v];
        rows.value.add(places.scratch[n], even);
        if constexpr (with_gradient) {
            rows.slope[1].add(places.scratch[n], slope);
            for (int k = 2; k < places.dimension; ++k)
                rows.slope[k].add(places.scratch[(k - 1) * places.layer_count + n], even);
        }
    }

public:
    explicit GridValues(const GridValueTask& task) : task_(task) {}

    void run() const {
        const auto& places = task_.places;
        Taps taps(places);
        for (auto i = task_.begin; i < task_.end; ++i) {
            taps.template set<with_gradient>(i);
            taps.layer_weights(1.0, -1, places.scratch);
            for (int k = 2; k < places.dimension && with_gradient; ++k)
                taps.layer_weights(1.0, k, places.scratch + (k - 1) * places.layer_count);
            Rows rows;
            const double* first = task_.grid + taps.place;
            for (std::int64_t n = 0; n < places.layer_count; ++n) add_layer(taps, first, n, rows);
            if (task_.potential != nullptr) task_.potential[i] = rows.value.product(taps.value[0]);
            if constexpr (with_gradient) {
                task_.gradient[0][i] = places.inverse_spacing * rows.value.product(taps.slope[0]);
                for (int k = 1; k < places.dimension; ++k)
                    task_.gradient[k][i] = places.inverse_spacing * rows.slope[k].product(taps.value[0]);
            }
        }
    }
};

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_grid_value)(const farfield::GridValueTask* task) {
    farfield::with_width(task->places.width, [&](auto width) {
        if (task->gradient[0] != nullptr)
            farfield::GridValues<decltype(width)::value, true>(*task).run();
        else
            farfield::GridValues<decltype(width)::value, false>(*task).run();
    });
}
