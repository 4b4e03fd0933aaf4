// M2L of cells in lanes: the expansions around a block of parents are laid out once, and each octant's cells
// take from them what all their offsets send.
#include "sums/fmm/cell_blocks.h"

#include "backend/threads/parallel.h"
#include "sums/direct/cpu/isa_function.h"
#include "sums/fmm/passes.h"

#include <algorithm>

namespace farfield {

std::optional<std::int64_t> CellBlockSources::place(int octant, const std::array<int, 3>& offset) const {
    int shift[3];
    int from = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const int child = (octant >> axis & 1) + offset[static_cast<std::size_t>(axis)];
        shift[axis] = (child >> 1) + separation;
        if (shift[axis] < 0 || shift[axis] >= shifts()) return std::nullopt;
        from |= (child & 1) << axis;
    }
    return from * this->octant() + shift[0] * this->shift() + shift[2] * plane() + shift[1] * cell_block_side;
}

namespace {

/// Cells one after the other: what a class of offsets takes beside its product, in multiply-adds, fitted to
/// times of orders 4 to 13.
constexpr double work_to_find_senders = 5000.0;

double numbers_of(const CellBlockImages& images) {
    double sum = 0.0;
    for (int o = 0; o < parities; ++o) sum += static_cast<double>(images.count[o]) * images.column_count[o];
    return sum;
}

} // namespace

template <class T>
auto CellBlockSenders<T>::columns_of(const TranslateTask& translation, int free) -> Columns {
    Columns out;
    for (int o = 0; o < parities; ++o)
        for (int s = 0; s < parities; ++s) {
            if (((o ^ s) & ~translation.axes) != 0) continue;
            const int first = ((o ^ s) & free) * translation.size + translation.class_begin[s];
            for (int j = 0; j < translation.source_count[s]; ++j) out.of_all.push_back(first + j);
            out.count[static_cast<std::size_t>(o)] += translation.source_count[s];
        }
    return out;
}

// An octant has senders at a mirror image or not axis by axis: on both sides (`free`) or on one (`side`).
template <class T>
void CellBlockSenders<T>::add_images(const OffsetClass& of, const TranslateTask& translation, bool one_by_one,
                                     std::map<int, Columns>& columns,
                                     std::array<std::vector<CellBlockImages>, 8>& out) {
    for (int octant = 0; octant < 8; ++octant) {
        std::vector<int> there; // mirror images
        for (int mirror = 0; mirror < parities; ++mirror)
            if ((mirror & ~of.axes) == 0 && sources_.place(octant, source_offset(of, mirror)))
                there.push_back(mirror);
        if (there.empty()) continue;
        int all = of.axes, any = 0;
        for (const int mirror : there) {
            all &= mirror;
            any |= mirror;
        }
        const auto add = [&](int side, int free) {
            const auto found = columns.try_emplace(free, Columns{}).first;
            if (found->second.of_all.empty()) found->second = columns_of(translation, free);
            CellBlockImages images{
                .matrix = translation.matrix, .columns = found->second.of_all.data(), .side = side, .free = free};
            std::copy(std::begin(translation.source_count), std::end(translation.source_count), images.count);
            std::copy(found->second.count.begin(), found->second.count.end(), images.column_count);
            int q = 0, subset = 0;
            do {
                images.place[q++] = *sources_.place(octant, source_offset(of, side | subset));
                subset = (subset - free) & free;
            } while (subset != 0);
            out[static_cast<std::size_t>(octant)].push_back(images);
        };
        if (one_by_one)
            for (const int mirror : there) add(mirror, 0);
        else
            add(all, any & ~all);
    }
}

template <class T>
CellBlockSenders<T>::CellBlockSenders(const FmmOperators<T>& operators, int separation)
    : sources_{.separation = separation, .functions = operators.functions} {
    columns_.resize(operators.across.size());
    for (std::size_t level = 0; level < operators.across.size(); ++level) {
        auto& by_octant = images_.emplace_back();
        columns_[level].resize(operators.classes.size());
        auto& work = work_.emplace_back();
        for (std::size_t c = 0; c < operators.classes.size(); ++c) {
            const auto& translation = operators.across[level][c];
            if (translation.multiply_adds() == 0.0) continue;
            const auto before = by_octant[0].size();
            add_images(operators.classes[c], translation.task(), operators.one_by_one, columns_[level][c],
                       by_octant);
            if (by_octant[0].size() == before) continue;
            work.cell += translation.multiply_adds() + work_to_find_senders;
            work.lane += block_work(numbers_of(by_octant[0].back()), translation.functions());
        }
        if (operators.one_by_one) work.lane = 0.0;
    }
}

template <class T>
bool CellBlockSenders<T>::pay(int level, std::int64_t computed_lanes, std::int64_t cells) const {
    const auto& work = work_[std::min(static_cast<std::size_t>(level), work_.size() - 1)];
    return static_cast<double>(computed_lanes) * work.lane <= static_cast<double>(cells) * work.cell;
}

template <class T>
const std::vector<CellBlockImages>& CellBlockSenders<T>::of(int level, int octant) const {
    return images_[std::min(static_cast<std::size_t>(level), images_.size() - 1)]
                  [static_cast<std::size_t>(octant)];
}

template <class T>
double CellBlockSenders<T>::multiply_adds(int level) const {
    double sum = 0.0;
    for (const auto& images : of(level, 0)) sum += numbers_of(images);
    return sum;
}

int computed_lanes(std::uint64_t wanted, Isa isa, bool wide) {
    const int bytes = isa == Isa::avx512 ? 64 : isa == Isa::avx2 ? 32 : isa == Isa::sse42 ? 16 : 0;
    const int width = std::max(1, bytes / (wide ? 8 : 4));
    const int most = cell_block_vectors(isa == Isa::avx512 ? 32 : 16);
    int vectors = 0;
    for (int lane = 0; lane < cell_block_lanes; lane += width)
        if ((wanted >> lane & ((std::uint64_t{1} << width) - 1)) != 0) ++vectors;
    const int rest = vectors % most;
    return width * (vectors - rest + (rest == 0 ? 0 : rest <= 2 ? 2 : most));
}

namespace {

std::array<int, 3> block_of(const TreeCell& cell) {
    constexpr int cells = 2 * cell_block_side;
    return {cell.index[0] / cells, cell.index[1] / cells, cell.index[2] / cells};
}

// The expansions of one octant of a row of parents along x. The numbers of parents are constants, so that those
// of a function stay in registers between all shifts.
template <int Shifts, class T>
void lay_out_row(const T* const* row, const CellBlockSources& layout, T* out) {
    for (int f = 0; f < layout.functions; ++f) {
        T values[cell_block_side + Shifts - 1];
        for (int x = 0; x < cell_block_side + Shifts - 1; ++x) values[x] = row[x][f];
        for (int shift = 0; shift < Shifts; ++shift)
            for (int x = 0; x < cell_block_side; ++x) out[shift * layout.shift() + x] = values[shift + x];
        out += layout.function();
    }
}

} // namespace

// Cells of a level follow the curve of their keys, so that those of a block are neighbours in number.
template <class T>
auto FmmPasses<T>::blocks_of_cells() const -> std::vector<CellRun> {
    std::vector<CellRun> out;
    for (int level = 1; level < std::min(levels_, tree_.levels()); ++level)
        for (auto cell = tree_.level_begin(level); cell < tree_.level_begin(level + 1); ++cell) {
            if (out.empty() || cell == tree_.level_begin(level) ||
                block_of(tree_.cell(cell)) != block_of(tree_.cell(out.back().begin)))
                out.push_back({cell, cell});
            out.back().end = cell + 1;
        }
    return out;
}

// The part `part` of `parts`: of the octants, or of the cells.
template <class T>
void FmmPasses<T>::translate_cells(const CellRun& cells, std::int32_t part, std::int32_t parts) {
    const auto& layout = block_senders_->sources();
    const auto& first = tree_.cell(cells.begin);
    if (block_senders_->of(first.level, 0).empty()) return;
    const auto block = block_of(first);
    const auto in_block = [&](const TreeCell& cell, std::size_t axis) { // its parent
        return (cell.index[axis] >> 1) - cell_block_side * block[axis];
    };
    std::vector<std::int32_t> parents(layout.parent(0, 0, layout.side()), no_cell);
    std::array<std::uint64_t, 8> lanes{};
    std::array<std::vector<std::pair<std::int32_t, int>>, 8> targets; // a cell and its lane
    std::int32_t parent_before = no_cell;
    for (auto number = cells.begin; number < cells.end; ++number) {
        if (!share_.receives(number)) continue;
        const auto& cell = tree_.cell(number);
        const int x = in_block(cell, 0), y = in_block(cell, 1), z = in_block(cell, 2);
        const int lane = x + cell_block_side * (y + cell_block_side * z);
        const auto octant = static_cast<std::size_t>(cell.octant());
        lanes[octant] |= std::uint64_t{1} << lane;
        targets[octant].emplace_back(number, lane);
        if (cell.parent == parent_before) continue;
        parent_before = cell.parent;
        auto neighbour = tree_.neighbours(cell.parent).begin();
        for (int dz = 0; dz < layout.shifts(); ++dz)
            for (int dy = 0; dy < layout.shifts(); ++dy)
                for (int dx = 0; dx < layout.shifts(); ++dx)
                    parents[layout.parent(x + dx, y + dy, z + dz)] = *neighbour++;
    }
    if (parent_before == no_cell) return;
    std::int64_t computed = 0, wanted = 0;
    for (std::size_t octant = 0; octant < 8; ++octant) {
        computed += computed_lanes(lanes[octant], isa_, std::is_same_v<T, double>);
        wanted += static_cast<std::int64_t>(targets[octant].size());
    }
    if (!block_senders_->pay(first.level, computed, wanted)) {
        const auto bound = [&](std::int32_t n) { return cells.begin + (cells.end - cells.begin) * n / parts; };
        if (bound(part) < bound(part + 1)) translate_block(bound(part), bound(part + 1));
        return;
    }

    RawVector<T> sources(static_cast<std::size_t>(layout.numbers()));
    std::vector<const T*> row(static_cast<std::size_t>(layout.side()));
    for (std::size_t octant = 0; octant < 8; ++octant)
        for (int z = 0; z < layout.side(); ++z)
            for (int y = 0; y < layout.side(); ++y) {
                for (int x = 0; x < layout.side(); ++x) {
                    const auto parent = parents[layout.parent(x, y, z)];
                    const T* found =
                        parent == no_cell ? nullptr : multipole_of(tree_.cell(parent).children[octant]);
                    row[static_cast<std::size_t>(x)] = found != nullptr ? found : zeros_.data();
                }
                T* const out = sources.data() + static_cast<std::int64_t>(octant) * layout.octant() +
                               z * layout.plane() + y * cell_block_side;
                layout.separation == 1 ? lay_out_row<3>(row.data(), layout, out)
                                       : lay_out_row<5>(row.data(), layout, out);
            }

    const auto functions = static_cast<std::size_t>(layout.functions);
    AlignedVector<T> sums(functions * cell_block_lanes);
    RawVector<T> scratch(static_cast<std::size_t>(cell_block_scratch(operators_->size)));
    CellBlockTask task{.wide = std::is_same_v<T, double>,
                       .size = operators_->size,
                       .sources = sources.data(),
                       .function = layout.function(),
                       .plane = layout.plane(),
                       .sums = sums.data(),
                       .scratch = scratch.data()};
    const auto begins = operators_->up.task();
    std::copy(std::begin(begins.class_begin), std::end(begins.class_begin), task.class_begin);
    for (int octant = 8 * part / parts; octant < 8 * (part + 1) / parts; ++octant) {
        const auto& of_octant = targets[static_cast<std::size_t>(octant)];
        if (of_octant.empty()) continue;
        const auto& images = block_senders_->of(first.level, octant);
        std::fill(sums.begin(), sums.end(), T(0));
        task.lanes = lanes[static_cast<std::size_t>(octant)];
        task.images = images.data();
        task.count = static_cast<std::int64_t>(images.size());
        FF_ISA_FUNCTION(ff_cell_block, isa_)(&task);
        for (const auto& [number, lane] : of_octant) {
            T* const local = locals_.of(number);
            for (std::size_t f = 0; f < functions; ++f)
                local[f] += sums[f * cell_block_lanes + static_cast<std::size_t>(lane)];
        }
        done(block_senders_->multiply_adds(first.level) * static_cast<double>(of_octant.size()));
    }
}

template <class T>
void FmmPasses<T>::translate_in_blocks() {
    const auto blocks = blocks_of_cells();
    const auto count = static_cast<std::int64_t>(blocks.size());
    const int threads = thread_count(threads_);
    // few blocks are divided further, although each part lays out all sources of its block
    constexpr std::int64_t tasks_a_thread = 4;
    std::int64_t parts = 1;
    while (threads > 1 && parts < 8 && count * parts < tasks_a_thread * threads) parts *= 2;
    parallel_for(threads_, count * parts, [&](std::int64_t task) {
        if (!stopped())
            translate_cells(blocks[static_cast<std::size_t>(task / parts)],
                            static_cast<std::int32_t>(task % parts), static_cast<std::int32_t>(parts));
    });
}

template class CellBlockSenders<float>;
template class CellBlockSenders<double>;
template void FmmPasses<float>::translate_in_blocks();
template void FmmPasses<double>::translate_in_blocks();

} // namespace farfield
