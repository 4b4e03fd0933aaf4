// The report of bench_direct_cuda as a table and as JSON.
#include "base/json.h"
#include "io/atomic_file.h"
#include "studies/bench_direct_cuda.h"
#include "studies/bench_points.h"

#include <fmt/format.h>
namespace farfield {
namespace {

std::string or_dash(const std::optional<double>& value, int digits) {
    return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

std::string_view limit_of(const cuda::RungResources& kernel, const cuda::MultiprocessorLimits& limits) {
    return cuda::blocks_that_fit(kernel, limits).limit();
}

std::string resources_text(const BenchCudaRow& row, const cuda::MultiprocessorLimits& limits) {
    if (!row.resources) return fmt::format("{:>5} {:>5} {:<13}", "-", "-", "-");
    return fmt::format("{:>5} {:>4.0f}% {:<13}", row.resources->registers,
                       100.0 * cuda::occupancy(*row.resources, limits), limit_of(*row.resources, limits));
}

Json json_of(const cuda::RungResources& kernel, const cuda::MultiprocessorLimits& limits) {
    const auto fit = cuda::blocks_that_fit(kernel, limits);
    return {{"registers_per_thread", kernel.registers},
            {"shared_bytes_per_block", kernel.shared_bytes},
            {"local_bytes_per_thread", kernel.local_bytes},
            {"threads_per_block", kernel.threads},
            {"blocks_per_multiprocessor", kernel.blocks},
            {"occupancy", cuda::occupancy(kernel, limits)},
            {"limited_by", fit.limit()},
            {"blocks_by_threads", fit.by_threads},
            {"blocks_by_blocks", fit.by_blocks},
            {"blocks_by_registers", fit.by_registers},
            {"blocks_by_shared_memory", fit.by_shared}};
}

void append_row(std::string& out, const BenchCudaRow& row, const cuda::MultiprocessorLimits& limits) {
    const auto percent = [](std::optional<double> share) {
        return share ? fmt::format("{:.0f}%", 100.0 * *share) : std::string("-");
    };
    out += fmt::format(
        "{:<6} {:<13} {:>7} {:>10.4g} {:>10.4g} {:>9.4g} {:>6} {:>9.3g} {:>6} {:>8.4g} {:>9.5g} {:>5} {:>5} "
        "{:>5} {:>8.1e} {}\n",
        name_of(row.precision), cuda::info_of(row.rung).name, row.n, 1e3 * row.seconds,
        1e-9 * row.pairs_per_second, 1e-9 * row.bytes_per_second, or_dash(row.instructions_a_pair, 1),
        row.over_one_thread, or_dash(row.over_predecessor, 2), row.over_cpu_thread, 1e-9 * row.flops,
        percent(row.share_of_peak), percent(row.share_of_realistic), percent(row.share_of_actual), row.error,
        resources_text(row, limits));
}

Json json_of(const cuda::Ceilings& ceilings) {
    Json json{{"fma_float_per_second", ceilings.fma_float},
              {"fma_double_per_second", ceilings.fma_double},
              {"rsqrt_float_per_second", ceilings.rsqrt_float},
              {"copy_bytes_per_second", ceilings.copy_bytes},
              {"host_to_gpu_bytes_per_second", ceilings.to_gpu_bytes},
              {"gpu_to_host_bytes_per_second", ceilings.to_host_bytes},
              {"clock_hz", ceilings.clock_hz},
              {"rated_clock_hz", ceilings.most_clock_hz}};
    for (const auto& loop : ceilings.fma_loops)
        json["fma_loops"].push_back({{"type", loop.is_double ? "double" : "float"},
                                     {"own_operands", loop.own_operands},
                                     {"chains", loop.chains},
                                     {"unroll", loop.unroll},
                                     {"warps", loop.warps},
                                     {"per_second", loop.per_second}});
    return json;
}

Json json_of(const BenchCudaRow& row, const cuda::MultiprocessorLimits& limits) {
    return {{"rung", cuda::info_of(row.rung).name},
            {"precision", name_of(row.precision)},
            {"n", row.n},
            {"deterministic", cuda::info_of(row.rung).deterministic},
            {"seconds", row.seconds},
            {"fastest_seconds", row.fastest_seconds},
            {"slowest_seconds", row.slowest_seconds},
            {"pairs_per_second", row.pairs_per_second},
            {"error", row.error},
            {"bytes_per_second", row.bytes_per_second},
            {"instructions_per_pair", or_null(row.instructions_a_pair)},
            {"speedup_over_one_thread", row.over_one_thread},
            {"speedup_over_predecessor", or_null(row.over_predecessor)},
            {"speedup_over_cpu_thread", row.over_cpu_thread},
            {"gflops_at_20", 1e-9 * row.flops},
            {"share_of_peak", row.share_of_peak},
            {"share_of_realistic_peak", row.share_of_realistic},
            {"share_of_actual_peak", or_null(row.share_of_actual)},
            {"resources", row.resources ? json_of(*row.resources, limits) : Json()}};
}

} // namespace

std::string to_text(const BenchCudaReport& report) {
    const auto& ceilings = report.ceilings;
    auto out = fmt::format(
        "Field of a Plummer sphere, softening {}, on one {} ({} multiprocessors); medians of {} by events.\n"
        "Error: relative L2 at sampled points, float against inputs rounded to float. Flop: 20 a pair.\n"
        "One CPU thread ({}), N = {}: {:.2f}e9 pairs/s float, {:.2f}e9 double.\n"
        "Registers alone: {:.1f}e12 FMA/s float, {:.1f}e12 double, {:.2f}e12 1/sqrt at {:.0f} MHz; memory "
        "{:.2f} TB/s;\nlink to the host, pinned memory: {:.1f} GB/s to the GPU, {:.1f} GB/s back.\n\n",
        bench_softening, report.device, report.multiprocessors, report.repeats, report.cpu, report.cpu_n,
        1e-9 * report.cpu_float_pairs, 1e-9 * report.cpu_double_pairs, 1e-12 * ceilings.fma_float,
        1e-12 * ceilings.fma_double, 1e-12 * ceilings.rsqrt_float, 1e-6 * ceilings.clock_hz,
        1e-12 * ceilings.copy_bytes, 1e-9 * ceilings.to_gpu_bytes, 1e-9 * ceilings.to_host_bytes);
    out +=
        fmt::format("{:<6} {:<13} {:>7} {:>10} {:>10} {:>9} {:>6} {:>9} {:>6} {:>8} {:>9} {:>5} {:>5} {:>5} "
                    "{:>8} {:>5} {:>5} {}\n",
                    "", "rung", "N", "ms", "1e9 pair/s", "GB/s", "instr.", "vs 1 thr.", "gain", "vs CPU",
                    "Gflop/s", "peak", "real.", "act.", "error", "regs", "occ.", "limit");
    for (const auto& row : report.rows) append_row(out, row, report.limits);
    out += "\ninstr.: of the machine, a directed pair; gain: over the rung before, or the one it branches "
           "from;\n"
           "peak, real., act.: shares of the peak, realistic and actual peak as the slides count them;\n"
           "regs: registers a thread; occ.: of the threads that a multiprocessor holds; limit: what there "
           "are no more "
           "blocks for.\n";
    return out;
}

std::string to_json(const BenchCudaReport& report) {
    Json json{{"benchmark", "direct"},
              {"device", report.device},
              {"multiprocessors", report.multiprocessors},
              {"multiprocessor",
               {{"threads", report.limits.threads},
                {"blocks", report.limits.blocks},
                {"registers", report.limits.registers},
                {"shared_bytes", report.limits.shared_bytes}}},
              {"cpu", report.cpu},
              {"model", "plummer"},
              {"softening", bench_softening},
              {"outputs", "field"},
              {"clock", "events"},
              {"repeats", report.repeats},
              {"cpu_thread",
               {{"n", report.cpu_n},
                {"float_pairs_per_second", report.cpu_float_pairs},
                {"double_pairs_per_second", report.cpu_double_pairs}}},
              {"ceilings", json_of(report.ceilings)}};
    auto& rows = json["rows"] = Json::array();
    for (const auto& row : report.rows) rows.push_back(json_of(row, report.limits));
    return json.dump(2) + "\n";
}

void write_json(const BenchCudaReport& report, const std::filesystem::path& path) {
    write_file_atomically(path, to_json(report));
}

} // namespace farfield
