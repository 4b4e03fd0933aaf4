// The sources' tables on this machine: what `farfield reproduce` does.
#pragma once

#include "studies/study_progress.h"
#include "studies/study_table.h"

#include <farfield/communicator.h>
#include <farfield/device.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <vector>

namespace farfield {

struct ReproduceOptions {
    /// `automatic`: the GPU where there is one; `cpu`: GPU columns stay empty.
    DeviceChoice device{};
    int threads = 0; ///< of the multithreaded CPU columns; 0: all
    int repeats = 3; ///< ≥ 1
    std::int64_t most_points = std::numeric_limits<std::int64_t>::max(); ///< larger sizes are cut to this
    std::filesystem::path picture{}; ///< .png, of studies that draw one; empty: none
    /// Sides of blocks of threads, of studies that measure them; empty: all powers of two up to 1024.
    std::vector<int> block_x{}, block_y{};
    bool quick = false;          ///< of studies that have a short form: fewer orders and depths
    Communicator communicator{}; ///< of the study that takes several ranks
    StudyProgress progress{};
};

/// The CUDA Handbook's timings: one sum of 4096, 8192 and 16384 bodies on one CPU thread, on all and on a
/// GPU; atomics against recomputing at 8192.
/// @throws BackendUnavailable where a GPU is asked for by name and cannot be used; InvalidArgument.
Study reproduce_handbook_timings(const ReproduceOptions& options);

/// The CUDA Handbook's designs for several GPUs, a CPU thread for each or one for all, with every exchange:
/// one sum with its exchange on 1, 2, 4, … of this machine's GPUs. Throws alike; InternalError where bits
/// differ.
Study reproduce_handbook_multi_gpu(const ReproduceOptions& options);

/// The slides' ladder of optimisations, rung by rung, beside the speed-ups of their three cards: whole steps,
/// the share of the sum in them, registers and occupancy, the link to the host. Throws alike.
Study reproduce_ladder(const ReproduceOptions& options);

/// The stencil paper's Figure 3: rates of its microdisk at 2048², for every block of threads whose sides are
/// powers of two or those asked for; on a CPU for steps a pass over memory and mask strategies. Beside them
/// the hand-written loop. At least 5 repeats. Throws alike, and InvalidArgument for sides that are not 1 to
/// 1024.
Study reproduce_fdtd_blocks(const ReproduceOptions& options);

/// The stencil paper's Figure 4 and its text: rates of the microdisk from 256² to 8192² with each mask
/// strategy, and a GPU against the hand-written loop and the CPU's best strategy. Sizes above `most_points`
/// are left out. Throws alike.
Study reproduce_fdtd_sizes(const ReproduceOptions& options);

/// The stencil paper's Chapter IV on several GPUs: rates of the microdisk from 256² to 8192² on this CPU, on
/// one GPU and on that of each rank, or on CPUs where there is none; and with links between ranks as slow as
/// Ethernet. Where several begin to pay. Sizes above `most_points` are left out; `picture` draws the rates.
/// All ranks call it and get the same. Throws alike.
Study reproduce_fdtd_multi(const ReproduceOptions& options);

/// Resonances of the stencil paper's disk with its own wall, with a metal wall and with cut cells, against
/// theory, at 40, 80 and 160 cells a radius (at most `most_points`), and its energy picture (Figure 2).
/// Throws alike.
Study reproduce_microdisk(const ReproduceOptions& options);

/// The strategies of M2L on a GPU of the slides "FMM goes GPU", with the host's loops, a p⁴ and a p³ kernel
/// beside them: times by order and depth with their errors, winners, index arithmetic, kinds of memory, and
/// a sparse tree. Points above `most_points` are left out; `quick` measures a part. Throws alike.
Study reproduce_fmm_strategies(const ReproduceOptions& options);

/// The M2L kernels of "How to obtain efficient GPU kernels" (its Tables 2 and 3) with ours beside them:
/// times, rates, errors, what each takes of a multiprocessor, operations and ceilings. Numbers of
/// translations above `most_points` are left out. Whole sums of 4 and 10 million vortices, or `most_points`,
/// by passes and by points a leaf: on the CPU if there is no GPU, or if sums in the plane refuse it. Throws
/// alike.
Study reproduce_m2l_2d(const ReproduceOptions& options);

/// The evaluation of Hermite series of "How to obtain efficient GPU kernels" (its Tables 4 and 5) with ours
/// beside it: particles a second on cores and on a GPU, errors, every kernel's operations and what it takes
/// of a multiprocessor, and the share of that evaluation in a whole transform on the CPU. Numbers of
/// particles above `most_points` are left out; `quick` measures the two least. Throws alike.
Study reproduce_hermite(const ReproduceOptions& options);

} // namespace farfield
