#include "sums/lattice/near_sum.h"

#include "backend/threads/parallel.h"
#include "sums/direct/cpu/isa_function.h"
#include "sums/lattice/near_cells.h"
#include "sums/lattice/near_tile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace farfield {
namespace {

/// Pairs between two looks at the watch: many points may lie in one cell.
constexpr std::int64_t pairs_at_once = std::int64_t{1} << 18;

std::int64_t floor_division(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

} // namespace

struct NearSum::Images {
    LatticePoints points;
    RawVector<double> strength;
    std::vector<std::int64_t> place; ///< among the sorted sources
    RawVector<double> square;        ///< of a run: squared distances from the cell
    RawVector<std::int32_t> kept;    ///< of a run: those that are images
    std::int64_t home = 0;           ///< where the sources of the cell itself begin, all of them
    std::int64_t count = 0;

    void reserve(std::int64_t n) {
        const auto size = static_cast<std::size_t>(n + near_padding);
        if (strength.size() >= size) return;
        for (auto& axis : points) axis.resize(size);
        strength.resize(size);
        place.resize(size);
    }
};

NearSum::NearSum(const PeriodicFrame& frame, const Splitting& splitting, double cutoff, Isa isa, int threads)
    : frame_(frame), splitting_(splitting), cutoff_(cutoff), isa_(isa), threads_(threads) {}

std::int64_t NearSum::cell_of(const LatticePoints& points, std::size_t i) const {
    std::array<std::int64_t, 3> at{};
    for (std::size_t k = 0; k < 3; ++k)
        at[k] = std::min(static_cast<std::int64_t>(points[k][i] / width_[k]), cells_[k] - 1);
    return (at[2] * cells_[1] + at[1]) * cells_[0] + at[0];
}

NearSum::Cells NearSum::sorted(const LatticePoints& points) const {
    const auto n = points[0].size();
    Cells out;
    std::vector<std::int64_t> cell(n);
    parallel_parts(threads_, n, [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) cell[i] = cell_of(points, i);
    });
    out.start.assign(static_cast<std::size_t>(cells_[0] * cells_[1] * cells_[2]) + 1, 0);
    for (const auto c : cell) ++out.start[static_cast<std::size_t>(c) + 1];
    for (std::size_t c = 1; c < out.start.size(); ++c) out.start[c] += out.start[c - 1];
    auto next = out.start;
    out.order.resize(n);
    for (std::size_t i = 0; i < n; ++i)
        out.order[static_cast<std::size_t>(next[static_cast<std::size_t>(cell[i])]++)] =
            static_cast<std::int64_t>(i);
    for (std::size_t k = 0; k < 3; ++k) {
        out.points[k].resize(n);
        for (std::size_t i = 0; i < n; ++i)
            out.points[k][i] = points[k][static_cast<std::size_t>(out.order[i])];
    }
    return out;
}

void NearSum::set_points(const LatticePoints& sources, const LatticePoints& targets,
                         std::span<const std::int64_t> own) {
    self_ = own.empty();
    const auto grid = near_cells(frame_, cutoff_, static_cast<std::int64_t>(sources[0].size()));
    cells_ = grid.count;
    width_ = grid.width;
    sources_ = sorted(sources);
    const auto m = self_ ? sources[0].size() : targets[0].size();
    own_.assign(m, -1);
    if (self_) {
        for (std::size_t i = 0; i < m; ++i) own_[i] = static_cast<std::int64_t>(i);
    } else {
        targets_ = sorted(targets);
        std::vector<std::int64_t> place(sources[0].size());
        for (std::size_t i = 0; i < place.size(); ++i)
            place[static_cast<std::size_t>(sources_.order[i])] = static_cast<std::int64_t>(i);
        for (std::size_t i = 0; i < m; ++i)
            if (const auto source = own[static_cast<std::size_t>(targets_.order[i])]; source >= 0)
                own_[i] = place[static_cast<std::size_t>(source)];
    }
    count_pairs();
    divided_ = false;
    first_cell_ = 0;
    last_cell_ = static_cast<std::int64_t>(sorted_targets().start.size()) - 1;
}

void NearSum::count_pairs() {
    const auto& start = sorted_targets().start;
    const auto cells = start.size() - 1;
    cells_of_a_part_ = std::clamp<std::size_t>(cells / 4096, 1, 256);
    pairs_of_part_ = parallel_results(
        threads_, cells,
        [&](std::size_t begin, std::size_t end) {
            std::int64_t sum = 0;
            for (auto c = begin; c < end; ++c) {
                const auto here = start[c + 1] - start[c];
                if (here == 0) continue;
                for_runs(static_cast<std::int64_t>(c), [&](std::int64_t first, std::int64_t last,
                                                           const auto&) { sum += here * (last - first); });
            }
            return sum;
        },
        cells_of_a_part_);
    pairs_ = 0;
    for (const auto pairs : pairs_of_part_) pairs_ += pairs;
    own_pairs_ = pairs_;
}

template <class Run>
void NearSum::for_runs(std::int64_t cell, const Run& run) const {
    const auto nx = cells_[0], ny = cells_[1], nz = cells_[2];
    const auto cx = cell % nx, cy = cell / nx % ny, cz = cell / (nx * ny);
    const auto reach = [&](double distance, std::size_t axis) {
        return static_cast<std::int64_t>(distance / width_[axis]) + 1;
    };
    const auto gap = [&](std::int64_t offset, std::size_t axis) {
        return static_cast<double>(std::max<std::int64_t>(std::abs(offset) - 1, 0)) * width_[axis];
    };
    const double limit = cutoff_ * cutoff_;
    for (auto z = cz - reach(cutoff_, 2); z <= cz + reach(cutoff_, 2); ++z) {
        const double gap_z = gap(z - cz, 2);
        if (gap_z * gap_z > limit) continue;
        const auto image_z = floor_division(z, nz);
        for (auto y = cy - reach(cutoff_, 1); y <= cy + reach(cutoff_, 1); ++y) {
            const double gap_y = gap(y - cy, 1);
            const double rest = limit - gap_z * gap_z - gap_y * gap_y;
            if (rest < 0.0) continue;
            const auto image_y = floor_division(y, ny);
            const auto row = ((z - image_z * nz) * ny + (y - image_y * ny)) * nx;
            const auto reach_x = reach(std::sqrt(rest), 0);
            for (auto x = cx - reach_x; x <= cx + reach_x;) {
                const auto image_x = floor_division(x, nx);
                const auto last = std::min(cx + reach_x, image_x * nx + nx - 1);
                run(sources_.start[static_cast<std::size_t>(row + x - image_x * nx)],
                    sources_.start[static_cast<std::size_t>(row + last - image_x * nx + 1)],
                    std::array{image_x, image_y, image_z});
                x = last + 1;
            }
        }
    }
}

void NearSum::gather(std::int64_t cell, Images& images) const {
    std::int64_t total = 0;
    for_runs(cell, [&](std::int64_t first, std::int64_t last, const auto&) { total += last - first; });
    images.reserve(total);
    std::int64_t at = 0;
    const auto cell_begin = sources_.start[static_cast<std::size_t>(cell)];
    const auto cell_end = sources_.start[static_cast<std::size_t>(cell) + 1];
    const std::array index{cell % cells_[0], cell / cells_[0] % cells_[1], cell / (cells_[0] * cells_[1])};
    std::array<double, 3> low{}, high{};
    for (std::size_t k = 0; k < 3; ++k) {
        low[k] = static_cast<double>(index[k]) * width_[k];
        high[k] = low[k] + width_[k];
    }
    // a little more, for points that rounding put into the cell
    const double limit = cutoff_ * cutoff_ * (1.0 + 1e-9) + 1e-18;
    for_runs(cell, [&](std::int64_t first, std::int64_t last, const std::array<std::int64_t, 3>& image) {
        const bool is_box = image == std::array<std::int64_t, 3>{};
        std::array<double, 3> shift{};
        for (std::size_t k = 0; k < 3; ++k) shift[k] = static_cast<double>(image[k]) * frame_.length[k];
        const auto of_run = static_cast<std::size_t>(last - first);
        if (images.square.size() < of_run) {
            images.square.resize(of_run);
            images.kept.resize(of_run);
        }
        // loops of one thing each, for the compiler to take several images at once
        double* const square = images.square.data();
        for (std::size_t k = 0; k < 3; ++k) {
            const double* const x = sources_.points[k].data() + first;
            const double below = low[k] - shift[k], above = high[k] - shift[k];
            for (std::size_t i = 0; i < of_run; ++i) {
                const double off = std::max(std::max(below - x[i], x[i] - above), 0.0);
                square[i] = k == 0 ? off * off : square[i] + off * off;
            }
        }
        const auto home_begin = is_box ? cell_begin - first : 0, home_end = is_box ? cell_end - first : 0;
        std::int64_t count = 0;
        for (std::int64_t i = 0; i < last - first; ++i) {
            if (i == home_begin && home_begin < home_end) images.home = at + count;
            const bool is_home = i >= home_begin && i < home_end;
            images.kept[static_cast<std::size_t>(count)] = static_cast<std::int32_t>(i);
            count += is_home || square[i] <= limit ? 1 : 0;
        }
        for (std::int64_t i = 0; i < count; ++i, ++at) {
            const auto j = static_cast<std::size_t>(first + images.kept[static_cast<std::size_t>(i)]);
            const auto to = static_cast<std::size_t>(at);
            for (std::size_t k = 0; k < 3; ++k) images.points[k][to] = sources_.points[k][j] + shift[k];
            images.strength[to] = strengths_[j];
            images.place[to] = static_cast<std::int64_t>(j);
        }
    });
    images.count = (at + near_padding - 1) / near_padding * near_padding;
    for (; at < images.count; ++at) {
        for (auto& axis : images.points) axis[static_cast<std::size_t>(at)] = 1e9;
        images.strength[static_cast<std::size_t>(at)] = 0.0;
        images.place[static_cast<std::size_t>(at)] = -1;
    }
}

std::vector<NearSum::Coincidence> NearSum::compute(std::span<const double> strengths,
                                                   const LatticeResults& results, WorkWatch& watch) {
    const auto& at = sorted_targets();
    const auto first_row = divided_ ? at.start[static_cast<std::size_t>(first_cell_)] : 0;
    strengths_.resize(strengths.size());
    for (std::size_t i = 0; i < strengths.size(); ++i)
        strengths_[i] = strengths[static_cast<std::size_t>(sources_.order[i])];
    const auto function = FF_ISA_FUNCTION(ff_near_images, isa_);
    std::vector<std::vector<Coincidence>> found(static_cast<std::size_t>(last_cell_ - first_cell_));
    parallel_for(threads_, last_cell_ - first_cell_, [&](std::int64_t task) {
        const auto cell = first_cell_ + task;
        const auto begin = at.start[static_cast<std::size_t>(cell)];
        const auto end = at.start[static_cast<std::size_t>(cell) + 1];
        if (begin == end || watch.stopped()) return;
        thread_local Images images;
        gather(cell, images);
        NearTile tile{.source = {images.points[0].data(), images.points[1].data(), images.points[2].data()},
                      .strength = images.strength.data(),
                      .count = images.count,
                      .alpha = splitting_.alpha,
                      .cutoff = cutoff_,
                      .cutoff2 = cutoff_ * cutoff_,
                      .softening2 = frame_.softening * frame_.softening};
        std::int64_t untold = 0; // pairs
        for (auto i = begin; i < end && !watch.stopped(); ++i) {
            const auto target = at.order[static_cast<std::size_t>(i)];
            const auto row = divided_ ? i - first_row : target;
            for (std::size_t k = 0; k < 3; ++k) tile.target[k] = at.points[k][static_cast<std::size_t>(i)];
            // the point itself is out of reach meanwhile
            const auto own = own_[static_cast<std::size_t>(i)];
            const bool is_here = own >= 0; // a target that is a source lies in the source's cell
            const auto own_place = static_cast<std::size_t>(
                is_here ? images.home + own - sources_.start[static_cast<std::size_t>(cell)] : 0);
            const double kept = is_here ? std::exchange(images.points[0][own_place], 1e9) : 0.0;
            function(&tile);
            if (tile.coincident > 0)
                for (std::int64_t j = 0; j < images.count; ++j) {
                    const auto place = static_cast<std::size_t>(j);
                    double square = 0.0;
                    for (std::size_t k = 0; k < 3; ++k) {
                        const double d = tile.target[k] - images.points[k][place];
                        square += d * d;
                    }
                    if (square <= coincident_square)
                        found[static_cast<std::size_t>(task)].push_back(
                            {target, sources_.order[static_cast<std::size_t>(images.place[place])]});
                }
            if (is_here) images.points[0][own_place] = kept;
            if (results.potential != nullptr) results.potential[row] = tile.sums[0];
            if (results.field != nullptr) std::copy_n(tile.sums + 1, 3, results.field + 3 * row);
            untold += images.count;
            if (untold >= pairs_at_once) watch.done(static_cast<double>(std::exchange(untold, 0)));
        }
        watch.done(static_cast<double>(untold));
    });
    std::vector<Coincidence> out;
    for (const auto& some : found) out.insert(out.end(), some.begin(), some.end());
    return out;
}

} // namespace farfield
