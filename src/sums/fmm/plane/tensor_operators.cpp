#include "sums/fmm/plane/tensor_operators.h"

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <map>
#include <utility>

namespace farfield {
namespace {

int pieces(int count, int size) { return (count + size - 1) / size; }

void append(std::vector<PlaneNumber>& to, const double* const (&parts)[2], int count) {
    for (int k = 0; k < count; ++k) to.push_back({parts[0][k], parts[1][k]});
}

std::int32_t size_of(const std::vector<PlaneSender>& senders) {
    return static_cast<std::int32_t>(senders.size());
}

} // namespace

PlaneTensorOperators::PlaneTensorOperators(const LaurentOrder& of)
    : order(of.order), separation(of.separation), row_tiles(pieces(of.order + 2, PlaneOperator::tile_rows)),
      column_steps(pieces(of.order + 1, PlaneOperator::step_columns)),
      rows(PlaneOperator::tile_rows * row_tiles), columns(PlaneOperator::step_columns * column_steps),
      local_size(of.order + 2) {
    const LaurentOperators operators(of);
    make_across(operators, of);
    make_up(operators);
    make_down(operators);
    reciprocals.push_back(0.0);
    for (int n = 1; n <= order + 1; ++n) reciprocals.push_back(1.0 / n);
}

template <class At>
void PlaneTensorOperators::set_matrix(PlaneOperator& of, const At& at) const {
    for (int step = 0; step < column_steps; ++step)
        for (int tile = 0; tile < row_tiles; ++tile)
            for (int lane = 0; lane < PlaneOperator::lanes; ++lane)
                for (int half = 0; half < 2; ++half)
                    of.matrix.push_back(
                        at(PlaneOperator::tile_rows * tile + lane / PlaneOperator::step_columns + 8 * half,
                           PlaneOperator::step_columns * step + lane % PlaneOperator::step_columns));
}

template <class At>
void PlaneTensorOperators::set_whole(PlaneOperator& of, int before, bool constant, const At& at) const {
    if (order < PlaneWhole::least_order || order > PlaneWhole::most_order) return;
    const auto diagonals = of.in.size() / static_cast<std::size_t>(columns);
    std::vector<double> log_distance(diagonals);
    for (const auto& sender : of.senders)
        log_distance[static_cast<std::size_t>(sender.diagonal)] = sender.log_distance;
    const auto number = [&](std::size_t diagonal, int row, int column) {
        const int k = column / 2 - before;
        if (k < 0) return row == 0 && column == 0 ? 1.0 : 0.0; // C as it is
        const bool translates = constant && before == 0;
        if (constant && row == 1) return translates && column == 0 ? 1.0 : 0.0; // Σ q, or nothing
        const double factor = k < columns ? at(row / 2, k) : 0.0;
        if (factor == 0.0) return translates && row == 0 && column == 0 ? log_distance[diagonal] : 0.0;
        const auto& in = of.in[diagonal * static_cast<std::size_t>(columns) + static_cast<std::size_t>(k)];
        const auto& out =
            of.out[diagonal * static_cast<std::size_t>(rows) + static_cast<std::size_t>(row / 2)];
        const auto product = factor * std::complex(in.re, in.im) * std::complex(out.re, out.im);
        if (row % 2 == column % 2) return product.real();
        return row % 2 == 0 ? -product.imag() : product.imag();
    };
    auto& whole = of.whole;
    whole.steps = PlaneWhole::steps_of(order + 1 + before);
    for (std::size_t diagonal = 0; diagonal < diagonals; ++diagonal)
        for (int step = 0; step < whole.steps; ++step)
            for (int tile = 0; tile < PlaneWhole::tiles; ++tile)
                for (int lane = 0; lane < PlaneOperator::lanes; ++lane)
                    for (int half = 0; half < 2; ++half)
                        whole.matrices.push_back(number(diagonal,
                                                        PlaneOperator::tile_rows * tile +
                                                            lane / PlaneOperator::step_columns + 8 * half,
                                                        PlaneWhole::column(whole.steps, step, lane)));
}

std::int32_t PlaneTensorOperators::add_diagonals(PlaneOperator& of, const LaurentShift& shift,
                                                 const PlaneNumber* first) const {
    const auto number = of.in.size() / static_cast<std::size_t>(columns);
    append(of.in, shift.in, order + 1);
    of.in.resize((number + 1) * static_cast<std::size_t>(columns));
    if (first != nullptr) of.out.push_back(*first);
    append(of.out, shift.out, order + 1);
    of.out.resize((number + 1) * static_cast<std::size_t>(rows));
    return static_cast<std::int32_t>(number);
}

void PlaneTensorOperators::make_across(const LaurentOperators& operators, const LaurentOrder& of) {
    const auto& far = operators.across(separation + 1, 0);
    const auto at = [&](int row, int column) {
        if (row > order + 1 || column > order) return 0.0;
        return row == 0 ? far.row[column] : far.matrix[column * operators.size() + row - 1];
    };
    set_matrix(across, at);
    constexpr PlaneNumber one{1.0, 0.0};
    std::map<std::pair<int, int>, std::int32_t> known;
    const auto add = [&](int dx, int dy, std::int32_t place, std::int32_t child) {
        if (std::max(std::abs(dx), std::abs(dy)) <= separation) return;
        const auto& shift = operators.across(dx, dy);
        auto found = known.find({dx, dy});
        if (found == known.end())
            found = known.emplace(std::pair(dx, dy), add_diagonals(across, shift, &one)).first;
        across.senders.push_back({place, child, shift.columns, found->second, shift.log_distance});
    };
    const int w = separation;
    for (int quadrant = 0; quadrant < plane_quadrants; ++quadrant) {
        across.first_sender[static_cast<std::size_t>(quadrant)] = size_of(across.senders);
        for (int y = -w; y <= w; ++y)
            for (int x = -w; x <= w; ++x)
                for (int child = 0; child < plane_quadrants; ++child)
                    add((quadrant & 1) - 2 * x - (child & 1), (quadrant >> 1) - 2 * y - (child >> 1),
                        (2 * w + 1) * (y + w) + x + w, child);
    }
    across.first_sender[plane_coarse_group] = size_of(across.senders);
    for (int dy = 1 - of.coarse; dy < of.coarse; ++dy)
        for (int dx = 1 - of.coarse; dx < of.coarse; ++dx) add(dx, dy, dx + 128, dy + 128);
    across.first_sender[plane_coarse_group + 1] = size_of(across.senders);
    set_whole(across, 0, true, at);
}

void PlaneTensorOperators::make_up(const LaurentOperators& operators) {
    const auto at = [&](int row, int column) {
        return row > order || column > order ? 0.0 : operators.up(0).matrix[column * operators.size() + row];
    };
    set_matrix(up, at);
    for (int quadrant = 0; quadrant < plane_quadrants; ++quadrant)
        up.senders.push_back(
            {quadrant, quadrant, order + 1, add_diagonals(up, operators.up(quadrant), nullptr), 0.0});
    up.first_sender.fill(0);
    up.first_sender.back() = size_of(up.senders);
    set_whole(up, 0, false, at);
}

void PlaneTensorOperators::make_down(const LaurentOperators& operators) {
    const auto& any = operators.down(0);
    const auto at = [&](int row, int column) {
        if (row > order + 1 || column > order) return 0.0;
        return row == 0 ? any.row[column] : any.matrix[column * operators.size() + row - 1];
    };
    set_matrix(down, at);
    for (int quadrant = 0; quadrant < plane_quadrants; ++quadrant) {
        const auto& shift = operators.down(quadrant);
        const PlaneNumber factor{shift.factor[0], shift.factor[1]};
        down.first_sender[static_cast<std::size_t>(quadrant)] = size_of(down.senders);
        down.senders.push_back({0, quadrant, order + 1, add_diagonals(down, shift, &factor), 0.0});
    }
    down.first_sender[plane_coarse_group] = down.first_sender[plane_coarse_group + 1] = size_of(down.senders);
    set_whole(down, 1, true, at);
}

} // namespace farfield
