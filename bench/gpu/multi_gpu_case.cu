#include "multi_gpu_case.h"

#include "backend/cuda/devices.h"
#include "backend/cuda/memory.h"
#include "sums/direct/cuda/launch.cuh"
#include "sums/direct/cuda/several/engine.cuh"
#include "sums/direct/cuda/several/exchange.cuh"

#include <algorithm>
#include <chrono>
#include <optional>

namespace farfield::cuda {

namespace {

constexpr int most_steps = 50;
constexpr double wanted_seconds = 0.05; ///< a run; shorter steps are repeated within it

template <class Step, class Wait>
double seconds(int steps, Step&& step, Wait&& wait) {
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < steps; ++k) step();
    wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class Step, class Wait>
std::vector<double> milliseconds_a_step(int runs, int& steps, Step&& step, Wait&& wait) {
    seconds(1, step, wait);
    const double once = seconds(1, step, wait);
    steps = std::clamp(static_cast<int>(wanted_seconds / once), 1, most_steps);
    std::vector<double> times;
    for (int run = 0; run < runs; ++run) times.push_back(1e3 * seconds(steps, step, wait) / steps);
    return times;
}

// The exchange of a step without the sums: the same arrays, the same order of calls from one thread.
template <class PointType>
void measure_exchange(SumEngine<PointType>& engine, const MultiGpuCase& bench_case, MultiGpuTimes& times) {
    const int n = engine.options().n, count = static_cast<int>(engine.parts().size());
    std::vector<DeviceArray<Vec4<double>>> stacks;
    std::vector<ExchangePart> parts;
    for (const auto& part : engine.parts()) {
        const auto share = symmetric_share<PointType>(n, part.index, count);
        use_device(part.device);
        stacks.emplace_back(share.subtrees.size() * static_cast<std::size_t>(n));
        parts.push_back({.device = part.device,
                         .begin = part.begin,
                         .end = part.end,
                         .points = reinterpret_cast<std::byte*>(part.points),
                         .stack = stacks.back().data(),
                         .subtrees = static_cast<int>(share.subtrees.size()),
                         .stream = part.stream});
        if (part.index > 0) // what the first part receives
            times.exchanged_bytes +=
                static_cast<double>(part.end - part.begin) * sizeof(PointType) +
                static_cast<double>(share.subtrees.size()) * engine.parts()[0].end * sizeof(Vec4<double>);
    }
    PartsExchange exchange(bench_case.exchange, n, sizeof(PointType), parts);
    std::vector<DeviceArray<Vec4<typename PointType::real>>> sums;
    std::vector<std::vector<const Vec4<double>*>> places;
    std::vector<Subtree> subtrees;
    for (const auto& part : engine.parts()) {
        use_device(part.device);
        sums.emplace_back(static_cast<std::size_t>(part.end - part.begin));
        places.push_back(exchange.subtrees_for(part.index));
        const auto share = symmetric_share<PointType>(n, part.index, count);
        subtrees.insert(subtrees.end(), share.subtrees.begin(), share.subtrees.end());
    }
    const auto step = [&] {
        engine.for_each_part([&](auto& part) { exchange.offer_points(part.index); });
        engine.for_each_part([&](auto& part) {
            exchange.take_points(part.index);
            exchange.offer_subtrees(part.index);
        });
        engine.for_each_part([&](auto& part) {
            const auto p = static_cast<std::size_t>(part.index);
            exchange.take_subtrees(part.index);
            launch_subtrees(places[p], subtrees, part.end - part.begin, sums[p].data(), part.stream);
        });
    };
    int steps = 0;
    times.exchange_ms = milliseconds_a_step(bench_case.runs, steps, step, [&] { engine.synchronize(); });
}

template <class PointType>
MultiGpuTimes measure_points(const gpu_test::Cloud& cloud, const MultiGpuCase& bench_case) {
    using Real = typename PointType::real;
    const auto n = cloud.strengths.size();
    std::vector<PointType> points(n);
    for (std::size_t i = 0; i < n; ++i)
        points[i].at = {static_cast<Real>(cloud.points[3 * i]), static_cast<Real>(cloud.points[3 * i + 1]),
                        static_cast<Real>(cloud.points[3 * i + 2]), static_cast<Real>(cloud.strengths[i])};
    SumEngine<PointType> engine({.devices = bench_case.devices,
                                 .multi_gpu = bench_case.multi_gpu,
                                 .exchange = bench_case.exchange,
                                 .outputs = field_only,
                                 .n = static_cast<int>(n),
                                 .softening = bench_case.softening});
    engine.for_each_part([&](auto& part) {
        copy(part.points + part.begin, points.data() + part.begin,
             static_cast<std::size_t>(part.end - part.begin), part.stream);
    });
    MultiGpuTimes times;
    times.step_ms = milliseconds_a_step(
        bench_case.runs, times.steps, [&] { engine.compute(); }, [&] { engine.synchronize(); });
    std::vector<Vec4<Real>> sums(n);
    engine.for_each_part([&](auto& part) {
        copy(sums.data() + part.begin, part.sums, static_cast<std::size_t>(part.end - part.begin),
             part.stream);
    });
    engine.synchronize();
    for (const auto& sum : sums) times.field.insert(times.field.end(), {sum.x, sum.y, sum.z});
    if (bench_case.devices.size() > 1) measure_exchange(engine, bench_case, times);
    return times;
}

} // namespace

MultiGpuTimes measure(const gpu_test::Cloud& cloud, const MultiGpuCase& bench_case) {
    return bench_case.precision == Precision::float32 ? measure_points<Point<float>>(cloud, bench_case)
                                                      : measure_points<Point<double>>(cloud, bench_case);
}

} // namespace farfield::cuda
