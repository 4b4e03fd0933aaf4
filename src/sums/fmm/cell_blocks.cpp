#include "sums/fmm/cell_blocks.h"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

/// Cells one after the other: what a class of offsets takes beside its product, in multiply-adds, fitted to
/// times of orders 4 to 13.
constexpr double work_to_find_senders = 5000.0;

/// A number that is laid out, in multiply-adds.
constexpr double work_to_lay_out = 25.0;

double numbers_of(const CellBlockImages& images) {
    double sum = 0.0;
    for (int o = 0; o < parities; ++o) sum += static_cast<double>(images.count[o]) * images.column_count[o];
    return sum;
}

} // namespace

std::int64_t CellBlockSources::place(int octant, int neighbour) const {
    const std::int64_t first = octant * this->octant();
    if (listed) return first + std::int64_t{lanes} * neighbour;
    const int n = shifts();
    return first + neighbour % n * shift() + neighbour / (n * n) * plane() +
           std::int64_t{cell_block_side} * (neighbour / n % n);
}

std::int64_t cell_block_numbers(int separation, int functions, int size) {
    const auto numbers = [&](bool listed) {
        return CellBlockSources{.separation = separation, .functions = functions, .listed = listed}.numbers();
    };
    return std::max(numbers(false), numbers(true)) + cell_block_scratch(size) +
           std::int64_t{cell_block_lanes} * functions;
}

template <class T>
auto CellBlockSenders<T>::sender(int octant, const std::array<int, 3>& offset) const
    -> std::optional<typename Senders::From> {
    typename Senders::From out;
    for (int axis = 2; axis >= 0; --axis) {
        const int child = (octant >> axis & 1) + offset[static_cast<std::size_t>(axis)];
        const int shift = (child >> 1) + separation_;
        if (shift < 0 || shift > 2 * separation_) return std::nullopt;
        out.neighbour = out.neighbour * (2 * separation_ + 1) + shift;
        out.octant |= (child & 1) << axis;
    }
    return out;
}

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
                                     std::map<int, Columns>& columns, ByOctant& out) {
    for (int octant = 0; octant < 8; ++octant) {
        std::vector<int> there; // mirror images
        for (int mirror = 0; mirror < parities; ++mirror)
            if ((mirror & ~of.axes) == 0 && sender(octant, source_offset(of, mirror)))
                there.push_back(mirror);
        if (there.empty()) continue;
        int all = of.axes, any = 0;
        for (const int mirror : there) {
            all &= mirror;
            any |= mirror;
        }
        const auto add = [&](int side, int free) {
            const auto found = columns.try_emplace(free).first;
            if (found->second.of_all.empty()) found->second = columns_of(translation, free);
            Senders senders{.images = {.matrix = translation.matrix,
                                       .columns = found->second.of_all.data(),
                                       .side = side,
                                       .free = free}};
            std::copy(std::begin(translation.source_count), std::end(translation.source_count),
                      senders.images.count);
            std::copy(found->second.count.begin(), found->second.count.end(), senders.images.column_count);
            std::size_t q = 0;
            int subset = 0;
            do {
                senders.from[q++] = *sender(octant, source_offset(of, side | subset));
                subset = (subset - free) & free;
            } while (subset != 0);
            out[static_cast<std::size_t>(octant)].push_back(senders);
        };
        if (one_by_one)
            for (const int mirror : there) add(mirror, 0);
        else
            add(all, any & ~all);
    }
}

template <class T>
CellBlockSenders<T>::CellBlockSenders(const FmmOperators<T>& operators, int separation)
    : separation_(separation), functions_(operators.functions) {
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
            work.lane += block_work(numbers_of(by_octant[0].back().images), translation.functions());
        }
        if (operators.one_by_one) work.lane = 0.0;
    }
}

template <class T>
double CellBlockSenders<T>::cost(int level, CellGroup::Way way, std::int64_t cells,
                                 std::int64_t computed_lanes, std::int64_t parents) const {
    const auto& work = of_level(work_, level);
    if (way == CellGroup::Way::one_by_one) return static_cast<double>(cells) * work.cell;
    const double numbers =
        way == CellGroup::Way::block ? 0.0 : 8.0 * std::pow(2.0 * separation_ + 1.0, 3) * functions_;
    return static_cast<double>(computed_lanes) * work.lane +
           static_cast<double>(parents) * numbers * work_to_lay_out;
}

template <class T>
std::vector<CellBlockImages> CellBlockSenders<T>::images(int level, int octant,
                                                         const CellBlockSources& layout,
                                                         const std::vector<char>& there) const {
    std::vector<CellBlockImages> out;
    for (const auto& senders : of(level)[static_cast<std::size_t>(octant)]) {
        const auto count = std::size_t{1} << __builtin_popcount(static_cast<unsigned>(senders.images.free));
        bool any = false;
        auto images = senders.images;
        for (std::size_t q = 0; q < count; ++q) {
            const auto [from, neighbour] = senders.from[q];
            images.place[q] = layout.place(from, neighbour);
            any = any || there[static_cast<std::size_t>(from) +
                               std::size_t{8} * static_cast<std::size_t>(neighbour)] != 0;
        }
        if (any) out.push_back(images);
    }
    return out;
}

template <class T>
double CellBlockSenders<T>::multiply_adds(int level) const {
    double sum = 0.0;
    for (const auto& senders : of(level)[0]) sum += numbers_of(senders.images);
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

template class CellBlockSenders<float>;
template class CellBlockSenders<double>;

} // namespace farfield
