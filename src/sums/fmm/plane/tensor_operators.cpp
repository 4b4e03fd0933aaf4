#include "sums/fmm/plane/tensor_operators.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

namespace farfield {
namespace {

int pieces(int count, int size) { return (count + size - 1) / size; }

std::vector<PlaneNumber> diagonal(const double* const (&parts)[2], int count) {
    std::vector<PlaneNumber> out;
    for (int k = 0; k < count; ++k) out.push_back({parts[0][k], parts[1][k]});
    return out;
}

} // namespace

PlaneTensorOperators::PlaneTensorOperators(const LaurentOrder& of)
    : order(of.order), separation(of.separation), row_tiles(pieces(of.order + 2, tile_rows)),
      column_steps(pieces(of.order + 1, step_columns)), local_size(of.order + 2),
      shift_size(laurent_size(of.order)) {
    const LaurentOperators operators(of);
    add_matrix(operators);
    add_senders(operators, of);
    add_shifts(operators);
    reciprocals.push_back(0.0);
    for (int n = 1; n <= order + 1; ++n) reciprocals.push_back(1.0 / n);
}

void PlaneTensorOperators::add_matrix(const LaurentOperators& operators) {
    const auto& far = operators.across(separation + 1, 0);
    const auto at = [&](int row, int column) {
        if (row > order + 1 || column > order) return 0.0;
        return row == 0 ? far.row[column] : far.matrix[column * operators.size() + row - 1];
    };
    for (int step = 0; step < column_steps; ++step)
        for (int tile = 0; tile < row_tiles; ++tile)
            for (int lane = 0; lane < lanes; ++lane)
                for (int half = 0; half < 2; ++half)
                    matrix.push_back(at(tile_rows * tile + lane / step_columns + 8 * half,
                                        step_columns * step + lane % step_columns));
}

std::int32_t PlaneTensorOperators::add_distance(const LaurentShift& shift) {
    const auto number = static_cast<std::int32_t>(in.size() / static_cast<std::size_t>(columns()));
    const auto add = [](std::vector<PlaneNumber>& to, const std::vector<PlaneNumber>& from, int size) {
        to.insert(to.end(), from.begin(), from.end());
        to.resize(to.size() + static_cast<std::size_t>(size) - from.size());
    };
    add(in, diagonal(shift.in, order + 1), columns());
    auto rows_of = diagonal(shift.out, order + 1);
    rows_of.insert(rows_of.begin(), {1.0, 0.0});
    add(out, rows_of, rows());
    return number;
}

void PlaneTensorOperators::add_senders(const LaurentOperators& operators, const LaurentOrder& of) {
    std::map<std::pair<int, int>, std::int32_t> known;
    const auto add = [&](int dx, int dy, std::int32_t place, std::int32_t child) {
        if (std::max(std::abs(dx), std::abs(dy)) <= separation) return;
        const auto& shift = operators.across(dx, dy);
        auto found = known.find({dx, dy});
        if (found == known.end()) found = known.emplace(std::pair(dx, dy), add_distance(shift)).first;
        senders.push_back({place, child, shift.columns, found->second, shift.log_distance});
    };
    const int w = separation;
    for (int quadrant = 0; quadrant < plane_quadrants; ++quadrant) {
        first_sender[static_cast<std::size_t>(quadrant)] = static_cast<std::int32_t>(senders.size());
        for (int y = -w; y <= w; ++y)
            for (int x = -w; x <= w; ++x)
                for (int child = 0; child < plane_quadrants; ++child)
                    add((quadrant & 1) - 2 * x - (child & 1), (quadrant >> 1) - 2 * y - (child >> 1),
                        (2 * w + 1) * (y + w) + x + w, child);
    }
    first_sender[plane_coarse_group] = static_cast<std::int32_t>(senders.size());
    for (int dy = 1 - of.coarse; dy < of.coarse; ++dy)
        for (int dx = 1 - of.coarse; dx < of.coarse; ++dx) add(dx, dy, dx + 128, dy + 128);
    first_sender[plane_coarse_group + 1] = static_cast<std::int32_t>(senders.size());
}

void PlaneTensorOperators::add_shifts(const LaurentOperators& operators) {
    const auto size = static_cast<std::size_t>(shift_size);
    up.assign(operators.up(0).matrix, operators.up(0).matrix + size * size);
    down.assign(operators.down(0).matrix, operators.down(0).matrix + size * size);
    for (int quadrant = 0; quadrant < plane_quadrants; ++quadrant) {
        const auto add = [&](std::vector<PlaneNumber>& to, const double* const (&parts)[2]) {
            const auto from = diagonal(parts, shift_size);
            to.insert(to.end(), from.begin(), from.end());
        };
        add(up_in, operators.up(quadrant).in);
        add(up_out, operators.up(quadrant).out);
        add(down_in, operators.down(quadrant).in);
        add(down_out, operators.down(quadrant).out);
        const auto& factor = operators.down(quadrant).factor;
        to_child[static_cast<std::size_t>(quadrant)] = {factor[0], factor[1]};
    }
}

} // namespace farfield
