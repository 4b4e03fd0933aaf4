// The far field of a quadtree on a GPU: expansions in the plane, always in double (README.md has the
// equations).
#pragma once

#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"
#include "backend/cuda/vec4.h"
#include "sums/fmm/plane/tensor_operators.h"
#include "sums/tree/cuda/device_tree.cuh"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace farfield::cuda {

/// What the strengths of a sum are, and what their expansions look like.
enum class PlaneSets : std::uint8_t {
    real,    ///< one expansion of real strengths
    parts,   ///< two, of the real and of the imaginary parts: potentials of complex strengths
    together ///< one of complex strengths, for the field alone
};
FF_HD constexpr int count_of(PlaneSets sets) { return sets == PlaneSets::parts ? 2 : 1; }

/// The expansions of all cells. Expansion `set` of a cell is number sets·cell + set; multipole expansion −1
/// is 0.
struct PlaneFarView {
    TreeView tree;
    int order = 0, columns = 0, local_size = 0; ///< of PlaneTensorOperators
    const double* reciprocals = nullptr;        ///< number n is 1/n
    int sets = 1;
    PlaneNumber* multipoles = nullptr;
    PlaneNumber* locals = nullptr;

    [[nodiscard]] FF_HD PlaneNumber* multipole(std::int64_t expansion) const {
        return multipoles + expansion * columns;
    }
    [[nodiscard]] FF_HD PlaneNumber* local(std::int64_t expansion) const {
        return locals + expansion * local_size;
    }
};

/// P2M of leaves; or, with rows, P2L of what they list, added to the local expansions of cells.
struct PlaneFormTask {
    PlaneFarView far;
    const Vec4<double>* points = nullptr; ///< x, y and the strength's parts, in the order of the tree
    const std::int32_t* leaves = nullptr; ///< null: of all cells
    int count = 0;
    const std::int32_t *first = nullptr, *partners = nullptr;
    /// In place of points, for P2M of low orders and one set: floats, from the centres of leaves.
    const Vec4<float>* narrow_points = nullptr;
};
void form_plane_expansions(const PlaneFormTask& task, PlaneSets sets, bool to_locals, cudaStream_t stream);

/// L2P of leaves, and M2P of what they list.
struct PlaneValueTask {
    PlaneFarView far;
    const Vec4<double>* points = nullptr; ///< targets
    const std::int32_t* leaves = nullptr;
    int count = 0;
    const std::int32_t *first = nullptr, *partners = nullptr; ///< null: nothing is listed
    Vec4<double>* sums = nullptr;                             ///< (Re w, −Im w), and Re F of each set
    /// In place of points and sums, for low orders, one set, and no rows: floats, from the centres of leaves.
    const Vec4<float>* narrow_points = nullptr;
    Vec4<float>* narrow_sums = nullptr;
};
void evaluate_plane_expansions(const PlaneValueTask& task, cudaStream_t stream);
constexpr int most_narrow_terms = 12; ///< of orders that are low in this sense

enum class PlanePass : std::uint8_t { up, across, down };

/// PlaneOperator on the GPU.
struct PlaneOperatorView {
    const double* matrix = nullptr;
    const PlaneNumber *in = nullptr, *out = nullptr;
    const PlaneSender* senders = nullptr;
    std::int32_t first_sender[plane_quadrants + 2];
    int row_tiles = 0, column_steps = 0;
    const double* whole = nullptr; ///< matrices of low orders: PlaneWhole
};

/// Expansions of a tile, those of its targets: products of tensor cores have eight columns.
constexpr int tile_columns = 8, wide_tile_columns = 16;

/// Cells of a level and group, cut into tiles.
struct PlaneRun {
    std::int32_t first_tile, first, cells;
    std::int16_t level, group;
};
struct PlaneRuns {
    static constexpr int most = plane_quadrants * (most_levels + 1);
    int count = 0, tiles = 0;
    PlaneRun run[most];

    /// @param cells_a_tile  columns by sets
    void add(std::int32_t first, std::int32_t cells, int level, int group, int cells_a_tile);
};

/// A part of a pass that only needs what earlier stages wrote: some runs, whose tiles count from 0.
struct PlaneStage {
    PlanePass pass;
    std::int16_t first_run, runs;
    std::int32_t tiles;
};

/// Passes over the levels above the two deepest ones, in one launch whose blocks meet between stages: levels
/// with few cells would each take as long as a launch does.
struct PlaneChainTask {
    PlaneFarView far;
    PlaneOperatorView up, across, down;
    const std::int32_t* cells = nullptr; ///< that M2L and L2L count
    int stages = 0;
    int runs = 0;
    PlaneStage stage[2 * most_levels + 3];
    PlaneRun run[2 * PlaneRuns::most + most_levels + 1];

    void add(PlanePass pass, const PlaneRuns& of);
};
void run_plane_chain(const PlaneChainTask& task, cudaStream_t stream);

/// M2M, M2L or L2L: expansions of M2M and M2L are replaced, L2L adds to those of the cells. Tiles of M2L by
/// whole matrices are wide.
struct PlaneShiftTask {
    PlaneFarView far;
    PlaneOperatorView at;
    PlaneRuns runs;
    const std::int32_t* cells = nullptr; ///< that runs count; null: runs count cells
};
void shift_plane_expansions(const PlaneShiftTask& task, PlanePass pass, cudaStream_t stream);

/// Whether some cell of the whole tree has entries in its lists of points and multipoles: of shares of a tree
/// all take the same passes.
struct PlaneLists {
    bool points = false, multipoles = false;
};
inline PlaneLists lists_of(const DeviceTree& tree) {
    return {tree.points().total > 0, tree.multipoles().total > 0};
}

class PlaneFar {
public:
    /// Without a name: passes begin on that stream.
    using Done = std::function<void(std::string_view, cudaStream_t)>;

    void prepare(const DeviceTree& tree, const PlaneLists& lists, const LaurentOrder& order,
                 cudaStream_t stream);
    void clear() { has_cells_ = false; }
    [[nodiscard]] bool is_empty() const { return !has_cells_; }
    /// Of M2L, to all cells with targets, as if each had all its senders.
    [[nodiscard]] double multiply_adds(const DeviceTree& tree, int sets) const;
    /// Whether floats suffice for the first and the last pass.
    [[nodiscard]] bool is_narrow(PlaneSets sets) const;
    /// Where the points' sums go, in the order of the tree: double, of the tree's points; or, with the
    /// others, what PlaneFormTask and PlaneValueTask have in place of those.
    struct Points {
        Vec4<double>* sums = nullptr;
        const Vec4<float>*narrow_sources = nullptr, *narrow_targets = nullptr;
        Vec4<float>* narrow_sums = nullptr;
    };
    void run(const DeviceTree& tree, PlaneSets sets, const Points& points, const Done& done,
             cudaStream_t stream);

private:
    struct Operator {
        DeviceArray<double> matrix, whole;
        DeviceArray<PlaneNumber> in, out;
        DeviceArray<PlaneSender> senders;
        PlaneOperatorView view;
        void set(const PlaneOperator& from, const PlaneTensorOperators& of, cudaStream_t stream);
    };
    void make_room_for(std::size_t expansions);
    [[nodiscard]] PlaneRuns parents(const DeviceTree& tree, int level) const;
    [[nodiscard]] PlaneRuns targets(const DeviceTree& tree, int first_level, int end_level,
                                    int columns = tile_columns) const;
    /// M2M to these levels, M2L to them, and L2L from this one on.
    void gather(const DeviceTree& tree, int first_level, int end_level, cudaStream_t stream);
    void translate(const DeviceTree& tree, int first_level, int end_level, cudaStream_t stream);
    void spread(const DeviceTree& tree, int first_level, cudaStream_t stream);
    /// @param below  the first level whose M2L is queued already
    void run_above(const DeviceTree& tree, int below, const Done& done, cudaStream_t stream);
    void run_in_steps(const DeviceTree& tree, int below, const Done& done, cudaStream_t stream);

    bool has_cells_ = false;
    PlaneLists lists_;
    PlaneSets sets_ = PlaneSets::real; ///< of the last run, as its view
    PlaneFarView view_;
    LaurentOrder order_{.order = -1};
    int first_level_ = 0; ///< that has cells far from each other
    std::optional<PlaneTensorOperators> host_;
    Operator up_, across_, down_;
    DeviceArray<double> reciprocals_;
    DeviceArray<PlaneNumber> multipoles_, locals_;
    std::optional<Stream> below_stream_; ///< M2L of the deepest levels, beside M2M to others
    Signal formed_, below_done_;
};

} // namespace farfield::cuda
