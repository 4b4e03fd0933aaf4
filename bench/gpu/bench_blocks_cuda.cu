// Times sums over blocks on a GPU: N = 1,048,576 uniform points in k³ blocks with 27 neighbours, potential and
// field, one-sided and mutual. Prints a table and writes JSON: median of the runs by events around the kernels
// (pairs and gathering of slots; not the lists), and relative L2 errors against long double over the 64 targets
// of the largest field and 448 spread evenly. Precision `float`: inputs are floats, from one origin; `mixed`:
// doubles, rounded to float from the centres of their blocks.
// Use: bench_blocks_cuda OUT.json [runs] [commit] [sweep]; `sweep` tries every number of warps.
#include "backend/cuda/check.h"
#include "backend/cuda/memory.h"
#include "block_grid.h"
#include "sums/direct/cuda/blocks/block_sum.cuh"

#include <farfield/error.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace farfield;
using namespace farfield::cuda;
using Json = nlohmann::ordered_json;

constexpr std::int64_t points_of_all = 1048576;
constexpr std::size_t largest = 64, spread = 448;

struct Exact {
    long double field[3] = {0, 0, 0}, potential = 0;
};

// Σ q d/r³ with d from target to source, and Σ q/r, of the point `i` in `block`.
Exact exact_sum(const block_grid::Grid& grid, std::size_t block, std::size_t i) {
    Exact sum;
    const auto add = [&](const BlockRange& range) {
        for (auto j = static_cast<std::size_t>(range.begin); j < static_cast<std::size_t>(range.end); ++j) {
            if (j == i) continue;
            long double d[3], r2 = 0;
            for (std::size_t k = 0; k < 3; ++k) {
                d[k] = static_cast<long double>(grid.points[3 * j + k]) - grid.points[3 * i + k];
                r2 += d[k] * d[k];
            }
            const long double term = grid.strengths[j] / std::sqrt(r2);
            sum.potential += term;
            for (std::size_t k = 0; k < 3; ++k) sum.field[k] += term * d[k] / r2;
        }
    };
    add(grid.blocks[block]);
    for (const auto partner : grid.lists().of(block)) add(grid.blocks[static_cast<std::size_t>(partner)]);
    return sum;
}

/// Exact sums of chosen targets, computed when first asked for.
class Truth {
public:
    explicit Truth(const block_grid::Grid& grid) : grid_(grid) {}

    std::map<std::size_t, Exact>& at(const std::vector<std::size_t>& rows) {
        std::vector<std::size_t> missing;
        for (const auto row : rows)
            if (exact_.emplace(row, Exact{}).second) missing.push_back(row);
        std::vector<std::thread> threads;
        const std::size_t count = std::max(1U, std::thread::hardware_concurrency());
        for (std::size_t t = 0; t < count; ++t)
            threads.emplace_back([&, t] {
                for (std::size_t k = t; k < missing.size(); k += count) {
                    const auto after = std::upper_bound(
                        grid_.blocks.begin(), grid_.blocks.end(), missing[k],
                        [](std::size_t i, const BlockRange& range) { return static_cast<int>(i) < range.end; });
                    exact_.at(missing[k]) = exact_sum(
                        grid_, static_cast<std::size_t>(after - grid_.blocks.begin()), missing[k]);
                }
            });
        for (auto& thread : threads) thread.join();
        return exact_;
    }

private:
    const block_grid::Grid& grid_;
    std::map<std::size_t, Exact> exact_;
};

template <class T>
DeviceArray<T> on_device(const std::vector<T>& values) {
    DeviceArray<T> out(values.size());
    copy(out.data(), values.data(), values.size(), nullptr);
    return out;
}

template <class Real>
std::vector<std::size_t> chosen_rows(const std::vector<Vec4<Real>>& sums) {
    std::vector<std::size_t> rows(sums.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
    const auto square = [&](std::size_t i) {
        const double x = sums[i].x, y = sums[i].y, z = sums[i].z;
        return x * x + y * y + z * z;
    };
    std::partial_sort(rows.begin(), rows.begin() + largest, rows.end(),
                      [&](std::size_t a, std::size_t b) { return square(a) > square(b); });
    rows.resize(largest);
    for (std::size_t k = 0; k < spread; ++k) rows.push_back(k * sums.size() / spread);
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
}

struct Errors {
    double field = 0, potential = 0;
};

template <class Real>
Errors errors_of(const std::vector<Vec4<Real>>& sums, Truth& truth) {
    const auto rows = chosen_rows(sums);
    auto& exact = truth.at(rows);
    long double field = 0, field_norm = 0, potential = 0, potential_norm = 0;
    for (const auto row : rows) {
        const auto& e = exact.at(row);
        const long double got[3] = {sums[row].x, sums[row].y, sums[row].z};
        for (int k = 0; k < 3; ++k) {
            field += (got[k] - e.field[k]) * (got[k] - e.field[k]);
            field_norm += e.field[k] * e.field[k];
        }
        potential += (sums[row].w - e.potential) * (sums[row].w - e.potential);
        potential_norm += e.potential * e.potential;
    }
    return {static_cast<double>(std::sqrt(field / field_norm)),
            static_cast<double>(std::sqrt(potential / potential_norm))};
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
        times.push_back(ms);
    }
    std::sort(times.begin(), times.end());
    return times;
}

/// One grid in one precision on the GPU.
template <class Real>
class GridCase {
public:
    GridCase(const block_grid::Grid& grid, int k, const char* precision, bool centred, int runs, Json& rows)
        : grid_(grid), k_(k), precision_(precision), runs_(runs), rows_(rows), half_(half_of(grid.lists())),
          blocks_(on_device(grid.blocks)), first_(on_device(grid.first)), partners_(on_device(grid.partners)),
          half_first_(on_device(half_.first)), half_partners_(on_device(half_.partners)),
          sums_(grid.strengths.size()) {
        std::vector<Vec4<double>> centres(grid.blocks.size(), Vec4<double>{0, 0, 0, 0});
        if (centred)
            for (std::size_t b = 0; b < centres.size(); ++b)
                centres[b] = {grid.centres[3 * b], grid.centres[3 * b + 1], grid.centres[3 * b + 2], 0};
        std::vector<Vec4<Real>> points;
        for (std::size_t b = 0; b < centres.size(); ++b)
            for (auto i = static_cast<std::size_t>(grid.blocks[b].begin);
                 i < static_cast<std::size_t>(grid.blocks[b].end); ++i)
                points.push_back({static_cast<Real>(grid.points[3 * i] - centres[b].x),
                                  static_cast<Real>(grid.points[3 * i + 1] - centres[b].y),
                                  static_cast<Real>(grid.points[3 * i + 2] - centres[b].z),
                                  static_cast<Real>(grid.strengths[i])});
        points_ = on_device(points);
        if (centred) centres_ = on_device(centres);
    }

    void run(bool mutual, int warps, Truth& truth) {
        const auto lists = mutual ? grid_.lists(half_) : grid_.lists();
        const BlockShape shape = warps == 0 ? block_shape(mean_size(lists), sizeof(Real))
                                            : BlockShape{warps, largest_tile(sizeof(Real), warps)};
        const auto plan = plan_blocks(lists, shape, mutual);
        const DeviceBlockPlan device_plan(plan, nullptr);
        DeviceArray<Vec4<Real>> slots(static_cast<std::size_t>(plan.slot_count));
        const BlockTask<Real> task{.targets = points_.data(),
                                   .sources = points_.data(),
                                   .target_blocks = blocks_.data(),
                                   .source_blocks = blocks_.data(),
                                   .first = mutual ? half_first_.data() : first_.data(),
                                   .partners = mutual ? half_partners_.data() : partners_.data(),
                                   .target_centres = centres_.data(),
                                   .source_centres = centres_.data(),
                                   .own = true,
                                   .sums = sums_.data()};
        const auto launch = [&] { launch_blocks(task, device_plan.view(), slots.data(), nullptr); };
        check(cudaMemset(sums_.data(), 0xff, sums_.bytes()), "filling the sums with NaN");
        const auto times = milliseconds(runs_, launch);
        std::vector<Vec4<Real>> sums(sums_.size());
        copy(sums.data(), sums_.data(), sums.size(), nullptr);
        check(cudaDeviceSynchronize(), "copying the sums");
        const auto errors = errors_of(sums, truth);
        const double ms = times[times.size() / 2];
        const auto pairs = count_pairs(grid_.lists());
        const double rate = static_cast<double>(pairs) / (1e-3 * ms);
        rows_.push_back({{"blocks", k_ * k_ * k_},
                         {"grid", k_},
                         {"precision", precision_},
                         {"sum", mutual ? "mutual" : "one-sided"},
                         {"warps", shape.warps},
                         {"items", plan.items.size()},
                         {"pairs", pairs},
                         {"median_ms", ms},
                         {"fastest_ms", times.front()},
                         {"slowest_ms", times.back()},
                         {"pairs_per_second", rate},
                         {"slot_bytes", plan.slot_bytes(sizeof(Real))},
                         {"field_error", errors.field},
                         {"potential_error", errors.potential}});
        std::printf("%2d^3 %-6s %-9s warps %d  %7.4f ms (fastest %7.4f)  %6.3f e12 pairs/s  field %.1e potential %.1e\n",
                    k_, precision_, mutual ? "mutual" : "one-sided", shape.warps, ms, times.front(),
                    1e-12 * rate, errors.field, errors.potential);
        std::fflush(stdout);
    }

private:
    const block_grid::Grid& grid_;
    int k_;
    const char* precision_;
    int runs_;
    Json& rows_;
    BlockRows half_;
    DeviceArray<BlockRange> blocks_;
    DeviceArray<std::int32_t> first_, partners_, half_first_, half_partners_;
    DeviceArray<Vec4<Real>> points_, sums_;
    DeviceArray<Vec4<double>> centres_;
};

template <class Real>
void bench_grid(const block_grid::Grid& grid, int k, const char* precision, bool centred, int runs, bool sweep,
                Truth& truth, Json& rows) {
    GridCase<Real> the_case(grid, k, precision, centred, runs, rows);
    for (const bool mutual : {false, true})
        for (const int warps : sweep ? std::vector<int>{1, 2, 4} : std::vector<int>{0})
            the_case.run(mutual, warps, truth);
}

int bench(const std::vector<std::string>& arguments) {
    if (arguments.empty())
        throw InvalidArgument("use: bench_blocks_cuda OUT.json [runs] [commit] [sweep]");
    const int runs = arguments.size() > 1 ? std::max(1, std::atoi(arguments[1].c_str())) : 31;
    const bool sweep = arguments.size() > 3 && arguments[3] == "sweep";
    std::string command = "bench_blocks_cuda";
    for (const auto& argument : arguments) command += " " + argument;
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, 0), "asking for the GPU");
    Json report{{"commit", arguments.size() > 2 ? arguments[2] : "unknown"},
                {"machine", properties.name},
                {"command", command},
                {"benchmark", "blocks"},
                {"model", "uniform cube, 27 neighbours"},
                {"outputs", "potential, field"},
                {"n", points_of_all},
                {"clock", "events around the pair kernel and the gathering of slots"},
                {"repeats", runs},
                {"rows", Json::array()}};
    for (const int k : {16, 20, 24, 28, 32, 40}) {
        {
            const auto grid = block_grid::uniform(points_of_all, k, 1, true);
            Truth truth(grid);
            bench_grid<float>(grid, k, "float", false, runs, sweep, truth, report["rows"]);
        }
        const auto grid = block_grid::uniform(points_of_all, k, 1, false);
        Truth truth(grid);
        if (!sweep) bench_grid<float>(grid, k, "mixed", true, runs, sweep, truth, report["rows"]);
        bench_grid<double>(grid, k, "double", false, runs, sweep, truth, report["rows"]);
    }
    std::ofstream out(arguments[0]);
    out << report.dump(1) << '\n';
    if (!out.flush()) throw IoError("cannot write " + arguments[0]);
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return bench({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_blocks_cuda: %s\n", error.what());
        return 1;
    }
}
