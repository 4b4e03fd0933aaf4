// Translations to the cells of a block, which lie in lanes: a number of a matrix serves several vectors of
// them, and the sums of some rows stay in registers.
#include "backend/simd/value.h"
#include "sums/expansions/loops.h"

#include <algorithm>
#include <array>
#include <utility>

namespace farfield {
namespace {

template <class T>
class CellBlock {
    using V = Value<T>;
    using O = Ops<V>;
    static constexpr int width = O::width;
    static constexpr int line = 64 / static_cast<int>(sizeof(T));
    static constexpr int plane_lanes = cell_block_side * cell_block_side;
    static constexpr int most_vectors = cell_block_vectors(vector_registers);
    /// Beside their sums stand a vector of each and a number of the matrix.
    static constexpr int most_rows = 6;

    /// Numbers of a function of X.
    static constexpr std::int64_t group_row(std::int64_t vectors) { return vectors * width; }

    /// Some vectors of lanes.
    struct Group {
        int vectors = 0;
        std::array<int, most_vectors> lane{};            ///< the first of each
        std::array<std::int64_t, most_vectors> source{}; ///< its place in the sources of a function
    };

    const CellBlockTask& task_;
    std::array<Group, (cell_block_lanes / width + most_vectors - 1) / most_vectors> groups_{};
    std::size_t group_count_ = 0;
    T* const x_; ///< X of a group: of each class, `size` functions

    // Vectors with lanes that are wanted; where a group lacks some, its last one goes several times.
    void find_groups() {
        constexpr std::uint64_t one = (std::uint64_t{1} << width) - 1;
        std::size_t in_group = most_vectors;
        for (int lane = 0; lane < cell_block_lanes; lane += width) {
            if ((task_.lanes >> lane & one) == 0) continue;
            if (in_group == most_vectors) {
                ++group_count_;
                in_group = 0;
            }
            auto& group = groups_[group_count_ - 1];
            for (auto v = in_group; v < most_vectors; ++v) {
                group.lane[v] = lane;
                group.source[v] = lane / plane_lanes * task_.plane + lane % plane_lanes;
            }
            group.vectors = static_cast<int>(++in_group);
        }
    }

    static bool is_odd(int bits) { return __builtin_parity(static_cast<unsigned>(bits)) != 0; }

    // X of a class of functions: a Walsh–Hadamard transform over the mirror images.
    template <int Vectors, int Free, bool Turned>
    void transform(const CellBlockImages& images, int begin, int end, const Group& group) const {
        constexpr int count = 1 << Free;
        const T* in[count];
        T* out[count];
        for (int q = 0, subset = 0; q < count; ++q, subset = (subset - images.free) & images.free) {
            in[q] = static_cast<const T*>(task_.sources) + images.place[q] + begin * task_.function;
            out[q] = x_ + (static_cast<std::int64_t>(subset) * task_.size + begin) * group_row(Vectors);
        }
        for (int j = begin; j < end; ++j)
            for (int v = 0; v < Vectors; ++v) {
                const auto source = (j - begin) * task_.function + group.source[static_cast<std::size_t>(v)];
                V x[count];
                for (int q = 0; q < count; ++q) x[q] = O::load(in[q] + source);
                for (int bit = 1; bit < count; bit *= 2)
                    for (int q = 0; q < count; ++q)
                        if ((q & bit) == 0) {
                            const V a = x[q];
                            const V b = x[q | bit];
                            x[q] = a + b;
                            x[q | bit] = a - b;
                        }
                const auto at = (static_cast<std::int64_t>(j - begin) * Vectors + v) * width;
                for (int q = 0; q < count; ++q) O::store(out[q] + at, Turned ? O::set(T(0)) - x[q] : x[q]);
            }
    }

    template <int Vectors, int Free>
    void transform(const CellBlockImages& images, const Group& group) const {
        for (int parity = 0; parity < parities; ++parity) {
            const int begin = task_.class_begin[parity];
            const int end = begin + images.count[parity];
            if (is_odd(parity & images.side))
                transform<Vectors, Free, true>(images, begin, end, group);
            else
                transform<Vectors, Free, false>(images, begin, end, group);
        }
    }

    // Some rows of a class of the target's functions.
    template <int Vectors, int Rows>
    void product(const T* matrix, std::int64_t stride, const std::int32_t* column, std::int64_t columns,
                 T* sums, bool turned, const Group& group) const {
        V sum[Rows][Vectors];
        for (int r = 0; r < Rows; ++r)
            for (int v = 0; v < Vectors; ++v) sum[r][v] = O::set(T(0));
        for (std::int64_t k = 0; k < columns; ++k, matrix += stride) {
            const T* const at = x_ + static_cast<std::int64_t>(column[k]) * group_row(Vectors);
            V x[Vectors];
            for (int v = 0; v < Vectors; ++v) x[v] = O::load(at + v * width);
            for (int r = 0; r < Rows; ++r) {
                const V a = O::set(matrix[r]);
                for (int v = 0; v < Vectors; ++v) sum[r][v] = O::fma(a, x[v], sum[r][v]);
            }
        }
        for (int r = 0; r < Rows; ++r) {
            T* out[Vectors];
            V before[Vectors]; // all, as a vector may go several times
            for (int v = 0; v < Vectors; ++v) {
                out[v] = sums + r * cell_block_lanes + group.lane[static_cast<std::size_t>(v)];
                before[v] = O::load(out[v]);
            }
            for (int v = 0; v < Vectors; ++v)
                O::store(out[v], turned ? before[v] - sum[r][v] : before[v] + sum[r][v]);
        }
    }

    using Product = void (CellBlock::*)(const T*, std::int64_t, const std::int32_t*, std::int64_t, T*, bool,
                                        const Group&) const;
    template <int Vectors, int... I>
    static constexpr std::array<Product, sizeof...(I)> table(std::integer_sequence<int, I...> /*i*/) {
        return {&CellBlock::product<Vectors, I + 1>...};
    }

    template <int Vectors>
    void products(const CellBlockImages& images, const Group& group) const {
        static constexpr auto product_of = table<Vectors>(std::make_integer_sequence<int, most_rows>{});
        const auto* matrix = static_cast<const T*>(images.matrix);
        const auto* column = images.columns;
        for (int parity = 0; parity < parities; ++parity) {
            const int rows = images.count[parity];
            const int stride = (rows + line - 1) / line * line;
            const std::int64_t columns = images.column_count[parity];
            T* const sums = static_cast<T*>(task_.sums) +
                            static_cast<std::int64_t>(task_.class_begin[parity]) * cell_block_lanes;
            const int parts = (rows + most_rows - 1) / most_rows;
            for (int part = 0; part < parts; ++part) {
                const int first = rows * part / parts;
                const int count = rows * (part + 1) / parts - first;
                (this->*product_of[static_cast<std::size_t>(count - 1)])(
                    matrix + first, stride, column, columns, sums + first * cell_block_lanes,
                    is_odd(parity & images.side), group);
            }
            matrix += stride * columns;
            column += columns;
        }
    }

    template <int Vectors>
    void run(const CellBlockImages& images, const Group& group) const {
        switch (__builtin_popcount(static_cast<unsigned>(images.free))) {
        case 0:
            transform<Vectors, 0>(images, group);
            break;
        case 1:
            transform<Vectors, 1>(images, group);
            break;
        case 2:
            transform<Vectors, 2>(images, group);
            break;
        default:
            transform<Vectors, 3>(images, group);
        }
        products<Vectors>(images, group);
    }

public:
    explicit CellBlock(const CellBlockTask& task) : task_(task), x_(static_cast<T*>(task.scratch)) {
        find_groups();
    }

    void run() const {
        for (std::size_t g = 0; g < group_count_; ++g)
            for (const auto* images = task_.images; images != task_.images + task_.count; ++images) {
                const auto& group = groups_[g];
                if constexpr (most_vectors > 2)
                    if (group.vectors <= 2) {
                        run<2>(*images, group);
                        continue;
                    }
                run<most_vectors>(*images, group);
            }
    }
};

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_cell_block)(const farfield::CellBlockTask* task) {
    if (task->wide)
        farfield::CellBlock<double>(*task).run();
    else
        farfield::CellBlock<float>(*task).run();
}
