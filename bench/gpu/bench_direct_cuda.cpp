// Times every rung of the direct sum on a GPU and writes JSON: median of the runs by CUDA events, directed
// pairs a second, and beside each rate the relative L2 error against long double on sampled rows. Use:
// bench_direct_cuda OUT.json [runs]
#include "backend/cuda/devices.h"
#include "ceilings.h"
#include "exact.h"
#include "sums/direct/cuda/device_sum.h"

#include <farfield/error.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace farfield;
using namespace farfield::cuda;
using Json = nlohmann::ordered_json;

constexpr double softening = 0.01;
constexpr double flop_a_pair = 20; // the convention of the CUDA Handbook and of Burtscher's slides

struct Inputs {
    gpu_test::Cloud cloud;
    std::vector<std::size_t> rows;
    gpu_test::ExactRows exact;
};

const Inputs& inputs_of(std::size_t n, bool to_float) {
    static std::map<std::pair<std::size_t, bool>, Inputs> cache;
    auto [place, fresh] = cache.try_emplace({n, to_float});
    if (fresh) {
        auto& inputs = place->second;
        inputs.cloud = gpu_test::plummer(n, 1, to_float);
        inputs.rows = gpu_test::sample_rows(n, n > 500000 ? 64 : 256);
        inputs.exact = gpu_test::exact_rows(inputs.cloud, inputs.cloud.points, true, softening, inputs.rows);
    }
    return place->second;
}

struct Case {
    Rung rung;
    Precision precision;
    std::size_t n;
    bool field = true, potential = false;
};

// Rungs too slow for the size asked run on fewer bodies; rates are compared, not times.
std::size_t capped(Rung rung, std::size_t n) {
    if (rung == Rung::one_thread) return std::min<std::size_t>(n, 2048);
    if (rung == Rung::atomics) return std::min<std::size_t>(n, 32768);
    return n;
}

Json measure(const Case& the_case, int runs) {
    const bool to_float = the_case.precision == Precision::float32;
    const auto& inputs = inputs_of(the_case.n, to_float);
    DeviceSum sum({.rung = the_case.rung,
                   .precision = the_case.precision,
                   .softening = softening,
                   .potential = the_case.potential,
                   .field = the_case.field});
    sum.set_points(inputs.cloud.points, inputs.cloud.strengths);
    sum.run();
    std::vector<double> times;
    for (int run = 0; run < runs; ++run) times.push_back(sum.run());
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2], n = static_cast<double>(the_case.n);
    const double rate = n * (n - 1) / (1e-3 * median);

    std::vector<double> potential(the_case.potential ? the_case.n : 0),
        field(the_case.field ? 3 * the_case.n : 0);
    sum.fetch(potential, field);
    Json row{{"rung", info_of(the_case.rung).name},
             {"precision", name_of(the_case.precision)},
             {"outputs", the_case.field ? (the_case.potential ? "field+potential" : "field") : "potential"},
             {"n", the_case.n},
             {"deterministic", info_of(the_case.rung).deterministic},
             {"runs", runs},
             {"median_ms", median},
             {"fastest_ms", times.front()},
             {"slowest_ms", times.back()},
             {"pairs_per_second", rate},
             {"gflops_at_20", flop_a_pair * rate * 1e-9}};
    double error = 0;
    if (the_case.field) error = gpu_test::relative_error(field, inputs.exact.field, inputs.rows, 3, -1.0);
    if (the_case.potential) {
        const double phi = gpu_test::relative_error(potential, inputs.exact.potential, inputs.rows, 1, -1.0);
        row["potential_relative_l2_error"] = phi;
        if (!the_case.field) error = phi;
    }
    row["relative_l2_error"] = error;
    std::printf("%-14s %-8s %-15s N=%-8zu %10.4f ms  %9.4g pairs/s  error %.2e\n",
                std::string(info_of(the_case.rung).name).c_str(),
                std::string(name_of(the_case.precision)).c_str(), row["outputs"].get<std::string>().c_str(),
                the_case.n, median, rate, error);
    std::fflush(stdout);
    return row;
}

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const auto precision : {Precision::float32, Precision::float64})
        for (const auto& info : rungs()) all.push_back({info.rung, precision, capped(info.rung, 65536)});
    for (const auto rung : {Rung::flush, Rung::register_tile, Rung::symmetric}) {
        for (std::size_t n : {1024, 4096, 16384, 32768, 131072, 262144, 1048576})
            all.push_back({rung, Precision::float32, n});
        for (std::size_t n : {1024, 4096, 16384, 262144}) all.push_back({rung, Precision::float64, n});
    }
    for (const auto rung : {Rung::register_tile, Rung::symmetric}) {
        for (std::size_t n : {16384, 65536, 262144}) all.push_back({rung, Precision::mixed, n});
        for (const auto precision : {Precision::float32, Precision::float64, Precision::mixed}) {
            all.push_back({rung, precision, 262144, true, true});
            all.push_back({rung, precision, 262144, false, true});
        }
    }
    return all;
}

int bench(const char* path, int runs) {
    const auto found = devices();
    if (found.empty()) throw BackendUnavailable(why_no_device());
    use_device(0);
    const auto ceilings = measure_ceilings();
    Json report{{"device", found.front().name},
                {"multiprocessors", found.front().multiprocessors},
                {"softening", softening},
                {"model", "Plummer, unequal masses, seed 1"},
                {"ceilings",
                 {{"fma_float_per_second", ceilings.fma_float},
                  {"fma_double_per_second", ceilings.fma_double},
                  {"rsqrt_float_per_second", ceilings.rsqrt_float},
                  {"copy_bytes_per_second", ceilings.copy_bytes}}}};
    std::printf("%s: float FMA %.4g/s, double FMA %.4g/s, float rsqrt %.4g/s, copy %.4g B/s\n",
                found.front().name.c_str(), ceilings.fma_float, ceilings.fma_double, ceilings.rsqrt_float,
                ceilings.copy_bytes);
    for (const auto& the_case : cases()) report["rows"].push_back(measure(the_case, runs));
    std::ofstream(path) << report.dump(1) << '\n';
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        if (argc < 2) throw InvalidArgument("use: bench_direct_cuda OUT.json [runs]");
        return bench(argv[1], argc > 2 ? std::max(1, std::atoi(argv[2])) : 5);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_direct_cuda: %s\n", error.what());
        return 1;
    }
}
