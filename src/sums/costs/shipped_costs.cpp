// The cost table that comes with this version of Farfield. Changing a figure changes the table's hash, and
// may change where `auto` computes: it is a change of behaviour and belongs in the changelog.
#include "sums/costs/cost_table.h"

#include <array>
#include <utility>

namespace farfield {
namespace {

using Cost = std::pair<const char*, double>;

// One thread of many: 16 virtual CPUs of the Intel Xeon beside an H200, N = 16,384
// (bench/results/h200/cpu_of_the_host.json). Only beside a GPU is there a choice, so this host counts and not
// the faster CPU of bench/results/cpu. AVX-512 is measured with all threads: rungs `threads` and `symmetric`.
// AVX2 and SSE4.2 are measured on one thread, by the rung `simd`, and scaled by what 16 threads keep of one
// thread's rate in that precision with AVX-512 (0.766 float, 0.538 double, 0.767 mixed). From
// bench/results/cpu/tune.json come the ratios of self to separate targets (float, double, mixed:
// AVX2 1.3, 1.4, 1.45; SSE4.2 1.2, 1.5, 1.6; scalar 0.72, 1.14, 0.74), of scalar to SSE4.2 (0.57, 1.06,
// 0.62), and the fixed seconds. `cpu.thread_seconds` is what a sum in double took on two threads less half of
// what it took on one: 62 µs at 1,300 and 63 µs at 1,600 points, alternating, one sum after the other, the
// fastest 5 % of 2,000, on 2 virtual CPUs of an Intel Xeon. Where nobody virtualises the CPU, it is less.
// The coefficients of the fast multipole method were measured by `farfield tune fmm --threads 1 --repeat 12`
// on the machine of bench/results/cpu, and slowed by the ratio of the two machines in direct sums of points
// on themselves: of the same ISA and type (AVX-512 0.72 float, 0.64 double; AVX2 0.48, 0.42; SSE4.2 0.37,
// 0.38; scalar 0.49, 0.5), the others by 0.64. The rates by rotation are those of products times the
// ratio of the two that `farfield tune fmm --threads 2 --repeat 2` found on two quiet virtual CPUs of an AMD
// EPYC; with AVX-512 in double both take as long at order 25 or 26 (N = 300,000 and 1,000,000). The rates of
// cells in lanes are those of products times the ratio that `farfield tune fmm --threads 1 --repeat 4` found
// on another AMD EPYC; `cell_seconds` is what it found there, 8.6e-6, over the mean of the ratios of the
// other seconds (0.35). The coefficients of the fast Gauss transform come from sums of 100,000 points in 1 to
// 3 dimensions with AVX-512 on one of two shared virtual CPUs of an AMD EPYC; those of particle meshes, too:
// of 100,000 charges with splines of order 4 to 12 and meshes of 120³ to 192³ points.
constexpr std::array cpu_costs{
    Cost{"reference.cpu.pairs_per_second", 1.5e8}, // of a thread; 5,000 points, one sum on a shared host
    Cost{"cpu.thread_seconds", 6e-5},
    Cost{"direct.cpu.fixed_seconds", 3e-6},
    Cost{"direct.cpu.avx512.float.pairs_per_second", 2.64e9},
    Cost{"direct.cpu.avx512.float.self_pairs_per_second", 3.78e9},
    Cost{"direct.cpu.avx512.double.pairs_per_second", 9.41e8},
    Cost{"direct.cpu.avx512.double.self_pairs_per_second", 1.66e9},
    Cost{"direct.cpu.avx512.mixed.pairs_per_second", 2.01e9},
    Cost{"direct.cpu.avx512.mixed.self_pairs_per_second", 2.81e9},
    Cost{"direct.cpu.avx2.float.pairs_per_second", 1.57e9},
    Cost{"direct.cpu.avx2.float.self_pairs_per_second", 2.04e9},
    Cost{"direct.cpu.avx2.double.pairs_per_second", 4.8e8},
    Cost{"direct.cpu.avx2.double.self_pairs_per_second", 6.7e8},
    Cost{"direct.cpu.avx2.mixed.pairs_per_second", 1.14e9},
    Cost{"direct.cpu.avx2.mixed.self_pairs_per_second", 1.65e9},
    Cost{"direct.cpu.sse4_2.float.pairs_per_second", 5.42e8},
    Cost{"direct.cpu.sse4_2.float.self_pairs_per_second", 6.5e8},
    Cost{"direct.cpu.sse4_2.double.pairs_per_second", 1.6e8},
    Cost{"direct.cpu.sse4_2.double.self_pairs_per_second", 2.4e8},
    Cost{"direct.cpu.sse4_2.mixed.pairs_per_second", 4.19e8},
    Cost{"direct.cpu.sse4_2.mixed.self_pairs_per_second", 6.7e8},
    Cost{"direct.cpu.scalar.float.pairs_per_second", 3.1e8},
    Cost{"direct.cpu.scalar.float.self_pairs_per_second", 2.2e8},
    Cost{"direct.cpu.scalar.double.pairs_per_second", 1.7e8},
    Cost{"direct.cpu.scalar.double.self_pairs_per_second", 1.9e8},
    Cost{"direct.cpu.scalar.mixed.pairs_per_second", 2.6e8},
    Cost{"direct.cpu.scalar.mixed.self_pairs_per_second", 1.9e8},
    Cost{"lattice.cpu.pair_seconds", 4.7e-9},
    Cost{"ewald.cpu.wave_seconds", 4e-10},
    Cost{"pme.cpu.row_seconds", 2e-9},
    Cost{"pme.cpu.transform_seconds", 1.8e-9},
    Cost{"fgt.cpu.point_seconds", 1.2e-7},
    Cost{"fgt.cpu.row_seconds", 1.8e-9},
    Cost{"fgt.cpu.grid_seconds", 1.2e-10},
    Cost{"fgt.cpu.term_seconds", 4.5e-11},
    Cost{"fmm.cpu.fixed_seconds", 4e-4},
    Cost{"fmm.cpu.point_seconds", 2e-7},
    Cost{"fmm.cpu.cell_seconds", 2.4e-5},
    Cost{"fmm.cpu.leaf_seconds", 4e-6},
    Cost{"fmm.cpu.near_leaf_seconds", 2.4e-7},
    Cost{"fmm.cpu.operator_seconds", 2e-8},
    Cost{"fmm.cpu.avx512.float.multiply_adds_per_second", 2.4e10},
    Cost{"fmm.cpu.avx512.double.multiply_adds_per_second", 1.04e10},
    Cost{"fmm.cpu.avx2.float.multiply_adds_per_second", 1.2e10},
    Cost{"fmm.cpu.avx2.double.multiply_adds_per_second", 5e9},
    Cost{"fmm.cpu.sse4_2.float.multiply_adds_per_second", 3.5e9},
    Cost{"fmm.cpu.sse4_2.double.multiply_adds_per_second", 1.6e9},
    Cost{"fmm.cpu.scalar.float.multiply_adds_per_second", 1.5e9},
    Cost{"fmm.cpu.scalar.double.multiply_adds_per_second", 1.4e9},
    Cost{"fmm.cpu.avx512.float.rotated_work_per_second", 1.36e10},
    Cost{"fmm.cpu.avx512.double.rotated_work_per_second", 1.1e10},
    Cost{"fmm.cpu.avx2.float.rotated_work_per_second", 9.4e9},
    Cost{"fmm.cpu.avx2.double.rotated_work_per_second", 6.1e9},
    Cost{"fmm.cpu.sse4_2.float.rotated_work_per_second", 3.1e9},
    Cost{"fmm.cpu.sse4_2.double.rotated_work_per_second", 2e9},
    Cost{"fmm.cpu.scalar.float.rotated_work_per_second", 2.4e9},
    Cost{"fmm.cpu.scalar.double.rotated_work_per_second", 1.64e9},
    Cost{"fmm.cpu.avx512.float.block_work_per_second", 2.24e10},
    Cost{"fmm.cpu.avx512.double.block_work_per_second", 1.49e10},
    Cost{"fmm.cpu.avx2.float.block_work_per_second", 1.63e10},
    Cost{"fmm.cpu.avx2.double.block_work_per_second", 8.5e9},
    Cost{"fmm.cpu.sse4_2.float.block_work_per_second", 6e9},
    Cost{"fmm.cpu.sse4_2.double.block_work_per_second", 3.1e9},
    Cost{"fmm.cpu.scalar.float.block_work_per_second", 2.44e9},
    Cost{"fmm.cpu.scalar.double.block_work_per_second", 2.6e9},
    Cost{"fmm.cpu.avx512.float.functions_per_second", 2.4e9},
    Cost{"fmm.cpu.avx512.double.functions_per_second", 1.6e9},
    Cost{"fmm.cpu.avx2.float.functions_per_second", 1.36e9},
    Cost{"fmm.cpu.avx2.double.functions_per_second", 1e9},
    Cost{"fmm.cpu.sse4_2.float.functions_per_second", 6.5e8},
    Cost{"fmm.cpu.sse4_2.double.functions_per_second", 3.3e8},
    Cost{"fmm.cpu.scalar.float.functions_per_second", 3.2e8},
    Cost{"fmm.cpu.scalar.double.functions_per_second", 3.6e8},
};

// Measured on an H200. Pairs: N = 262,144 in bench/results/h200/direct.json, rungs `symmetric` (self) and
// `register-tile`. Start of CUDA: 0.20 to 0.23 s on that machine. Fixed seconds of a sum and the copy rate:
// "What a call takes" in docs/guide/gpus.md, 0.11 ms beside the kernel for 16,384 points and 3 ms for
// 1,048,576. A step of few bodies: docs/decisions/0012-steps-on-gpus.md.
constexpr std::array h200_costs{
    Cost{"gpu.h200.start_seconds", 0.25},
    Cost{"gpu.h200.bytes_per_second", 2.2e10},
    Cost{"direct.gpu.h200.fixed_seconds", 1.1e-4},
    Cost{"direct.gpu.h200.run_start_seconds", 0.25},
    Cost{"direct.gpu.h200.step_seconds", 4e-6},
    Cost{"direct.gpu.h200.float.pairs_per_second", 2.01e12},
    Cost{"direct.gpu.h200.float.self_pairs_per_second", 2.97e12},
    Cost{"direct.gpu.h200.double.pairs_per_second", 9.14e11},
    Cost{"direct.gpu.h200.double.self_pairs_per_second", 1.3e12},
    Cost{"direct.gpu.h200.mixed.pairs_per_second", 1.34e12},
    Cost{"direct.gpu.h200.mixed.self_pairs_per_second", 2.05e12},
};

// Not measured. An H100 (SXM) has the multiprocessors and the clock of an H200, and the sums wait for
// registers, not for memory: the figures of the H200.
constexpr std::array h100_costs{
    Cost{"gpu.h100.start_seconds", 0.25},
    Cost{"gpu.h100.bytes_per_second", 2.2e10},
    Cost{"direct.gpu.h100.fixed_seconds", 1.1e-4},
    Cost{"direct.gpu.h100.run_start_seconds", 0.25},
    Cost{"direct.gpu.h100.step_seconds", 4e-6},
    Cost{"direct.gpu.h100.float.pairs_per_second", 2.01e12},
    Cost{"direct.gpu.h100.float.self_pairs_per_second", 2.97e12},
    Cost{"direct.gpu.h100.double.pairs_per_second", 9.14e11},
    Cost{"direct.gpu.h100.double.self_pairs_per_second", 1.3e12},
    Cost{"direct.gpu.h100.mixed.pairs_per_second", 1.34e12},
    Cost{"direct.gpu.h100.mixed.self_pairs_per_second", 2.05e12},
};

// Not measured. Any other GPU is taken for a quarter of an H200 in float and mixed; in double for the 1/32 of
// its float rate that cards without full double precision have. Half the copy rate (PCIe 4), and the launched
// steps of decision 0012, as the persistent kernel needs many multiprocessors.
constexpr std::array generic_gpu_costs{
    Cost{"gpu.generic.start_seconds", 0.25},
    Cost{"gpu.generic.bytes_per_second", 1.1e10},
    Cost{"direct.gpu.generic.fixed_seconds", 1.1e-4},
    Cost{"direct.gpu.generic.run_start_seconds", 0.25},
    Cost{"direct.gpu.generic.step_seconds", 1.6e-5},
    Cost{"direct.gpu.generic.float.pairs_per_second", 5e11},
    Cost{"direct.gpu.generic.float.self_pairs_per_second", 7.4e11},
    Cost{"direct.gpu.generic.double.pairs_per_second", 1.6e10},
    Cost{"direct.gpu.generic.double.self_pairs_per_second", 2.3e10},
    Cost{"direct.gpu.generic.mixed.pairs_per_second", 3.4e11},
    Cost{"direct.gpu.generic.mixed.self_pairs_per_second", 5.1e11},
};

} // namespace

CostTable shipped_cost_table() {
    CostTable table;
    const auto add = [&](const auto& costs) {
        for (const auto& [name, value] : costs) table.costs.emplace(name, value);
    };
    add(cpu_costs);
    add(h200_costs);
    add(h100_costs);
    add(generic_gpu_costs);
    return table;
}

} // namespace farfield
