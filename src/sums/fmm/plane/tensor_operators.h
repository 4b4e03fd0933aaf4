// The operators of expansions in the plane (expansions/laurent.h) as the kernels of a GPU take them: the matrix
// of M2L cut into the pieces that tensor cores multiply, and a list of senders for each quadrant. Made and
// tested on the host.
#pragma once

#include "sums/expansions/laurent.h"

#include <array>
#include <cstdint>
#include <vector>

namespace farfield {

/// A complex number as GPUs read it.
struct alignas(16) PlaneNumber {
    double re = 0.0, im = 0.0;
};

/// A cell that acts on a target by M2L.
struct PlaneSender {
    /// On the coarsest level the distance to the target, dx + 128 and dy + 128; on others the place of the
    /// parent's neighbour, (2·separation + 1)·y + x, and the quadrant of its child.
    std::int32_t place = 0, child = 0;
    std::int32_t terms = 0;    ///< of its graded order
    std::int32_t distance = 0; ///< row of `in` and `out`
    double log_distance = 0.0; ///< in widths of the cell
};

constexpr int plane_quadrants = 4;
constexpr int plane_coarse_group = plane_quadrants; ///< of targets on the coarsest level

/// A multipole expansion is `columns()` complex numbers a_k, a local one `local_size` of them: C, then g_n. One
/// matrix makes both of the products (t^(−k) a_k): its row 0 is −1/k, its row n + 1 is C(n + k, k).
class PlaneTensorOperators {
public:
    explicit PlaneTensorOperators(const LaurentOrder& order);

    static constexpr int tile_rows = 16, step_columns = 4, lanes = 32;
    [[nodiscard]] int rows() const { return tile_rows * row_tiles; }
    [[nodiscard]] int columns() const { return step_columns * column_steps; }

    int order, separation;
    int row_tiles, column_steps;
    int local_size;
    /// [step][tile][lane][2]: rows lane/4 and lane/4 + 8 of the tile, column lane mod 4 of the step.
    std::vector<double> matrix;
    std::vector<PlaneSender> senders; ///< of the quadrants, then of the coarsest level
    std::array<std::int32_t, plane_quadrants + 2> first_sender{};
    std::vector<PlaneNumber> in;  ///< of each distance t^(−k), `columns()` numbers
    std::vector<PlaneNumber> out; ///< of each distance 1, then (−1)ⁿ t^(−n−1), `rows()` numbers
    /// M2M and L2L, of `shift_size` rows and columns, by columns; diagonal factors of each quadrant.
    int shift_size;
    std::vector<double> up, down;
    std::vector<double> reciprocals; ///< number n is 1/n, up to that of the expansions' integrals
    std::vector<PlaneNumber> up_in, up_out, down_in, down_out;
    std::array<PlaneNumber, plane_quadrants> to_child{}; ///< s, in the parent's widths

private:
    void add_matrix(const LaurentOperators& operators);
    std::int32_t add_distance(const LaurentShift& shift);
    void add_senders(const LaurentOperators& operators, const LaurentOrder& order);
    void add_shifts(const LaurentOperators& operators);
};

} // namespace farfield
