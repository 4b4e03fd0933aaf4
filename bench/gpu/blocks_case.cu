// The part of bench_blocks_cuda that needs CUDA.
#include "blocks_case.h"

#include "backend/cuda/check.h"
#include "backend/cuda/memory.h"
#include "sums/direct/cuda/blocks/block_sum.cuh"

#include <algorithm>

namespace farfield::cuda {
namespace {

template <class Values>
auto on_device(const Values& values) {
    DeviceArray<typename Values::value_type> out(values.size());
    copy(out.data(), values.data(), values.size(), nullptr);
    return out;
}

struct Events {
    cudaEvent_t begin{}, end{};
    Events() {
        check(cudaEventCreate(&begin), "making an event");
        check(cudaEventCreate(&end), "making an event");
    }
    ~Events() {
        cudaEventDestroy(begin);
        cudaEventDestroy(end);
    }
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;
};

template <class Run>
std::vector<double> milliseconds(int runs, Run run) {
    const Events events;
    std::vector<double> times;
    run();
    run();
    for (int k = 0; k < runs; ++k) {
        check(cudaEventRecord(events.begin), "recording an event");
        run();
        check(cudaEventRecord(events.end), "recording an event");
        check(cudaEventSynchronize(events.end), "waiting for the sum over blocks");
        float ms = 0;
        check(cudaEventElapsedTime(&ms, events.begin, events.end), "reading an event");
        times.push_back(static_cast<double>(ms));
    }
    std::sort(times.begin(), times.end());
    return times;
}

std::vector<Vec4<double>> centres_of(const block_grid::Grid& grid, bool centred) {
    std::vector<Vec4<double>> centres(grid.blocks.size(), Vec4<double>{0, 0, 0, 0});
    if (centred)
        for (std::size_t b = 0; b < centres.size(); ++b)
            centres[b] = {grid.centres[3 * b], grid.centres[3 * b + 1], grid.centres[3 * b + 2], 0};
    return centres;
}

template <class Real>
std::vector<Vec4<Real>> packed(const block_grid::Grid& grid, const std::vector<Vec4<double>>& centres) {
    std::vector<Vec4<Real>> points;
    for (std::size_t b = 0; b < centres.size(); ++b)
        for (auto i = static_cast<std::size_t>(grid.blocks[b].begin);
             i < static_cast<std::size_t>(grid.blocks[b].end); ++i)
            points.push_back({static_cast<Real>(grid.points[3 * i] - centres[b].x),
                              static_cast<Real>(grid.points[3 * i + 1] - centres[b].y),
                              static_cast<Real>(grid.points[3 * i + 2] - centres[b].z),
                              static_cast<Real>(grid.strengths[i])});
    return points;
}

template <class Real>
BlocksTimes measure_in(const block_grid::Grid& grid, const BlocksCase& bench_case) {
    const auto half = bench_case.mutual ? half_of(grid.lists())
                                        : BlockRows{grid.first, {grid.partners.begin(), grid.partners.end()}};
    const auto lists = grid.lists(half);
    const auto shape = bench_case.warps == 0
                           ? block_shape(mean_size(lists), sizeof(Real))
                           : BlockShape{bench_case.warps, largest_tile(sizeof(Real), bench_case.warps)};
    const auto plan = plan_blocks(lists, shape, bench_case.mutual);
    const DeviceBlockPlan device_plan(plan, nullptr);
    const auto host_centres = centres_of(grid, bench_case.centred);
    const auto points = on_device(packed<Real>(grid, host_centres));
    const auto centres = on_device(host_centres);
    const auto blocks = on_device(grid.blocks);
    const auto first = on_device(half.first), partners = on_device(half.partners);
    DeviceArray<Vec4<Real>> slots(static_cast<std::size_t>(plan.slot_count)), sums(grid.strengths.size());
    const BlockTask<Real> task{.targets = points.data(),
                               .sources = points.data(),
                               .target_blocks = blocks.data(),
                               .source_blocks = blocks.data(),
                               .first = first.data(),
                               .last = first.data() + 1,
                               .partners = partners.data(),
                               .target_centres = bench_case.centred ? centres.data() : nullptr,
                               .source_centres = bench_case.centred ? centres.data() : nullptr,
                               .own = true,
                               .sums = sums.data()};
    check(cudaMemset(sums.data(), 0xff, sums.bytes()), "filling the sums with NaN");
    BlocksTimes times;
    times.ms = milliseconds(bench_case.runs,
                            [&] { launch_blocks(task, device_plan.view(), slots.data(), nullptr); });
    times.warps = shape.warps;
    times.items = plan.items.size();
    times.slot_bytes = plan.slot_bytes(sizeof(Real));
    std::vector<Vec4<Real>> host(sums.size());
    copy(host.data(), sums.data(), host.size(), nullptr);
    check(cudaDeviceSynchronize(), "copying the sums");
    for (const auto& sum : host) {
        const Real values[4] = {sum.x, sum.y, sum.z, sum.w};
        times.sums.insert(times.sums.end(), values, values + 4);
    }
    return times;
}

} // namespace

BlocksTimes measure(const block_grid::Grid& grid, const BlocksCase& bench_case) {
    return bench_case.is_double ? measure_in<double>(grid, bench_case) : measure_in<float>(grid, bench_case);
}

} // namespace farfield::cuda
