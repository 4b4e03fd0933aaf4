#include "studies/ladder_model.h"

#include "sums/kernels/loop_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

namespace farfield {
namespace {

using cuda::Rung;

constexpr double warp = 32.0, slide_block = 256.0; // of the rungs of the slides (ladder.cuh)
constexpr double special_cycles = 8.0; // 16 special-function lanes beside 128 others; 4 beside 32 then

double size_of(Precision precision) { return precision == Precision::float64 ? 8.0 : 4.0; }

// Bytes of a packed point of the two fast rungs: x y z q, in mixed precision twice.
double point_bytes(Precision precision) {
    return precision == Precision::mixed ? 32.0 : 4.0 * size_of(precision);
}

double ceil_div(double a, double b) {
    return static_cast<double>(static_cast<std::int64_t>((a + b - 1.0) / b));
}

// Shapes and chunks of tuning.cuh and register_tile.cu.
double register_tile_bytes(Precision precision, double n) {
    const double targets = 512.0, tile = precision == Precision::float64 ? 128.0 : 256.0;
    const double blocks = ceil_div(n, targets);
    const double wanted =
        std::clamp(std::max(std::floor(16384.0 / blocks), std::floor(n / 131072.0)), 1.0, 64.0);
    const double chunk = std::max(1.0, ceil_div(ceil_div(n, tile), wanted)) * tile;
    const double chunks = ceil_div(n, chunk);
    const double partial = 4.0 * size_of(precision);
    return blocks * n * point_bytes(precision) + chunks * n * point_bytes(precision) +
           2.0 * chunks * n * partial + n * partial;
}

double symmetric_bytes(Precision precision, double n) {
    const double large = precision == Precision::float32   ? 1024.0
                         : precision == Precision::float64 ? 512.0
                                                           : 768.0;
    const double tile = n < 8192.0 ? 64.0 : n < 49152.0 ? 256.0 : large;
    const double tiles = ceil_div(n, tile);
    const double pairs = tiles * (tiles + 1.0) / 2.0;
    const double partials = tiles * tiles; // one a tile and partner
    return 2.0 * pairs * tile * point_bytes(precision) +
           (2.0 * partials * tile + n) * 4.0 * size_of(precision);
}

// As if all tiles were far: a body is 16 bytes of coordinates, read once as row or column and again for its
// sum, and 16 of strengths.
double tensor_bytes(double n) {
    const double tile = 512.0;
    const double tiles = ceil_div(n, tile);
    const double pairs = tiles * (tiles + 1.0) / 2.0;
    const double partials = tiles * tiles;
    return 2.0 * pairs * tile * 48.0 + (2.0 * partials * tile + n) * 16.0;
}

// The number after `mark`, which is moved behind it.
int number_after(std::string_view& text, std::string_view mark) {
    const auto at = text.find(mark);
    if (at == std::string_view::npos) return 0;
    text.remove_prefix(at + mark.size());
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

struct Shape {
    int tile = 0, roots = 0;
};
// From "…SymmetricShapeILi8ELi4ELi16ELb0EE…": bodies a lane, warps, unrolling.
Shape symmetric_shape(std::string_view name) {
    const int per_lane = number_after(name, "SymmetricShapeILi");
    const int warps = number_after(name, "ELi");
    const int unroll = number_after(name, "ELi");
    return {32 * per_lane * warps, per_lane * unroll};
}

// Part of a kernel's mangled name, up to the last template argument that matters: the field alone, and for
// rungs that can leave the self test out, without it.
std::string kernel_name(Rung rung, Precision precision) {
    constexpr int outputs = field_only;
    const char real = precision == Precision::float64 ? 'd' : 'f';
    const auto plain = [&](std::string_view name) {
        return fmt::format("{}_kernelI{}Li{}E", name, real, outputs);
    };
    const auto tiled = [&](int unroll, bool tested, bool fused, int flags) {
        return plain("tiled") + fmt::format("NS0_8TileRungILi{}ELb{:d}ELb{:d}ELi{}EEELb{:d}E", unroll, tested,
                                            fused, flags, tested);
    };
    const auto packed = [&](std::string_view name) {
        return precision == Precision::mixed
                   ? fmt::format("{}_kernelINS0_10MixedPointELi{}E", name, outputs)
                   : fmt::format("{}_kernelINS0_5PointI{}EELi{}E", name, real, outputs);
    };
    switch (rung) {
    case Rung::one_thread:
        return plain("one_thread");
    case Rung::naive:
        return plain("naive");
    case Rung::soa:
        return plain("soa");
    case Rung::constant:
        return plain("constant");
    case Rung::rsqrt:
        return plain("rsqrt");
    case Rung::two_loops:
        return plain("two_loops");
    case Rung::atomics:
        return plain("atomics");
    case Rung::atomics_tiled:
        return plain("atomics_tiled");
    case Rung::float4:
        return precision == Precision::float32 ? "float4_kernelILb0E" : "no_such_kernelI";
    case Rung::atomics_pointer:
        return precision == Precision::float32 ? "handbook_atomics_kernelILb0E" : "no_such_kernelI";
    case Rung::atomics_index:
        return precision == Precision::float32 ? "handbook_atomics_kernelILb1E" : "no_such_kernelI";
    case Rung::shared:
        return tiled(1, true, false, 0);
    case Rung::unrolled:
        return tiled(8, true, false, 0);
    case Rung::softened:
        return tiled(8, false, false, 0);
    case Rung::fma:
        return tiled(8, false, true, 0);
    case Rung::unrolled_128:
        return tiled(128, false, true, 0);
    case Rung::flush:
        return tiled(128, false, true, 1);
    case Rung::fast_math:
        return tiled(128, false, true, 2);
    case Rung::register_tile:
        return packed("register_tile");
    case Rung::symmetric:
        return packed("symmetric");
    case Rung::tensor: // float alone; another precision finds nothing
        return precision == Precision::float32 ? "far_kernelINS0_8FarShapeI" : "no_such_kernelI";
    }
    return {};
}

} // namespace

std::optional<Rung> predecessor(Rung rung) {
    switch (rung) {
    case Rung::one_thread:
        return std::nullopt;
    case Rung::two_loops:
    case Rung::atomics:
    case Rung::atomics_tiled:
        return Rung::rsqrt;
    case Rung::fast_math:
        return Rung::flush;
    case Rung::float4:
        return Rung::naive;
    case Rung::register_tile:
        return Rung::flush;
    default:
        return static_cast<Rung>(static_cast<int>(rung) - 1); // the main line stands in order
    }
}

int directions(Rung rung) {
    const bool each_pair_once = rung == Rung::symmetric || rung == Rung::tensor || rung == Rung::atomics ||
                                rung == Rung::atomics_tiled || rung == Rung::atomics_pointer ||
                                rung == Rung::atomics_index;
    return each_pair_once ? 2 : 1;
}

double bytes_moved(Rung rung, Precision precision, std::int64_t count) {
    const double n = static_cast<double>(count), real = size_of(precision);
    const double body = 4.0 * real;                   // x, y, z and mass of a source
    const double own = n * (3.0 * real + 4.0 * real); // each target read, each sum written
    const double blocks = ceil_div(n, slide_block);
    switch (rung) {
    case Rung::one_thread:
        return n * n * body + own;
    case Rung::naive:
    case Rung::soa:
    case Rung::constant:
    case Rung::rsqrt:
    case Rung::two_loops:
    case Rung::float4:
        return ceil_div(n, warp) * n * body + own;
    case Rung::atomics:
    case Rung::atomics_pointer:
    case Rung::atomics_index:
        return 0.5 * n * n * (body / warp + 6.0 * real) + own;
    case Rung::atomics_tiled:
        return 0.5 * blocks * (blocks + 1.0) * slide_block * (body + 6.0 * real) + own;
    case Rung::register_tile:
        return register_tile_bytes(precision, n);
    case Rung::symmetric:
        return symmetric_bytes(precision, n);
    case Rung::tensor:
        return tensor_bytes(n);
    default:
        return blocks * n * body + own;
    }
}

std::optional<LoopCount> pair_loop(const LoopCounts& loops, Rung rung, Precision precision) {
    const auto wanted = kernel_name(rung, precision);
    std::optional<LoopCount> found;
    int largest = 0;
    for (const auto& [name, of_kernel] : loops) {
        const auto at = name.find(wanted);
        if (at == std::string::npos) continue;
        // "atomics_kernel" is not the end of another word
        if (at > 0 && (name[at - 1] < '0' || name[at - 1] > '9')) continue;
        if (rung != Rung::symmetric) return of_kernel.front();
        const auto shape = symmetric_shape(name);
        if (shape.tile <= largest) continue;
        largest = shape.tile;
        const auto main = std::find_if(of_kernel.begin(), of_kernel.end(),
                                       [&](const LoopCount& loop) { return loop.roots == shape.roots; });
        found = main == of_kernel.end() ? of_kernel.front() : *main;
    }
    return found;
}

Lanes lanes_of(int major, int minor, int multiprocessors, double clock_hz) {
    const int version = 10 * major + minor;
    const bool narrow = version == 80 || major == 7;                                            // 64 lanes
    const bool for_doubles = version == 80 || version == 70 || version == 90 || version == 100; // half rate
    return {(narrow ? 64.0 : 128.0) * multiprocessors, for_doubles ? 2.0 : narrow ? 32.0 : 64.0, clock_hz};
}

Peaks peaks(const Lanes& lanes, Precision precision, std::optional<double> cycles) {
    const double cost = precision == Precision::float64 ? lanes.double_cost : 1.0;
    const double a_cycle = lanes.total * lanes.clock_hz;
    Peaks out{2.0 * a_cycle / cost, a_cycle * flop_a_pair / (12.0 * cost + special_cycles), {}};
    if (cycles) out.actual = a_cycle * flop_a_pair / *cycles;
    return out;
}

double cycles_a_pair(const LoopCount& loop, int count, double double_cost) {
    const double cycles =
        loop.instructions + (special_cycles - 1.0) * loop.special + (double_cost - 1.0) * loop.doubles;
    return cycles / (static_cast<double>(loop.roots) * count);
}

} // namespace farfield
