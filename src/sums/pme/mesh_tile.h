// What crosses into the loops between points and mesh, compiled once for each instruction set.
#pragma once

#include <cstdint>

namespace farfield {

/// Points of a block, sorted, and the mesh around it: a copy that is wide enough for all mesh points of all
/// points, and for whole vectors.
struct MeshTile {
    int order = 4;
    const double* values = nullptr; ///< Splines::values
    const double* slopes = nullptr;
    std::int64_t count = 0;
    const double* fraction[3] = {};
    const std::int32_t* offset = nullptr; ///< of each point: its first mesh point in `mesh`
    double* mesh = nullptr;
    std::int64_t row = 0, plane = 0;  ///< from a mesh point to the next along y and z
    const double* strength = nullptr; ///< for spreading
    double per_length[3] = {1, 1, 1}; ///< cells of a unit of length
    double* potential = nullptr;      ///< *written* by gathering
    double* field[3] = {};            ///< the negative gradient, or null
};

} // namespace farfield

/// One for each instruction set (cmake/farfield_isa.cmake).
#define FF_DECLARE_MESH(isa) extern "C" void ff_mesh_##isa(bool gathers, const farfield::MeshTile* tile)
FF_DECLARE_MESH(scalar);
FF_DECLARE_MESH(sse42);
FF_DECLARE_MESH(avx2);
FF_DECLARE_MESH(avx512);
#undef FF_DECLARE_MESH
