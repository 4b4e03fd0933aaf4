// The smooth part of a periodic sum on a mesh (Essmann et al. 1995): strengths spread by splines,
// transformed, multiplied by the influence function, transformed back, and gathered by the same splines.
// Ranks share the mesh by planes: each spreads all sources that reach its own, and gathers at its own
// targets.
#pragma once

#include "sums/lattice/smooth_part.h"
#include "sums/pme/mesh_choice.h"
#include "sums/pme/mesh_points.h"
#include "sums/pme/transform.h"

#include <cstdint>
#include <vector>

namespace farfield {

class MeshPart : public SmoothPart {
public:
    /// `ranks`: null where this process is alone.
    MeshPart(const PeriodicFrame& frame, const MeshChoice& choice, Isa isa, int threads,
             comm::Transport* ranks);

    void set_points(const LatticePoints& sources, const LatticePoints& targets, bool self) override;
    void add(std::span<const double> strengths, const LatticeResults& results, WorkWatch& watch,
             const std::function<void(std::string_view)>& pass) override;
    [[nodiscard]] double work() const override;
    [[nodiscard]] double work_of_target() const override { return work_of(1.0); }
    void describe(LatticeReport& report, double scale) const override;

private:
    void spread(std::span<const double> strengths, WorkWatch& watch);
    void gather(const LatticeResults& results, WorkWatch& watch) const;
    [[nodiscard]] double work_of(double points) const;
    [[nodiscard]] RawVector<std::int32_t> cells_along_z(const LatticePoints& points) const;
    void sort_own_sources(const LatticePoints& sources);
    [[nodiscard]] std::vector<std::uint8_t> planes_around(const LatticePoints& points) const;
    /// Calls body(z) for the planes that a point in that cell along z reaches.
    template <class Body>
    void for_planes(std::int64_t cell, const Body& body) const;

    PeriodicFrame frame_;
    Isa isa_;
    int threads_;
    Splines splines_;
    MeshBlocks blocks_;
    bool alone_;
    MeshTransform transform_;
    RawVector<double> influence_, mesh_;
    MeshPoints sources_, targets_;
    std::vector<std::uint8_t> needs_; ///< of planes of the mesh that is gathered from, of all ranks
    bool self_ = true;
};

} // namespace farfield
