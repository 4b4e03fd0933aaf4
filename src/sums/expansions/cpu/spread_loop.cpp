// From an expansion to mirror images of each other. Coefficients lie in lanes; some sources at a time, so
// that each column of the matrix serves all of them from a register.
#include "backend/simd/value.h"
#include "sums/expansions/cpu/unrolled.h"
#include "sums/expansions/loops.h"

#include <algorithm>

namespace farfield {
namespace {

template <class T>
class Spreading {
    using V = Value<T>;
    using O = Ops<V>;
    static constexpr int width = O::width;
    static constexpr int line = 64 / static_cast<int>(sizeof(T));
    static constexpr int most_sources = vector_registers == 32 ? most_translate_targets : 4;
    static constexpr int most_vectors = vector_registers == 32 ? 3 : 2;

    const SpreadTask& task_;
    const TranslateTask& of_; ///< the translation

    static int padded(int count) { return (count + line - 1) / line * line; }
    /// Y of class c, of the source `at` of those at a time.
    [[nodiscard]] T* y(int at, int c) const {
        return static_cast<T*>(task_.scratch) + (static_cast<std::int64_t>(at) * parities + c) * of_.size;
    }

    // Vectors [0, Vectors) of class o of Y_c from `column` on, whose columns are `stride` numbers apart.
    template <int Sources, int Vectors>
    void product(std::int64_t first, int o, int c, int row, const T* column, int stride) const {
        const int s = o ^ c;
        V sum[Sources][Vectors];
        const T* x[Sources];
        unrolled<Sources>([&](auto r) FF_INLINE_LAMBDA {
            x[r] = static_cast<const T*>(task_.sources[first + r]) + of_.class_begin[s];
            unrolled<Vectors>([&](auto v) FF_INLINE_LAMBDA { sum[r][v] = O::set(T(0)); });
        });
        for (int j = 0; j < of_.source_count[s]; ++j, column += stride) {
            V a[Vectors];
            unrolled<Vectors>([&](auto v) FF_INLINE_LAMBDA { a[v] = O::load(column + v * width); });
            unrolled<Sources>([&](auto r) FF_INLINE_LAMBDA {
                const V factor = O::set(x[r][j]);
                unrolled<Vectors>([&](auto v)
                                      FF_INLINE_LAMBDA { sum[r][v] = O::fma(a[v], factor, sum[r][v]); });
            });
        }
        unrolled<Sources>([&](auto r) FF_INLINE_LAMBDA {
            T* const out = y(r, c) + of_.class_begin[o] + row;
            unrolled<Vectors>([&](auto v) FF_INLINE_LAMBDA { O::store(out + v * width, sum[r][v]); });
        });
    }

    // What a column has beyond the functions of class o lies where those of the next class come afterwards.
    template <int Sources>
    void products(std::int64_t first) const {
        const auto* matrix = static_cast<const T*>(of_.matrix);
        for (int o = 0; o < parities; ++o) {
            const int rows = padded(of_.target_count[o]);
            for (int s = 0; s < parities; ++s) {
                const int c = o ^ s;
                int row = 0;
                for (; row + most_vectors * width <= rows; row += most_vectors * width)
                    product<Sources, most_vectors>(first, o, c, row, matrix + row, rows);
                if constexpr (most_vectors > 2)
                    for (; row + 2 * width <= rows; row += 2 * width)
                        product<Sources, 2>(first, o, c, row, matrix + row, rows);
                for (; row < rows; row += width) product<Sources, 1>(first, o, c, row, matrix + row, rows);
                matrix += static_cast<std::int64_t>(rows) * of_.source_count[s];
            }
        }
    }

    // A Walsh–Hadamard transform over the classes c.
    void add_to_targets(int at, void* const* targets) const {
        for (int j = 0; j < of_.size; j += width) {
            V v[parities];
            for (int c = 0; c < parities; ++c) v[c] = O::load(y(at, c) + j);
            for (int bit = 1; bit < parities; bit *= 2)
                for (int c = 0; c < parities; ++c)
                    if ((c & bit) == 0) {
                        const V a = v[c];
                        const V b = v[c | bit];
                        v[c] = a + b;
                        v[c | bit] = a - b;
                    }
            for (int mirror = 0; mirror < parities; ++mirror) {
                if (targets[mirror] == nullptr) continue;
                T* const out = static_cast<T*>(targets[mirror]) + j;
                O::store(out, O::load(out) + v[mirror]);
            }
        }
    }

    template <int Sources>
    void run_sources(std::int64_t first) const {
        const int functions = of_.class_begin[parities - 1] + of_.target_count[parities - 1];
        for (int r = 0; r < Sources; ++r)
            for (int c = 0; c < parities; ++c) std::fill(y(r, c) + functions, y(r, c) + of_.size, T(0));
        products<Sources>(first);
        for (int r = 0; r < Sources; ++r) add_to_targets(r, task_.targets + (first + r) * parities);
    }

public:
    explicit Spreading(const SpreadTask& task) : task_(task), of_(task.translation) {}

    void run() const {
        std::int64_t first = 0;
        for (; first + most_sources <= task_.count; first += most_sources) run_sources<most_sources>(first);
        if constexpr (most_sources > 4)
            for (; first + 4 <= task_.count; first += 4) run_sources<4>(first);
        for (; first + 2 <= task_.count; first += 2) run_sources<2>(first);
        for (; first < task_.count; ++first) run_sources<1>(first);
    }
};

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_spread)(const farfield::SpreadTask* task) {
    if (task->translation.wide)
        farfield::Spreading<double>(*task).run();
    else
        farfield::Spreading<float>(*task).run();
}
