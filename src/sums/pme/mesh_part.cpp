#include "sums/pme/mesh_part.h"

#include "backend/threads/parallel.h"
#include "sums/direct/cpu/isa_function.h"
#include "sums/pme/influence.h"
#include "sums/pme/mesh_tile.h"

#include <algorithm>
#include <cstddef>

namespace farfield {
namespace {

MeshTile tile_of(const Splines& splines, const MeshBlocks& blocks, std::size_t b, const MeshPoints& points,
                 RawVector<double>& copy) {
    const auto& block = blocks.blocks()[b];
    const auto first = static_cast<std::size_t>(points.start[b]);
    MeshTile tile{.order = splines.order,
                  .values = splines.values.data(),
                  .slopes = splines.slopes.data(),
                  .count = points.start[b + 1] - points.start[b],
                  .offset = points.offset.data() + first,
                  .mesh = copy.data(),
                  .row = blocks.row(),
                  .plane = blocks.row() * blocks.rows(block)};
    for (std::size_t k = 0; k < 3; ++k) tile.fraction[k] = points.fraction[k].data() + first;
    return tile;
}

} // namespace

MeshPart::MeshPart(const PeriodicFrame& frame, const MeshChoice& choice, Isa isa, int threads,
                   comm::Transport* ranks)
    : frame_(frame), isa_(isa), threads_(threads), splines_(choice.order), blocks_(choice.mesh, choice.order),
      alone_(ranks == nullptr), transform_(choice.mesh, threads, ranks),
      influence_(influence_of(frame, choice.splitting, choice.mesh, choice.order, threads,
                              [this](std::int64_t y) { return transform_.takes_factors(y); })),
      mesh_(static_cast<std::size_t>(choice.mesh[0]) * static_cast<std::size_t>(choice.mesh[1]) *
            static_cast<std::size_t>(choice.mesh[2])) {}

void MeshPart::set_points(const LatticePoints& sources, const LatticePoints& targets, bool self) {
    self_ = self;
    if (alone_)
        sources_.sort(frame_, blocks_, sources, threads_);
    else
        sort_own_sources(sources);
    if (!self) targets_.sort(frame_, blocks_, targets, threads_);
    if (!alone_) needs_ = transform_.parts().needs_of_all(planes_around(targets));
}

RawVector<std::int32_t> MeshPart::cells_along_z(const LatticePoints& points) const {
    RawVector<std::int32_t> out(points[2].size());
    parallel_parts(threads_, out.size(), [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i)
            out[i] = spline_place(points[2][i], frame_.length[2], blocks_.mesh()[2], splines_.order).cell;
    });
    return out;
}

template <class Body>
void MeshPart::for_planes(std::int64_t cell, const Body& body) const {
    const std::int64_t n = blocks_.mesh()[2], first = cell - (splines_.order / 2 - 1);
    for (auto z = first; z < first + splines_.order; ++z) body((z + n) % n);
}

// Those that reach planes of this rank, in their order: its mesh points get what they get of all.
void MeshPart::sort_own_sources(const LatticePoints& sources) {
    const auto& own = transform_.parts().planes();
    std::vector<std::uint8_t> reaches(static_cast<std::size_t>(blocks_.mesh()[2]), 0); // from a cell
    for (std::size_t cell = 0; cell < reaches.size(); ++cell)
        for_planes(static_cast<std::int64_t>(cell),
                   [&](std::int64_t z) { reaches[cell] |= z >= own.begin && z < own.end ? 1 : 0; });
    const auto cells = cells_along_z(sources);
    std::vector<std::int32_t> rows;
    for (std::size_t i = 0; i < cells.size(); ++i)
        if (reaches[static_cast<std::size_t>(cells[i])] != 0) rows.push_back(static_cast<std::int32_t>(i));
    LatticePoints points;
    for (std::size_t k = 0; k < 3; ++k) {
        points[k].resize(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i)
            points[k][i] = sources[k][static_cast<std::size_t>(rows[i])];
    }
    sources_.sort(frame_, blocks_, points, threads_);
    for (auto& row : sources_.order) row = rows[static_cast<std::size_t>(row)];
}

std::vector<std::uint8_t> MeshPart::planes_around(const LatticePoints& points) const {
    std::vector<std::uint8_t> filled(static_cast<std::size_t>(blocks_.mesh()[2]), 0), out(filled);
    for (const auto cell : cells_along_z(points)) filled[static_cast<std::size_t>(cell)] = 1;
    for (std::size_t cell = 0; cell < filled.size(); ++cell)
        if (filled[cell] != 0)
            for_planes(static_cast<std::int64_t>(cell),
                       [&](std::int64_t z) { out[static_cast<std::size_t>(z)] = 1; });
    return out;
}

double MeshPart::work_of(double points) const { return points * splines_.order * splines_.order; }

double MeshPart::work() const {
    const auto n = sources_.order.size(), m = self_ ? n : targets_.order.size();
    return work_of(static_cast<double>(n + m)) + transform_.work();
}

void MeshPart::describe(LatticeReport& report, double /*scale*/) const {
    report.mesh = {blocks_.mesh()[0], blocks_.mesh()[1], blocks_.mesh()[2]};
    report.order = splines_.order;
}

void MeshPart::add(std::span<const double> strengths, const LatticeResults& results, WorkWatch& watch,
                   const std::function<void(std::string_view)>& pass) {
    spread(strengths, watch);
    pass("spreading");
    transform_.multiply(mesh_, influence_, watch);
    transform_.parts().share_planes(mesh_, blocks_.mesh()[0], needs_);
    pass("transforms");
    gather(results, watch);
    pass("gathering");
}

// Colour after colour, so that what a mesh point gets is added in one order whoever adds it.
void MeshPart::spread(std::span<const double> strengths, WorkWatch& watch) {
    const std::int64_t nx = blocks_.mesh()[0], before = splines_.order / 2 - 1;
    const auto function = FF_ISA_FUNCTION(ff_mesh, isa_);
    const auto& planes = transform_.parts().planes(); // the others are of other ranks
    const auto first_row = planes.begin * blocks_.mesh()[1], last_row = planes.end * blocks_.mesh()[1];
    parallel_parts(threads_, static_cast<std::size_t>((last_row - first_row) * nx),
                   [&](std::size_t begin, std::size_t end) {
                       std::fill(mesh_.begin() + first_row * nx + static_cast<std::ptrdiff_t>(begin),
                                 mesh_.begin() + first_row * nx + static_cast<std::ptrdiff_t>(end), 0.0);
                   });
    for (const auto& colour : blocks_.colours())
        parallel_for(threads_, static_cast<std::int64_t>(colour.size()), [&](std::int64_t task) {
            const auto b = static_cast<std::size_t>(colour[static_cast<std::size_t>(task)]);
            const auto first = sources_.start[b], count = sources_.start[b + 1] - first;
            if (count == 0 || watch.stopped()) return;
            const auto& block = blocks_.blocks()[b];
            thread_local RawVector<double> copy, strength;
            copy.assign(blocks_.size(block), 0.0);
            strength.resize(static_cast<std::size_t>(count));
            for (std::int64_t i = 0; i < count; ++i)
                strength[static_cast<std::size_t>(i)] =
                    strengths[static_cast<std::size_t>(sources_.order[static_cast<std::size_t>(first + i)])];
            auto tile = tile_of(splines_, blocks_, b, sources_, copy);
            tile.strength = strength.data();
            function(false, &tile);
            blocks_.for_rows(block, [&](std::int64_t at, std::int64_t row) {
                if (row < first_row || row >= last_row) return;
                const double* const from = copy.data() + at;
                double* const to = mesh_.data() + row * nx;
                for (std::int64_t x = 0; x < before; ++x) to[nx - before + x] += from[x];
                for (std::int64_t x = 0; x < nx; ++x) to[x] += from[before + x];
                const auto after = splines_.order - 1 - before;
                for (std::int64_t x = 0; x < after; ++x) to[x] += from[before + nx + x];
            });
            watch.done(work_of(static_cast<double>(count)));
        });
}

void MeshPart::gather(const LatticeResults& results, WorkWatch& watch) const {
    const std::int64_t nx = blocks_.mesh()[0], before = splines_.order / 2 - 1;
    const auto function = FF_ISA_FUNCTION(ff_mesh, isa_);
    const auto& points = self_ ? sources_ : targets_;
    parallel_for(threads_, static_cast<std::int64_t>(blocks_.blocks().size()), [&](std::int64_t task) {
        const auto b = static_cast<std::size_t>(task);
        const auto first = points.start[b], count = points.start[b + 1] - first;
        if (count == 0 || watch.stopped()) return;
        const auto& block = blocks_.blocks()[b];
        thread_local RawVector<double> copy;
        thread_local std::array<RawVector<double>, 4> sums;
        copy.resize(blocks_.size(block));
        for (auto& of_output : sums) of_output.resize(static_cast<std::size_t>(count));
        blocks_.for_rows(block, [&](std::int64_t at, std::int64_t row) {
            double* const to = copy.data() + at;
            const double* const from = mesh_.data() + row * nx;
            std::copy_n(from + nx - before, before, to);
            std::copy_n(from, nx, to + before);
            const auto after = splines_.order - 1 - before;
            std::copy_n(from, after, to + before + nx);
            std::fill(to + nx + before + after, to + blocks_.row(), 0.0);
        });
        auto tile = tile_of(splines_, blocks_, b, points, copy);
        tile.potential = sums[3].data();
        for (std::size_t k = 0; k < 3; ++k) {
            tile.per_length[k] = blocks_.mesh()[k] / frame_.length[k];
            tile.field[k] = results.field != nullptr ? sums[k].data() : nullptr;
        }
        function(true, &tile);
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t target = points.order[static_cast<std::size_t>(first + i)];
            if (results.potential != nullptr) results.potential[target] += tile.potential[i];
            for (std::int64_t k = 0; k < 3 && results.field != nullptr; ++k)
                results.field[3 * target + k] += tile.field[k][i];
        }
        watch.done(work_of(static_cast<double>(count)));
    });
}

} // namespace farfield
