#include "sums/ewald/cuda/waves_on_gpu.cuh"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace farfield::cuda {
namespace {

template <class T>
void bring(DeviceArray<T>& to, const std::vector<T>& from, cudaStream_t stream) {
    make_room(to, from.size());
    copy(to.data(), from.data(), from.size(), stream);
}

} // namespace

WavesOnGpu::WavesOnGpu(const PeriodicFrame& frame, const Cutoffs& cutoffs, int threads, cudaStream_t stream)
    : cutoff_(cutoffs.wave), waves_(wave_table(frame, cutoffs, threads)) {
    bring(rows_, waves_.table.rows, stream);
    bring(tiles_, waves_.tiles, stream);
    bring(factors_, waves_.table.factors, stream);
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
    const auto first = waves_.first_phase();
    for (std::size_t k = 0; k < 3; ++k) {
        phases_.first[k] = first[k];
        phases_.last[k] = waves_.table.last[k];
    }
}

void WavesOnGpu::set_points(const BoxPoints& sources, const BoxTargets& targets, cudaStream_t stream) {
    sources_ = sources;
    targets_ = targets.points;
    parts_ = gpu_wave_parts(waves_, sources_.count, targets.of_all_ranks); // bits do not follow from ranks
    const auto size = [](auto... factors) { return (static_cast<std::size_t>(factors) * ...); };
    make_room(phase_memory_, size(parts_.batch, waves_.phases()));
    phases_.at = phase_memory_.data();
    phases_.pitch = parts_.batch;
    make_room(structure_, size(parts_.of_sources, waves_.table.count()));
    make_room(coefficients_, size(waves_.table.count()));
    bring(first_rows_, parts_.first_rows, stream);
    make_room(partial_, size(parts_.first_rows.size() - 1, parts_.batch));
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
}

template <class Visit>
void WavesOnGpu::each_batch(const BoxPoints& points, const std::function<void()>& stop, cudaStream_t stream,
                            const Visit& visit) {
    const auto& unit = waves_.table.unit;
    for (int first = 0; first < points.count; first += std::min(parts_.batch, points.count - first)) {
        if (first > 0) check(cudaStreamSynchronize(stream), "waiting for the GPU");
        stop();
        phases_.count = std::min(parts_.batch, points.count - first);
        set_phases(phases_, {unit[0], unit[1], unit[2]}, points.at + first, stream);
        visit(first);
    }
}

void WavesOnGpu::set_structure(const double* strengths, const std::function<void()>& stop,
                               cudaStream_t stream) {
    each_batch(sources_, stop, stream, [&](int first) {
        add_structure({.phases = phases_,
                       .strengths = strengths + first,
                       .rows = rows_.data(),
                       .tiles = tiles_.data(),
                       .tile_count = static_cast<std::int32_t>(waves_.tiles.size()),
                       .parts = parts_.of_sources,
                       .waves = waves_.table.count(),
                       .adds = first > 0,
                       .structure = structure_.data()},
                      stream);
    });
    set_coefficients(structure_.data(), parts_.of_sources, factors_.data(), waves_.table.count(),
                     coefficients_.data(), stream);
}

void WavesOnGpu::add(const Strengths& strengths, bool with_field, Vec4<double>* sums, PassTimer& timer,
                     const std::function<void()>& stop, cudaStream_t stream) {
    if (sources_.count > 0) set_structure(strengths.values, stop, stream);
    timer.mark("structure factors", stream);
    const auto& unit = waves_.table.unit;
    if (sources_.count > 0)
        each_batch(targets_, stop, stream, [&](int first) {
            add_waves({.phases = phases_,
                       .unit = {unit[0], unit[1], unit[2]},
                       .rows = rows_.data(),
                       .first_rows = first_rows_.data(),
                       .parts = static_cast<std::int32_t>(parts_.first_rows.size()) - 1,
                       .coefficients = coefficients_.data(),
                       .partial = partial_.data(),
                       .sums = sums + first},
                      with_field, stream);
        });
    timer.mark("waves", stream);
}

void WavesOnGpu::describe(LatticeReport& report, double scale) const {
    report.wave_cutoff = cutoff_ * scale;
    report.waves = waves_.table.count();
}

} // namespace farfield::cuda
