// The ladder of the direct sum, timed: every rung, precision and instruction set of this machine, with the
// error beside each time, and with the hand-written loops of bench/ measured in the same run.
#pragma once

#include <farfield/sum.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace farfield {

struct BenchDirectOptions {
    std::vector<std::int64_t> sizes{16384, 65536}; ///< numbers of points, each ≥ 1
    int threads = 0; ///< of the rungs with threads; 0: as many as OpenMP would use
    int repeats = 5; ///< ≥ 1
    /// Time by the CPU time of the process over the threads, not by the clock: for a machine that is shared
    /// with other work.
    bool cpu_time = false;
};

/// One line of the table. All rows of a size were measured in turn, `repeats` times over.
struct BenchDirectRow {
    std::string rung;                     ///< name of the variant, "threads", "plain loop" or "ceiling"
    Variant variant = Variant::automatic; ///< `automatic` for the hand-written loops
    Isa isa = Isa::scalar;
    Precision precision = Precision::float64;
    std::int64_t n = 0;
    std::int64_t targets = 0; ///< < n where a slow rung was timed on part of the targets
    int threads = 1;
    double seconds = 0.0;          ///< median of the repeats, pair loop only
    double fastest_seconds = 0.0;  ///< of the repeats: what the machine does when left alone
    double pairs_per_second = 0.0; ///< targets·n/seconds: all N² counted, i = j too, as others count
    double error =
        0.0; ///< relative L2 of the field at sampled targets against a double-precision sum; −1: none
    double speedup = 0.0;       ///< pairs/s over those of the naive rung, same precision and size
    double against_plain = 0.0; ///< median over the repeats of the rate over the plain loop's, same type and
                                ///< threads; 0 where there is none
};

/// How a rung gains from more threads, beside the ceiling: a loop on registers alone, which shares nothing
/// between cores. From the fastest runs, since a core lent to someone else for a moment slows a loop that
/// keeps the core busy more than one that waits for its own results.
struct BenchDirectScaling {
    std::string rung; ///< "threads" (one-sided) or "symmetric"
    Precision precision = Precision::float64;
    std::int64_t n = 0;
    int threads = 0;
    double gain = 0.0;         ///< seconds on one thread over seconds on `threads`
    double ceiling_gain = 0.0; ///< the same of the register loop
};

struct BenchDirectReport {
    std::string clock; ///< "wall" or "cpu"
    int repeats = 0;
    std::vector<BenchDirectRow> rows;
    std::vector<BenchDirectScaling> scaling; ///< empty with one thread, or where there is no register loop
};

/// Field only, a Plummer sphere of equal masses, ε = 0.01. @throws InvalidArgument for options out of range.
BenchDirectReport bench_direct(const BenchDirectOptions& options);

/// A table for people, one line a row.
std::string to_text(const BenchDirectReport& report);

/// {"benchmark": "direct", "clock": …, "repeats": …, "softening": 0.01, "model": "plummer", "rows": [{"rung",
/// "isa", "precision", "n", "targets", "threads", "seconds", "pairs_per_second", "error", "speedup",
/// "fastest_seconds", "against_plain"}, …], "scaling": [{"rung", "precision", "n", "threads", "gain",
/// "ceiling_gain"}, …]}; error and against_plain are null where there is none.
std::string to_json(const BenchDirectReport& report);

/// The same into a file. @throws IoError.
void write_json(const BenchDirectReport& report, const std::filesystem::path& path);

} // namespace farfield
