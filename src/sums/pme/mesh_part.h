// The smooth part of a periodic sum on a mesh (Essmann et al. 1995): strengths spread by splines,
// transformed, multiplied by the influence function, transformed back, and gathered by the same splines.
#pragma once

#include "sums/lattice/smooth_part.h"
#include "sums/pme/mesh_choice.h"
#include "sums/pme/mesh_points.h"
#include "sums/pme/transform.h"

namespace farfield {

class MeshPart : public SmoothPart {
public:
    MeshPart(const PeriodicFrame& frame, const MeshChoice& choice, Isa isa, int threads);

    void set_points(const LatticePoints& sources, const LatticePoints& targets, bool self) override;
    void add(std::span<const double> strengths, const LatticeResults& results, WorkWatch& watch,
             const std::function<void(std::string_view)>& pass) override;
    [[nodiscard]] double work() const override;
    void describe(LatticeReport& report, double scale) const override;

private:
    void spread(std::span<const double> strengths, WorkWatch& watch);
    void gather(const LatticeResults& results, WorkWatch& watch) const;
    [[nodiscard]] double work_of(double points) const;

    PeriodicFrame frame_;
    Isa isa_;
    int threads_;
    Splines splines_;
    MeshBlocks blocks_;
    MeshTransform transform_;
    RawVector<double> influence_, mesh_;
    MeshPoints sources_, targets_;
    bool self_ = true;
};

} // namespace farfield
