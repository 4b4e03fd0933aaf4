// Phases and waves as kernels see them, and the passes over them. Phases lie number after number, each of all
// points of a batch.
#pragma once

#include "backend/cuda/vec4.h"
#include "sums/ewald/gpu_waves.h"
#include "sums/ewald/wave_formulas.h"
#include "sums/lattice/cuda/box_points.cuh"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace farfield::cuda {

struct PhasesOfBatch {
    Phase* at = nullptr;
    std::int32_t pitch = 0;                   ///< from one number to the next
    std::int32_t count = 0;                   ///< points
    std::int32_t first[3] = {}, last[3] = {}; ///< of each axis: its first number, and the largest n
};
/// *Writes* the phases of the points from `begin` on.
void set_phases(const PhasesOfBatch& phases, const double (&unit)[3], const Vec4<double>* points,
                cudaStream_t stream);

struct StructureTask {
    PhasesOfBatch phases;
    const double* strengths; ///< of the batch
    const WaveRow* rows;
    const StructureTile* tiles;
    std::int32_t tile_count, parts;
    std::int64_t waves;
    bool adds;        ///< to what is there, of batches before
    Phase* structure; ///< of each part, of each wave
};
/// Σ q e^(−ik·y) of each part of a batch.
void add_structure(const StructureTask& task, cudaStream_t stream);

/// *Writes* coefficients: the sum of all parts, times the factors.
void set_coefficients(const Phase* structure, int parts, const double* factors, std::int64_t waves,
                      Phase* coefficients, cudaStream_t stream);

struct WaveSumTask {
    PhasesOfBatch phases;
    double unit[3];
    const WaveRow* rows;
    const std::int32_t* first_rows; ///< of each part, and the end
    std::int32_t parts;
    const Phase* coefficients;
    Vec4<double>* partial; ///< of each part, of each point of the batch
    Vec4<double>* sums;    ///< of the batch's points
};
/// *Adds* to the sums; without the field to potentials alone.
void add_waves(const WaveSumTask& task, bool with_field, cudaStream_t stream);

} // namespace farfield::cuda
