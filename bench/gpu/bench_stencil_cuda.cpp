// Times stencil programs on a GPU beside the copy bandwidth measured in the same run, and writes JSON: 2D TE
// with the energy sum over sizes, steps a pass, tiles and masks, and 3D Yee. A cell-step is one cell of the
// grid in one step, in a subdomain or not. Use: bench_stencil_cuda OUT.json [seconds a measurement [PART OF A
// NAME]]
#include "backend/cuda/devices.h"
#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"
#include "stencil/compiler.h"
#include "stencil/front_end/front_end.h"
#include "stencil/targets.h"

#include <farfield/error.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace farfield;
using namespace farfield::stencil;
using Json = nlohmann::ordered_json;

// 24 bytes of fields and 8 of the sum read, and as many written: 64 a cell-step in one pass, 88 in two.
// The region of the electric update may be larger than that of the others, as in the seed's program.
std::string te(std::int64_t n, const std::string& disk, const std::string& electric = "disk") {
    const auto on = disk.empty() ? std::string("interior") : "disk";
    return "param n = " + std::to_string(n) + "\ngrid g[x: n, y: n]\nfield Ex, Ey, Hz, energy on g\n" + disk +
           "update electric on " + (disk.empty() ? on : electric) +
           ":\n    Ex += 0.5*(Hz - Hz[y-1])\n    Ey += 0.5*(Hz[x-1] - Hz)\n"
           "update magnetic on " +
           on +
           ":\n    Hz += 0.5*(Ex[y+1] - Ex + Ey - Ey[x+1])\n"
           "source dipole at (n//2, n//2): Hz += sin(0.15*t)\n"
           "update accumulate on " +
           on + ": energy += Hz^2\nstep: electric, magnetic, dipole, accumulate\n";
}

// A disk that fills a quarter of its grid.
const std::string quarter = "subdomain disk(x, y) = (x - n/2)^2 + (y - n/2)^2 < 0.25*n^2/pi and x > 0 and y "
                            "> 0 and x < n - 1 and y < n - 1\n";

std::string yee(std::int64_t n, const std::string& type) {
    return "param n = " + std::to_string(n) +
           "\ngrid g[x: n, y: n, z: n]\nfield Ex, Ey, Ez, Hx, Hy, Hz on g : " + type +
           "\nupdate electric on interior:\n    Ex += 0.4*(Hz - Hz[y-1] - Hy + Hy[z-1])\n    Ey += 0.4*(Hx - "
           "Hx[z-1] - Hz + "
           "Hz[x-1])\n    Ez += 0.4*(Hy - Hy[x-1] - Hx + Hx[y-1])\nupdate magnetic on interior:\n    Hx += "
           "0.4*(Ey[z+1] - "
           "Ey - Ez[y+1] + Ez)\n    Hy += 0.4*(Ez[x+1] - Ez - Ex[z+1] + Ex)\n    Hz += 0.4*(Ex[y+1] - Ex - "
           "Ey[x+1] + Ey)\n"
           "source dipole at (n//2, n//2, n//2): Ez += sin(0.15*t)\nstep: electric, magnetic, dipole\n";
}

std::shared_ptr<const ir::Program> compiled(const std::string& text) {
    FrontEnd front("bench.ff", text);
    CompileOptions options;
    options.allow_unstable = true;
    auto program = front.good() ? compile(front.model(), options, front.diagnostics()) : nullptr;
    if (program == nullptr) throw InternalError(to_text(front.diagnostics()));
    return program;
}

// Bytes a second of a copy from memory to memory, read and written.
double copy_bandwidth() {
    constexpr std::size_t bytes = std::size_t{2} << 30;
    cuda::DeviceArray<char> a(bytes), b(bytes);
    const cuda::Stream stream;
    cuda::Event start, end;
    double best = 0;
    for (int run = 0; run < 10; ++run) {
        start.record(stream);
        cuda::copy(b.data(), a.data(), bytes, stream.get());
        end.record(stream);
        best =
            std::max(best, 2.0 * static_cast<double>(bytes) / (1e-3 * cuda::Event::milliseconds(start, end)));
    }
    return best;
}

std::uint64_t fingerprint(Executor& executor) {
    const auto& shape = executor.program().grids[0].shape;
    std::vector<double> values(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
    std::uint64_t hash = 14695981039346656037U;
    for (std::size_t b = 0; b < executor.program().buffers.size(); ++b) {
        if (executor.program().buffers[b].kind != ir::BufferKind::field) continue;
        executor.read(static_cast<int>(b), values);
        for (const double value : values) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, &value, 8);
            hash = (hash ^ bits) * 1099511628211U;
        }
    }
    return hash;
}

class Bench {
public:
    Bench(double seconds, std::string part)
        : seconds_(seconds), part_(std::move(part)), bandwidth_(copy_bandwidth()) {
        std::printf("copy: %.3f TB/s read and written\n", 1e-12 * bandwidth_);
    }
    double bandwidth() const { return bandwidth_; }
    const Json& results() const { return results_; }

    // @param bytes that memory must move for a cell-step at least, with one step a pass
    void measure(const std::string& name, const std::shared_ptr<const ir::Program>& program,
                 const ExecutorOptions& options, double bytes) try {
        if (name.find(part_) == std::string::npos) return;
        const auto executor = make_executor("cuda", program, options);
        const auto& shape = program->grids[0].shape;
        const double cells = static_cast<double>(shape[0] * shape[1] * shape[2]);
        const auto count = steps_for(cells);
        executor->advance(240);
        const auto hash = cells < 2e7 ? fingerprint(*executor) : 0;
        std::vector<double> rates;
        for (int run = 0; run < 3; ++run) {
            const auto start = std::chrono::steady_clock::now();
            executor->advance(count);
            const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
            rates.push_back(cells * static_cast<double>(count) / taken.count());
        }
        std::sort(rates.begin(), rates.end());
        const auto& form = executor->preparation();
        std::printf(
            "%-30s %7.1fe9 cell-steps/s (%.1f to %.1f), bound of one step a pass %.1f, %s, bits %016llx\n",
            name.c_str(), 1e-9 * rates[1], 1e-9 * rates[0], 1e-9 * rates[2], 1e-9 * bandwidth_ / bytes,
            form.description.c_str(), static_cast<unsigned long long>(hash));
        std::fflush(stdout);
        results_.push_back({{"name", name},
                            {"shape", shape},
                            {"form", form.description},
                            {"compile_seconds", form.compile_seconds},
                            {"time_tile", options.time_tile},
                            {"block", options.block},
                            {"steps_a_run", count},
                            {"median_cell_steps_per_second", rates[1]},
                            {"slowest", rates[0]},
                            {"fastest", rates[2]},
                            {"bytes_a_cell_step", bytes},
                            {"fingerprint_after_240_steps", hash}});
    } catch (const Error& error) {
        std::printf("%-30s %s\n", name.c_str(), error.what());
        results_.push_back({{"name", name}, {"error", error.what()}});
    }

private:
    // Whole batches of graphs.
    std::int64_t steps_for(double cells) const {
        const double guess = seconds_ * 150e9 / cells;
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(guess) / 240 * 240, 240, 48000);
    }
    double seconds_;
    std::string part_; ///< of the names of what is measured
    double bandwidth_;
    Json results_ = Json::array();
};

// Columns streamed along z against a kernel an update.
void run_yee(Bench& bench) {
    using Block = std::array<int, 3>;
    for (const std::string type : {"double", "float"})
        for (const int n : {400, 512}) {
            const auto program = compiled(yee(n, type));
            const auto name = "yee " + type + " " + std::to_string(n) + " ";
            const double plain = type == "double" ? 144 : 72, fused = 2 * plain / 3;
            bench.measure(name + "plain", program, {.fuse = false}, plain);
            bench.measure(name + "plain 256", program, {.block = {256, 1, 1}, .fuse = false}, plain);
            bench.measure(name + "auto", program, {}, fused);
            if (n > 400) continue;
            for (const int steps : {1, 2, 3})
                bench.measure(name + "T=" + std::to_string(steps), program, {.time_tile = steps}, fused);
            for (const auto& block : {Block{64, 8, 0}, Block{128, 8, 0}, Block{64, 16, 32}})
                bench.measure(name + std::to_string(block[0]) + "x" + std::to_string(block[1]) + "x" +
                                  std::to_string(block[2]) + " T=1",
                              program, {.time_tile = 1, .block = block}, fused);
        }
}

void run_all(Bench& bench) {
    const auto sized = [](const char* name, std::int64_t n) {
        return std::string(name) + " " + std::to_string(n);
    };
    for (const std::int64_t n : {512, 1024, 2048, 4096, 8192}) {
        const auto program = compiled(te(n, ""));
        bench.measure(sized("plain", n), program, {.fuse = false}, 88);
        bench.measure(sized("fused", n), program, {.time_tile = 1}, 64);
        bench.measure(sized("auto", n), program, {}, 64);
    }
    const auto big = compiled(te(4096, ""));
    for (const int steps : {4, 6, 7, 8, 9})
        bench.measure(sized("64x48", 4096) + " T=" + std::to_string(steps), big, {.time_tile = steps}, 64);
    const std::vector<std::array<int, 3>> tiles = {{64, 40, 1}, {32, 96, 1}, {128, 48, 1}};
    for (const auto& block : tiles)
        for (const int steps : {6, 8})
            bench.measure(std::to_string(block[0]) + "x" + std::to_string(block[1]) +
                              " T=" + std::to_string(steps),
                          big, {.time_tile = steps, .block = block}, 64);
    bench.measure("auto 16384", compiled(te(16384, "")), {}, 64);
    bench.measure("fused 16384", compiled(te(16384, "")), {.time_tile = 1}, 64);
    const auto disk = compiled(te(4096, quarter));
    const std::vector<std::pair<Mask, std::string>> masks = {{Mask::spans, "spans"},
                                                             {Mask::branch, "branch"},
                                                             {Mask::select, "select"},
                                                             {Mask::multiply, "multiply"},
                                                             {Mask::none, "none"}};
    for (const auto& [mask, word] : masks) {
        const auto name = "disk, mask " + word;
        bench.measure(name + " plain", disk, {.mask = mask, .fuse = false}, 88);
        bench.measure(name + " fused", disk, {.mask = mask, .time_tile = 1}, 64);
        bench.measure(name + " auto", disk, {.mask = mask}, 64);
    }
    const auto seed = compiled(te(4096, quarter, "interior"));
    bench.measure("disk, electric outside too, plain", seed, {.fuse = false}, 88);
    bench.measure("disk, electric outside too, auto", seed, {}, 64);
    run_yee(bench);
}

} // namespace

int main(int argc, char** argv) try {
    if (argc < 2)
        throw InvalidArgument("use: bench_stencil_cuda OUT.json [seconds a measurement [PART OF A NAME]]");
    const auto found = cuda::devices();
    if (found.empty()) throw BackendUnavailable(cuda::why_no_device());
    Bench bench(argc > 2 ? std::atof(argv[2]) : 0.3, argc > 3 ? argv[3] : "");
    run_all(bench);
    const Json report{{"device", found.front().name},
                      {"copy_bytes_per_second", bench.bandwidth()},
                      {"results", bench.results()}};
    std::ofstream(argv[1]) << report.dump(2) << '\n';
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "bench_stencil_cuda: %s\n", error.what());
    return 2;
}
