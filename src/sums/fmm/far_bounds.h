// Bounds of the errors of a far field of harmonics: for each target the sum over all expansions that act on
// it, with the radii of the points that are really in their cells.
#pragma once

#include "sums/fmm/bounds.h"
#include "sums/fmm/operators.h"
#include "sums/fmm/target_bounds.h"
#include "sums/tree/near_lists.h"
#include "sums/tree/octree.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

/// What the bounds are made of; all of it must outlive them.
struct FarBoundsTask {
    const Octree* tree = nullptr;
    const NearLists* lists = nullptr;
    FmmOrder order{};
    std::span<const double> strengths; ///< in the order of the tree
    std::span<const double> dipoles;   ///< N×3, or empty
    int threads = 1;
};

class FarBounds {
public:
    explicit FarBounds(const FarBoundsTask& task);

    /// Adds to the outputs that are wanted.
    void add_to(OutputBounds& bounds);

private:
    using Nodes = std::array<double, radius_nodes>;
    /// Of a cell's sources: Σ|q| (and Σ|p|) shared by the nodes around their distances from its centre.
    struct Weights {
        std::array<Nodes, 2> at{};
        std::array<double, 2> total{};
    };
    /// Of a cell's targets, by output: bounds at the nodes, and rounding, which does not depend on the place.
    struct Bounds {
        std::array<Nodes, bounded_outputs> truncation{};
        std::array<double, bounded_outputs> rounding{};
    };
    /// Of a translation: bounds of a unit at each node of the source at each node of the target.
    struct Table {
        std::array<std::array<std::array<Nodes, radius_nodes>, bounded_outputs>, 2> error{};
        std::array<std::array<double, bounded_outputs>, 2> size{};
    };
    /// The points of a larger leaf, as the smaller cells beside it see them.
    struct Points {
        double least = 0.0;             ///< distance from the cell's centre
        std::array<double, 2> weight{}; ///< Σ|q| (least/distance)^(p + 2), and of dipoles
        std::array<double, 2> total{};
    };

    void weigh_sources();
    void make_tables();
    [[nodiscard]] Bounds of_cell(std::int32_t cell) const;
    void add_translation(const TreeCell& from, const TreeCell& to, const Weights& weights, Bounds& out) const;
    void add_points(const TreeCell& points, const TreeCell& cell, Bounds& out) const;
    [[nodiscard]] Points points_around(const TreeCell& points, const TreeCell& cell) const;
    void add_leaf(std::size_t leaf, const std::vector<Bounds>& cells, OutputBounds& bounds) const;
    void add_multipole(const TreeCell& leaf, std::int32_t from, OutputBounds& bounds) const;
    [[nodiscard]] double radius(const TreePoints& points, std::size_t point, const TreeCell& cell) const;
    [[nodiscard]] double dipole(std::size_t source) const;
    [[nodiscard]] std::size_t kinds() const { return task_.dipoles.empty() ? 1 : 2; }

    FarBoundsTask task_;
    std::array<bool, bounded_outputs> wanted_{};
    std::vector<Weights> weights_; ///< of each cell
    std::vector<Table> tables_;    ///< by the square of the distance, in cells
    double rounding_ = 0.0;        ///< times the sizes of all products
};

} // namespace farfield
