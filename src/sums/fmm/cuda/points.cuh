// Points and expansions on a GPU: P2M and P2L form expansions, L2P and M2P evaluate them. A warp takes a
// cell, each lane a point at a time.
#pragma once

#include "backend/cuda/vec4.h"
#include "sums/expansions/loops.h"
#include "sums/fmm/plain_operators.h"
#include "sums/tree/tree_view.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace farfield::cuda {

/// PlainFunctions on a GPU.
template <class Real>
struct FunctionsView {
    FunctionLoop loop;
    const std::int32_t* places = nullptr;
    const std::int32_t* set_first = nullptr; ///< of the rows of `sets`
    const std::int32_t* set_from = nullptr;
    const Real* set_weight = nullptr;
    const std::int32_t* gradient_first = nullptr; ///< of the rows of `gradients`
    const std::int32_t* gradient_from = nullptr;
    const Real* gradient_weight = nullptr;
    /// Sets [4·group, …).
    [[nodiscard]] FunctionsView sets_from(int group) const {
        auto out = *this;
        out.set_first += 8 * group * loop.pairs;
        return out;
    }
};

/// Compressed rows, as BlockRows.
struct RowsView {
    const std::int32_t* first = nullptr;
    const std::int32_t* partners = nullptr;
};

template <class Real>
struct PointsToExpansions {
    TreeView tree;
    FunctionsView<Real> functions;
    const Vec4<double>* points =
        nullptr; ///< P2L, dipoles: sources in the order of the tree; w is the strength
    int stride = 0;
    Real* expansions = nullptr;
    const std::int32_t* cells = nullptr; ///< or null: cell i is i
    int count = 0;
    RowsView rows;                           ///< P2L: cells whose points count, for each cell
    const Vec4<double>* dipoles = nullptr;   ///< x, y, z
    int size = 0;                            ///< functions of an expansion
    bool own_only = false;                   ///< P2M: of leaves that the share forms
    const Vec4<Real>* leaf_points = nullptr; ///< P2M: the same from the centres of their leaves
};

/// P2M: cells' own points replace what expansions held.
template <class Real>
void form_multipoles(const PointsToExpansions<Real>& task, cudaStream_t stream);
/// P2L: points of other cells are added to local expansions in harmonics.
template <class Real>
void add_points(const PointsToExpansions<Real>& task, cudaStream_t stream);
/// The same for dipoles, which are added: P2M, or P2L with functions beyond the cell.
template <class Real>
void add_dipoles(const PointsToExpansions<Real>& task, bool to_locals, cudaStream_t stream);

template <class Real>
struct ExpansionsToPoints {
    TreeView tree;
    FunctionsView<Real> functions;
    const Vec4<double>* points = nullptr; ///< M2P: targets in the order of the tree
    int stride = 0;
    const Real* expansions = nullptr;
    const std::int32_t* leaves = nullptr;
    int count = 0;
    RowsView rows;                ///< M2P: cells whose multipole expansions act, for each leaf
    Vec4<double>* sums = nullptr; ///< Σ q d/r³ and Σ q/r, as sums of pairs
    bool with_field = true;
    bool adds = false; ///< to what `sums` or `hessians` held
    /// Not null: second derivatives in place of sums, six numbers a target; sets are those of `group`.
    double* hessians = nullptr;
    int group = 0;
    const Vec4<Real>* leaf_points = nullptr; ///< L2P: targets from the centres of their leaves
};

/// L2P: each leaf's local expansion.
template <class Real>
void evaluate_locals(const ExpansionsToPoints<Real>& task, cudaStream_t stream);
/// M2P, of harmonics: adds.
template <class Real>
void evaluate_multipoles(const ExpansionsToPoints<Real>& task, cudaStream_t stream);

} // namespace farfield::cuda
