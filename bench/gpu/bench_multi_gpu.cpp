// Times a step of the symmetric sum on one and on several GPUs, in both designs and with every exchange, and
// writes JSON: median of the runs by the host's clock, speed-up over one GPU, the exchange alone, the
// relative L2 error against long double on sampled rows, and whether the bits are those of one GPU. Use:
// bench_multi_gpu OUT.json [runs]
#include "backend/cuda/devices.h"
#include "exact.h"
#include "multi_gpu_case.h"

#include <farfield/error.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace farfield;
using namespace farfield::cuda;
using Json = nlohmann::ordered_json;

constexpr double softening = 0.01;

double median(std::vector<double> times) {
    if (times.empty()) return 0.0;
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

// All cases of one size and precision, the single GPU first.
class Size {
public:
    Size(std::size_t n, Precision precision, int runs, Json& rows)
        : n_(n), precision_(precision), runs_(runs), rows_(rows),
          cloud_(gpu_test::plummer(n, 1, precision == Precision::float32)),
          sampled_(gpu_test::sample_rows(n, n > 500000 ? 64 : 256)),
          exact_(gpu_test::exact_rows(cloud_, cloud_.points, true, softening, sampled_)) {}

    void run(int gpus, MultiGpu design, Exchange exchange) {
        MultiGpuCase bench_case{.devices = {},
                                .multi_gpu = design,
                                .exchange = exchange,
                                .precision = precision_,
                                .softening = softening,
                                .runs = runs_};
        for (int device = 0; device < gpus; ++device) bench_case.devices.push_back(device);
        const auto times = measure(cloud_, bench_case);
        const double step = median(times.step_ms), n = static_cast<double>(n_);
        if (gpus == 1) {
            one_ms_ = step;
            one_field_ = times.field;
        }
        const double error = gpu_test::relative_error(times.field, exact_.field, sampled_, 3, -1.0);
        const auto [fastest, slowest] = std::minmax_element(times.step_ms.begin(), times.step_ms.end());
        rows_.push_back({{"n", n_},
                         {"precision", name_of(precision_)},
                         {"gpus", gpus},
                         {"design", name_of(design)},
                         {"exchange", gpus == 1 ? "none" : name_of(exchange)},
                         {"runs", runs_},
                         {"steps_a_run", times.steps},
                         {"median_ms", step},
                         {"fastest_ms", *fastest},
                         {"slowest_ms", *slowest},
                         {"pairs_per_second", n * (n - 1) / (1e-3 * step)},
                         {"speed_up", one_ms_ / step},
                         {"exchange_alone_ms", median(times.exchange_ms)},
                         {"received_bytes_a_gpu", times.exchanged_bytes},
                         {"relative_l2_error", error},
                         {"bits_of_one_gpu", times.field == one_field_}});
        std::printf("%-8s N=%-8zu %d GPUs %-8s %-15s %10.4f ms  x%.3f  exchange %8.4f ms  error %.1e  %s\n",
                    std::string(name_of(precision_)).c_str(), n_, gpus, std::string(name_of(design)).c_str(),
                    rows_.back()["exchange"].get<std::string>().c_str(), step, one_ms_ / step,
                    median(times.exchange_ms), error, times.field == one_field_ ? "same bits" : "OTHER BITS");
        std::fflush(stdout);
    }

private:
    std::size_t n_;
    Precision precision_;
    int runs_;
    Json& rows_;
    gpu_test::Cloud cloud_;
    std::vector<std::size_t> sampled_;
    gpu_test::ExactRows exact_;
    double one_ms_ = 0;
    std::vector<double> one_field_;
};

void bench_size(std::size_t n, Precision precision, int found, int runs, Json& rows) {
    Size size(n, precision, runs, rows);
    size.run(1, MultiGpu::threads, Exchange::peer);
    for (int gpus = 2; gpus <= found; gpus *= 2)
        for (const auto design : {MultiGpu::threads, MultiGpu::single})
            for (const auto exchange :
                 {Exchange::host, Exchange::mapped, Exchange::write_combined, Exchange::peer}) {
                try {
                    size.run(gpus, design, exchange);
                } catch (const BackendUnavailable& error) { // peer where GPUs do not reach each other
                    rows.push_back({{"n", n},
                                    {"gpus", gpus},
                                    {"exchange", name_of(exchange)},
                                    {"missing", error.what()}});
                    std::printf("%d GPUs %s: %s\n", gpus, std::string(name_of(exchange)).c_str(),
                                error.what());
                }
            }
}

int bench(const char* path, int runs) {
    const auto found = devices();
    if (found.empty()) throw BackendUnavailable(why_no_device());
    Json report{{"device", found.front().name},
                {"gpus", found.size()},
                {"softening", softening},
                {"outputs", "field"},
                {"model", "Plummer, unequal masses, seed 1"},
                {"rows", Json::array()}};
    const int gpus = static_cast<int>(found.size());
    for (std::size_t n : {1024, 4096}) bench_size(n, Precision::float32, 1, runs, report["rows"]);
    for (std::size_t n : {16384, 65536, 262144, 1048576})
        bench_size(n, Precision::float32, gpus, runs, report["rows"]);
    bench_size(262144, Precision::float64, gpus, runs, report["rows"]);
    std::ofstream(path) << report.dump(1) << '\n';
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        if (argc < 2) throw InvalidArgument("use: bench_multi_gpu OUT.json [runs]");
        return bench(argv[1], argc > 2 ? std::max(1, std::atoi(argv[2])) : 5);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_multi_gpu: %s\n", error.what());
        return 1;
    }
}
