// The far field of a quadtree on a GPU: expansions in the plane, always in double (README.md has the
// equations).
#pragma once

#include "backend/cuda/memory.h"
#include "backend/cuda/vec4.h"
#include "sums/fmm/plane/tensor_operators.h"
#include "sums/tree/cuda/device_tree.cuh"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace farfield::cuda {

/// What the strengths of a sum are, and what their expansions look like.
enum class PlaneSets : std::uint8_t {
    real,    ///< one expansion of real strengths
    parts,   ///< two, of the real and of the imaginary parts: potentials of complex strengths
    together ///< one of complex strengths, for the field alone
};
FF_HD constexpr int count_of(PlaneSets sets) { return sets == PlaneSets::parts ? 2 : 1; }

/// What kernels see of the operators. All pointers are memory of the GPU.
struct PlaneOperatorsView {
    int order = 0;
    int row_tiles = 0, column_steps = 0;
    int columns = 0, rows = 0, local_size = 0, shift_size = 0;
    const double* matrix = nullptr;
    const PlaneSender* senders = nullptr;
    const PlaneNumber *in = nullptr, *out = nullptr;
    const double *up = nullptr, *down = nullptr;
    const double* reciprocals = nullptr; ///< number n is 1/n
    const PlaneNumber *up_in = nullptr, *up_out = nullptr, *down_in = nullptr, *down_out = nullptr;
    PlaneNumber to_child[plane_quadrants];
    std::int32_t first_sender[plane_quadrants + 2];
};

/// What passes over cells see. Expansion `set` of a cell is number sets·cell + set.
struct PlaneFarView {
    TreeView tree;
    PlaneOperatorsView operators;
    int sets = 1;
    PlaneNumber* multipoles = nullptr;
    PlaneNumber* locals = nullptr;

    [[nodiscard]] FF_HD PlaneNumber* multipole(std::int64_t expansion) const {
        return multipoles + expansion * operators.columns;
    }
    [[nodiscard]] FF_HD PlaneNumber* local(std::int64_t expansion) const {
        return locals + expansion * operators.local_size;
    }
};

/// Runs of cells of a level and group in the tree's `by_octant`, cut into tiles of columns.
struct PlaneRuns {
    static constexpr int most = plane_quadrants * (most_levels + 1);
    struct Run {
        std::int32_t first_tile, first, cells;
        std::int16_t level, group;
    };
    int count = 0, tiles = 0;
    Run run[most];
};

/// P2M of leaves; or, with `rows`, P2L of what they list, added to the local expansions of cells.
struct PlaneFormTask {
    PlaneFarView far;
    const Vec4<double>* points = nullptr; ///< x, y and the strength's parts, in the order of the tree
    const std::int32_t* leaves = nullptr; ///< null: of all cells
    int count = 0;
    const std::int32_t *first = nullptr, *partners = nullptr;
};
void form_plane_expansions(const PlaneFormTask& task, PlaneSets sets, bool to_locals, cudaStream_t stream);

/// L2P of leaves, and M2P of what they list.
struct PlaneValueTask {
    PlaneFarView far;
    const Vec4<double>* points = nullptr; ///< targets
    const std::int32_t* leaves = nullptr;
    int count = 0;
    const std::int32_t *first = nullptr, *partners = nullptr; ///< null: nothing is listed
    Vec4<double>* sums = nullptr; ///< (Re w, −Im w), and Re F of each set
};
void evaluate_plane_expansions(const PlaneValueTask& task, cudaStream_t stream);

/// M2L of all levels: local expansions are replaced.
void translate_plane_expansions(const PlaneFarView& far, const std::int32_t* by_octant, const PlaneRuns& runs,
                                cudaStream_t stream);
/// M2M to cells [first, first + count).
void gather_plane_expansions(const PlaneFarView& far, std::int32_t first, int count, cudaStream_t stream);
/// L2L to the cells of a list.
void spread_plane_expansions(const PlaneFarView& far, const std::int32_t* cells, int count,
                             cudaStream_t stream);

class PlaneFar {
public:
    /// Without a name: passes begin on that stream.
    using Done = std::function<void(std::string_view, cudaStream_t)>;

    void prepare(const DeviceTree& tree, const LaurentOrder& order, cudaStream_t stream);
    void clear() { has_cells_ = false; }
    [[nodiscard]] bool is_empty() const { return !has_cells_; }
    /// Of M2L, to all cells with targets, as if each had all its senders.
    [[nodiscard]] double multiply_adds(const DeviceTree& tree, int sets) const;
    /// Writes one sum for each target, in the order of the tree.
    void run(const DeviceTree& tree, PlaneSets sets, Vec4<double>* sums, const Done& done, cudaStream_t stream);

private:
    [[nodiscard]] PlaneOperatorsView operators() const;
    [[nodiscard]] static PlaneRuns runs_of(const DeviceTree& tree, int sets);

    bool has_cells_ = false;
    LaurentOrder order_{.order = -1};
    std::optional<PlaneTensorOperators> host_;
    DeviceArray<double> matrix_, up_, down_, reciprocals_;
    DeviceArray<PlaneSender> senders_;
    DeviceArray<PlaneNumber> in_, out_, up_in_, up_out_, down_in_, down_out_;
    DeviceArray<PlaneNumber> multipoles_, locals_;
};

} // namespace farfield::cuda
