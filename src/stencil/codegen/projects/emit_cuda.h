// A stencil program as a CUDA project that needs no Farfield: for one GPU, and for those of ranks.
#pragma once

#include "stencil/codegen/projects/emit.h"

#include <vector>

namespace farfield::stencil::codegen::cuda {

/// A project for nvcc. It writes FIELD.npy for each output and RECORD.csv for each record, the bits of every
/// target.
std::vector<EmittedFile> emit_cuda(const ir::Program& program, const EmitOptions& options);

/// The same for the GPUs of MPI's ranks, one step after the other: each rank computes some rows of every
/// grid, holds them and those that it reads, and the same bits come out on any number of ranks.
std::vector<EmittedFile> emit_mpi_cuda(const ir::Program& program, const EmitOptions& options);

} // namespace farfield::stencil::codegen::cuda
