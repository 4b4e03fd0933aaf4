// The operators of expansions in the plane (expansions/laurent.h) as the kernels of a GPU take them. M2M, M2L
// and L2L are all D_out·matrix·D_in with a real matrix, which is cut into the pieces that tensor cores
// multiply, and complex diagonals of each sender. Made and tested on the host.
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

/// A cell whose expansion acts on another one.
struct PlaneSender {
    /// M2L: on the coarsest level the distance to the target, dx + 128 and dy + 128; on others the place of
    /// the parent's neighbour, (2·separation + 1)·y + x, and the quadrant of its child. M2M: the child's
    /// quadrant.
    std::int32_t place = 0, child = 0;
    std::int32_t terms = 0;    ///< of its graded order
    std::int32_t diagonal = 0; ///< row of `in` and `out`
    double log_distance = 0.0; ///< M2L: in widths of the cell
};

constexpr int plane_quadrants = 4;
constexpr int plane_coarse_group = plane_quadrants; ///< of targets on the coarsest level

/// The operators of one pass.
struct PlaneOperator {
    static constexpr int tile_rows = 16, step_columns = 4, lanes = 32;
    static constexpr int piece = 2 * lanes; ///< numbers of a tile and step

    /// [step][tile][lane][2]: rows lane/4 and lane/4 + 8 of the tile, column lane mod 4 of the step.
    std::vector<double> matrix;
    std::vector<PlaneNumber> in, out; ///< diagonals, of `columns` and of `rows` numbers
    std::vector<PlaneSender> senders;
    std::array<std::int32_t, plane_quadrants + 2>
        first_sender{}; ///< of the quadrants, then of `coarse_group`
};

/// A multipole expansion is `columns` complex numbers a_k, a local one `local_size` of them: C, then g_n. M2L
/// makes both of the products t^(−k) a_k: row 0 of its matrix is −1/k, row n + 1 is C(n + k, k). L2L has 1/(n
/// + 1) and C(n, m) there, and takes g_n, without C. M2M has C(k, l).
class PlaneTensorOperators {
public:
    explicit PlaneTensorOperators(const LaurentOrder& order);

    int order, separation;
    int row_tiles, column_steps, rows, columns;
    int local_size;
    PlaneOperator across, up, down;
    std::vector<double> reciprocals; ///< number n is 1/n, up to that of the expansions' integrals

private:
    /// @param at  at(row, column), 0 beyond its rows and columns
    template <class At>
    void set_matrix(PlaneOperator& of, const At& at) const;
    /// @param first  what goes before `shift.out`, if anything
    std::int32_t add_diagonals(PlaneOperator& of, const LaurentShift& shift, const PlaneNumber* first) const;
    void make_across(const LaurentOperators& operators, const LaurentOrder& order);
    void make_up(const LaurentOperators& operators);
    void make_down(const LaurentOperators& operators);
};

} // namespace farfield
