// A sum of Gaussians by way of a regular grid (rules.h has the equations): spread, fold along each axis, take
// values.
#pragma once

#include "base/work_array.h"
#include "sums/gauss/boxes/lattice.h"
#include "sums/gauss/grid/grid_tasks.h"
#include "sums/gauss/grid/planes_of_ranks.h"
#include "sums/gauss/grid/rules.h"
#include "sums/gauss/grid/window.h"
#include "sums/gauss/ways/way.h"

#include <farfield/sum.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace farfield {

/// Numbers of the grid that points of this extent need.
double grid_numbers(const GridRule& rule, const GaussExtent& extent, const GaussFrame& frame, int dimension);
/// Whether that grid has its points in the order of boxes: of a smaller one all numbers are near anyway.
bool grid_sorts_points(const GridRule& rule, const GaussExtent& extent, const GaussFrame& frame,
                       int dimension);
/// These boxes.
GaussLattice grid_boxes(const GridRule& rule, const GaussExtent& extent, const GaussFrame& frame,
                        int dimension);

class GaussGrid : public GaussWay {
public:
    /// @param ranks  not null: each has its own points, of which the problem tells the number, and all add up
    GaussGrid(const SumProblem& problem, Isa isa, int threads, comm::Transport* ranks = nullptr);

    void set_points(const GaussShape& shape, const GaussPointSets& points) override;
    /// Keeps points in their order, unless the new grid alone has to have them sorted.
    void set_shape(const GaussShape& shape, const GaussPointSets& points) override;
    void add(std::span<const double> strengths, std::int64_t vectors, int exponent, GaussSums& sums,
             std::vector<PassTime>& passes, WorkWatch& watch) override;

    [[nodiscard]] std::span<const std::int32_t> target_order() const override {
        return problem_.self ? source_order_ : target_order_;
    }
    /// Layers of taps.
    [[nodiscard]] double work() const override;
    void describe(SumReport& report) const override;

private:
    /// A run of sources and the planes, along the last axis, that they touch.
    struct Part {
        std::int64_t begin, end, low, high;
        std::size_t place; ///< in `apart_`
    };
    [[nodiscard]] std::int64_t numbers() const { return planes_ * plane_; }
    [[nodiscard]] std::size_t last_axis() const { return static_cast<std::size_t>(problem_.dimension) - 1; }
    [[nodiscard]] bool sorts() const;
    void set_grid(const GaussShape& shape, const GaussPointSets& points);
    void set_geometry(const GaussExtent& extent, const GaussFrame& frame);
    void place_points(const GaussPointSets& points);
    void find_parts();
    /// The planes that touch points [begin, end), with one more on either side; none where there is no point.
    [[nodiscard]] PlaneRange touched(const GaussPoints<double>& points, std::int64_t begin,
                                     std::int64_t end) const;
    void divide_planes();
    [[nodiscard]] std::size_t part_size(const Part& part) const;
    double* parts();
    [[nodiscard]] GridPlaces places(const GaussPoints<double>& points, double* scratch) const;
    [[nodiscard]] std::size_t scratch_size() const;
    void spread(const double* strengths, WorkWatch& watch);
    void merge();
    void fold_all(WorkWatch& watch);
    void fold(int axis, const PlaneRange& planes, WorkWatch& watch);
    [[nodiscard]] GridOfRanks of_ranks();
    void take_values(std::int64_t vector, GaussSums& sums, WorkWatch& watch);

    const SumProblem& problem_;
    comm::Transport* ranks_;
    Isa isa_;
    Isa isa_of_rows_; ///< of loops over rows of taps
    int threads_;
    GridRule rule_;
    std::vector<GridWindow> window_; ///< one, once there are points
    double spacing_ = 1.0;
    std::array<std::int64_t, most_dimensions> base_{}, length_{}, stride_{};
    std::int64_t planes_ = 0, plane_ = 0; ///< along the last axis, and numbers of one
    std::vector<std::int64_t> layers_;
    std::vector<Part> parts_;
    PlaneRange spread_; ///< into which this process spreads
    std::optional<PlanesOfRanks> plan_;
    RawVector<std::int32_t> source_order_, target_order_;
    GaussPoints<double> sources_, targets_;
    WorkArray grid_, apart_; ///< of all sources, and of each part
};

} // namespace farfield
