// The pair loops over blocks beside the all-pairs loop, on one core, turn by turn: N uniform points in k³
// blocks with 27 neighbours against the mutual loop over 16,384 points. Only pairs that are computed count.
// Prints a table and writes JSON. Use: bench_blocks OUT.json [repeats] [commit]
#include "block_grid.h"
#include "studies/machine_report.h"
#include "sums/direct/cpu/blocks/block_sum.h"
#include "sums/direct/cpu/variants.h"
#include "sums/points/prepared.h"

#include <farfield/error.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace farfield;
using Json = nlohmann::ordered_json;

constexpr std::int64_t all_pairs_points = 16384;
constexpr std::uint64_t seed = 20261122;

// Of this thread: other work on the machine takes turns with it and does not count.
double cpu_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Points in the type of a precision, and room for their sums.
template <class T>
struct Case {
    PreparedPoints<T> points;
    std::vector<double> sums;
    Case(const block_grid::Grid& grid, bool mixed) : sums(4 * grid.strengths.size()) {
        points.set(grid.points, choose_frame(grid.points, {}, 0.0), mixed);
        points.set_strengths(grid.strengths, 0);
    }
    TileSums where() {
        const auto n = sums.size() / 4;
        return {sums.data(), {sums.data() + n, sums.data() + 2 * n, sums.data() + 3 * n}};
    }
};

struct Timed {
    std::string loop;
    int block = 0;
    std::int64_t pairs = 0;
    std::function<void()> run;
    std::vector<double> seconds{};
    std::vector<double> share{}; ///< rate over that of the all-pairs loop in the same turn
};

template <class T>
void add_block_loops(std::vector<Timed>& timed, Precision precision, int block) {
    const int k = block >= 256 ? 5 : block >= 128 ? 6 : block >= 64 ? 8 : 10;
    const auto grid = block_grid::uniform(std::int64_t{block} * k * k * k, k, seed, false);
    const auto data = std::make_shared<Case<T>>(grid, precision == Precision::mixed);
    const auto n = static_cast<std::int64_t>(grid.strengths.size());
    const BlockSumTask task{.precision = precision,
                            .targets = data->points.view(),
                            .sources = data->points.view(),
                            .sums = data->where(),
                            .isa = best_isa()};
    const auto one_sided = std::make_shared<OneSidedBlocks>(grid.lists());
    const auto mutual = std::make_shared<MutualBlocks>(grid.lists(half_of(grid.lists())), n);
    const auto pairs = count_pairs(grid.lists());
    timed.push_back({"one-sided", block, pairs, [=] { (void)data, one_sided->sum(task); }});
    timed.push_back({"mutual", block, pairs, [=] { (void)data, mutual->sum(task); }});
}

template <class T>
void bench_precision(Precision precision, int repeats, Json& rows) {
    const auto cloud = block_grid::uniform(all_pairs_points, 1, seed, false);
    const auto data = std::make_shared<Case<T>>(cloud, precision == Precision::mixed);
    const VariantTask all{.variant = Variant::symmetric,
                          .isa = best_isa(),
                          .precision = precision,
                          .self = true,
                          .targets = data->points.view(),
                          .sources = data->points.view(),
                          .sums = data->where()};
    std::vector<Timed> timed{
        {"all-pairs", 0, all_pairs_points * (all_pairs_points - 1), [&] { run_variant(all); }}};
    for (const int block : {32, 64, 128, 256}) add_block_loops<T>(timed, precision, block);
    for (auto& one : timed) one.run();
    for (int turn = 0; turn < repeats; ++turn)
        for (auto& one : timed) {
            const double start = cpu_seconds();
            one.run();
            one.seconds.push_back(cpu_seconds() - start);
            const double all_rate = static_cast<double>(timed[0].pairs) / timed[0].seconds.back();
            one.share.push_back(static_cast<double>(one.pairs) / one.seconds.back() / all_rate);
        }
    for (const auto& one : timed) {
        const double rate = static_cast<double>(one.pairs) / median(one.seconds);
        rows.push_back({{"precision", name_of(precision)},
                        {"loop", one.loop},
                        {"points_a_block", one.block},
                        {"pairs", one.pairs},
                        {"seconds", median(one.seconds)},
                        {"fastest_seconds", *std::min_element(one.seconds.begin(), one.seconds.end())},
                        {"pairs_per_second", rate},
                        {"share_of_all_pairs", median(one.share)}});
        std::printf("%-7s %-10s %4d  %6.2f e9 pairs/s  %.3f of all pairs\n",
                    std::string(name_of(precision)).c_str(), one.loop.c_str(), one.block, 1e-9 * rate,
                    median(one.share));
        std::fflush(stdout);
    }
}

int bench(const std::vector<std::string>& arguments) {
    if (arguments.empty()) throw InvalidArgument("use: bench_blocks OUT.json [repeats] [commit]");
    const int repeats = arguments.size() > 1 ? std::max(1, std::atoi(arguments[1].c_str())) : 31;
    const auto machine = machine_report();
    std::string command = "bench_blocks";
    for (const auto& argument : arguments) command += " " + argument;
    Json report{{"commit", arguments.size() > 2 ? arguments[2] : "unknown"},
                {"machine", machine.cpu + ", " + machine.compiler},
                {"command", command},
                {"benchmark", "blocks"},
                {"isa", name_of(best_isa())},
                {"model", "uniform cube, 27 neighbours"},
                {"outputs", "potential, field"},
                {"clock", "CPU time of the one thread"},
                {"repeats", repeats},
                {"rows", Json::array()}};
    bench_precision<float>(Precision::float32, repeats, report["rows"]);
    bench_precision<double>(Precision::float64, repeats, report["rows"]);
    bench_precision<float>(Precision::mixed, repeats, report["rows"]);
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
        std::fprintf(stderr, "bench_blocks: %s\n", error.what());
        return 1;
    }
}
