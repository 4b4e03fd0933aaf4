// Times sums over blocks on a GPU: N = 1,048,576 uniform points in k³ blocks with 27 neighbours, potential
// and field, one-sided and mutual. Prints a table and writes JSON: median of the runs by events around the
// kernels (pairs and gathering of slots; not the lists), and relative L2 errors against long double over the
// 64 targets of the largest field and 448 spread evenly. Precision `float`: inputs are floats, from one
// origin; `centred`: doubles, rounded to float from the centres of their blocks. Use: bench_blocks_cuda
// OUT.json [runs] [commit] [sweep]; `sweep` tries every number of warps.
#include "backend/cuda/devices.h"
#include "blocks_case.h"

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

// Σ q d/r³ with d = x − y, and Σ q/r, of the point `i` in `block`.
Exact exact_sum(const block_grid::Grid& grid, std::size_t block, std::size_t i) {
    Exact sum;
    const auto add = [&](const BlockRange& range) {
        for (auto j = static_cast<std::size_t>(range.begin); j < static_cast<std::size_t>(range.end); ++j) {
            if (j == i) continue;
            long double d[3], r2 = 0;
            for (std::size_t k = 0; k < 3; ++k) {
                d[k] = static_cast<long double>(grid.points[3 * i + k]) - grid.points[3 * j + k];
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
                    const auto after = std::upper_bound(grid_.blocks.begin(), grid_.blocks.end(), missing[k],
                                                        [](std::size_t i, const BlockRange& range) {
                                                            return static_cast<int>(i) < range.end;
                                                        });
                    exact_.at(missing[k]) =
                        exact_sum(grid_, static_cast<std::size_t>(after - grid_.blocks.begin()), missing[k]);
                }
            });
        for (auto& thread : threads) thread.join();
        return exact_;
    }

private:
    const block_grid::Grid& grid_;
    std::map<std::size_t, Exact> exact_;
};

// Of sums N×4: the rows of the largest field, and others spread evenly.
std::vector<std::size_t> chosen_rows(const std::vector<double>& sums) {
    std::vector<std::size_t> rows(sums.size() / 4);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
    const auto square = [&](std::size_t i) {
        const double* sum = &sums[4 * i];
        return sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2];
    };
    std::partial_sort(rows.begin(), rows.begin() + largest, rows.end(),
                      [&](std::size_t a, std::size_t b) { return square(a) > square(b); });
    rows.resize(largest);
    for (std::size_t k = 0; k < spread; ++k) rows.push_back(k * sums.size() / 4 / spread);
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
}

struct Errors {
    double field = 0, potential = 0;
};

Errors errors_of(const std::vector<double>& sums, Truth& truth) {
    const auto rows = chosen_rows(sums);
    const auto& exact = truth.at(rows);
    long double field = 0, field_norm = 0, potential = 0, potential_norm = 0;
    for (const auto row : rows) {
        const auto& e = exact.at(row);
        for (std::size_t k = 0; k < 3; ++k) {
            field += (sums[4 * row + k] - e.field[k]) * (sums[4 * row + k] - e.field[k]);
            field_norm += e.field[k] * e.field[k];
        }
        potential += (sums[4 * row + 3] - e.potential) * (sums[4 * row + 3] - e.potential);
        potential_norm += e.potential * e.potential;
    }
    return {static_cast<double>(std::sqrt(field / field_norm)),
            static_cast<double>(std::sqrt(potential / potential_norm))};
}

/// One grid of blocks: its points, truth and rows of the report.
struct GridBench {
    int k;
    bool to_float;
    Json& rows;
    block_grid::Grid grid = block_grid::uniform(points_of_all, k, 1, to_float);
    Truth truth{grid};

    void run(const char* precision, const BlocksCase& bench_case) {
        const auto times = measure(grid, bench_case);
        const auto errors = errors_of(times.sums, truth);
        const double ms = times.ms[times.ms.size() / 2];
        const auto pairs = count_pairs(grid.lists());
        const double rate = static_cast<double>(pairs) / (1e-3 * ms);
        const char* sum = bench_case.mutual ? "mutual" : "one-sided";
        rows.push_back({{"blocks", k * k * k},
                        {"grid", k},
                        {"precision", precision},
                        {"sum", sum},
                        {"warps", times.warps},
                        {"items", times.items},
                        {"pairs", pairs},
                        {"median_ms", ms},
                        {"fastest_ms", times.ms.front()},
                        {"slowest_ms", times.ms.back()},
                        {"pairs_per_second", rate},
                        {"slot_bytes", times.slot_bytes},
                        {"field_error", errors.field},
                        {"potential_error", errors.potential}});
        std::printf("%d^3 %-6s %-9s warps %d %8.4f ms (fastest %8.4f) %6.3f e12 pairs/s  field %.1e "
                    "potential %.1e\n",
                    k, precision, sum, times.warps, ms, times.ms.front(), 1e-12 * rate, errors.field,
                    errors.potential);
        std::fflush(stdout);
    }

    void run_all(const char* precision, BlocksCase bench_case, bool sweep) {
        for (const bool mutual : {false, true})
            for (const int warps : sweep ? std::vector<int>{1, 2, 4} : std::vector<int>{0}) {
                bench_case.mutual = mutual;
                bench_case.warps = warps;
                run(precision, bench_case);
            }
    }
};

int bench(const std::vector<std::string>& arguments) {
    if (arguments.empty()) throw InvalidArgument("use: bench_blocks_cuda OUT.json [runs] [commit] [sweep]");
    const auto found = devices();
    if (found.empty()) throw BackendUnavailable(why_no_device());
    const int runs = arguments.size() > 1 ? std::max(1, std::atoi(arguments[1].c_str())) : 31;
    const bool sweep = arguments.size() > 3 && arguments[3] == "sweep";
    std::string command = "bench_blocks_cuda";
    for (const auto& argument : arguments) command += " " + argument;
    Json report{{"commit", arguments.size() > 2 ? arguments[2] : "unknown"},
                {"machine", found.front().name},
                {"command", command},
                {"benchmark", "blocks"},
                {"model", "uniform cube, 27 neighbours"},
                {"outputs", "potential, field"},
                {"n", points_of_all},
                {"clock", "events around the pair kernel and the gathering of slots"},
                {"repeats", runs},
                {"rows", Json::array()}};
    for (const int k : {16, 20, 24, 28, 32, 40}) {
        GridBench{k, true, report["rows"]}.run_all("float", {.runs = runs}, sweep);
        GridBench doubles{k, false, report["rows"]};
        doubles.run_all("centred", {.centred = true, .runs = runs}, sweep);
        doubles.run_all("double", {.is_double = true, .runs = runs}, sweep);
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
