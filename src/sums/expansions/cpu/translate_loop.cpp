// Translations of expansions as small matrix products. Coefficients lie in lanes; some targets at a time, so
// that each column of the matrix serves all of them from a register.
#include "backend/simd/value.h"
#include "sums/expansions/cpu/unrolled.h"
#include "sums/expansions/loops.h"

#include <algorithm>

namespace farfield {
namespace {

template <class T>
class Translation {
    using V = Value<T>;
    using O = Ops<V>;
    static constexpr int width = O::width;
    static constexpr int line = 64 / static_cast<int>(sizeof(T));
    static constexpr int most_targets = vector_registers == 32 ? most_translate_targets : 4;
    static constexpr int most_vectors = vector_registers == 32 ? 3 : 2;

    const TranslateTask& task_;
    T* const sums_; ///< X: of each target, of each class, `size` numbers

    static int padded(int count) { return (count + line - 1) / line * line; }
    T* sums_of(int target, int parity) const {
        return sums_ + (static_cast<std::int64_t>(target) * parities + parity) * task_.size;
    }

    // X of one target, for all classes within `axes`: a Walsh–Hadamard transform over the mirror images.
    // Along axes of which one side alone has sources (`fixed`, on the side `side`), it is a matter of signs.
    template <int Free>
    void transform(std::int64_t target, int at, int fixed, int side) const {
        constexpr int images = 1 << Free;
        int mirrors[images] = {};
        for (int q = 0, next = 0; q < parities; ++q)
            if ((q & ~(task_.axes & ~fixed)) == 0) mirrors[next++] = q;
        const T* in[images];
        for (int q = 0; q < images; ++q) {
            const auto* source =
                static_cast<const T*>(task_.sources[target * parities + (mirrors[q] | side)]);
            in[q] = source != nullptr ? source : static_cast<const T*>(task_.zeros);
        }
        T* out[images]; // of the parts of the fixed axes without a change of sign, and those with one
        T* const first = sums_of(at, 0);
        for (int q = 0; q < images; ++q) out[q] = first + static_cast<std::int64_t>(mirrors[q]) * task_.size;
        // all classes at once, or only the first functions of each
        int apart = 0;
        for (const int count : task_.source_count) apart += padded(count);
        const int parts = apart < task_.size ? parities : 1;
        for (int part = 0; part < parts; ++part) {
            const int begin = task_.class_begin[part];
            const int end = parts == 1 ? task_.size : begin + padded(task_.source_count[part]);
            for (int j = begin; j < end; j += width) {
                V v[images];
                for (int q = 0; q < images; ++q) v[q] = O::load(in[q] + j);
                for (int bit = 1; bit < images; bit *= 2)
                    for (int q = 0; q < images; ++q)
                        if ((q & bit) == 0) {
                            const V a = v[q];
                            const V b = v[q | bit];
                            v[q] = a + b;
                            v[q | bit] = a - b;
                        }
                for (int q = 0; q < images; ++q) O::store(out[q] + j, v[q]);
                for (int of = fixed; of != 0; of = (of - 1) & fixed) {
                    const auto away = static_cast<std::int64_t>(of) * task_.size + j;
                    const bool turned = (__builtin_popcount(static_cast<unsigned>(of & side)) & 1) != 0;
                    for (int q = 0; q < images; ++q)
                        O::store(out[q] + away, turned ? O::set(T(0)) - v[q] : v[q]);
                }
            }
        }
    }

    // As `transform`, which needs to know how many axes have sources on both sides.
    void gather(std::int64_t target, int at) const {
        int all = task_.axes; // bits that all mirror images with a source have
        int any = 0;
        for (int mirror = 0; mirror < parities; ++mirror)
            if (task_.sources[target * parities + mirror] != nullptr) {
                all &= mirror;
                any |= mirror;
            }
        const int fixed = task_.axes & ~(any & ~all);
        const int side = all & fixed;
        switch (__builtin_popcount(static_cast<unsigned>(task_.axes & ~fixed))) {
        case 0:
            return transform<0>(target, at, fixed, side);
        case 1:
            return transform<1>(target, at, fixed, side);
        case 2:
            return transform<2>(target, at, fixed, side);
        default:
            return transform<3>(target, at, fixed, side);
        }
    }

    // Vectors [0, Vectors) of class o from `column` on, whose columns are `stride` numbers apart.
    template <int Targets, int Vectors>
    void product(std::int64_t first, int o, int row, const T* column, int stride) const {
        V sum[Targets][Vectors];
        T* out[Targets];
        unrolled<Targets>([&](auto r) FF_INLINE_LAMBDA {
            out[r] = static_cast<T*>(task_.expansions[first + r]) + task_.class_begin[o] + row;
            unrolled<Vectors>([&](auto v) FF_INLINE_LAMBDA { sum[r][v] = O::load(out[r] + v * width); });
        });
        const auto apart = static_cast<std::int64_t>(parities) * task_.size;
        for (int s = 0; s < parities; ++s) {
            if (((o ^ s) & ~task_.axes) != 0) continue;
            const T* x = sums_of(0, o ^ s) + task_.class_begin[s];
            const T* const end = x + task_.source_count[s];
            for (; x < end; ++x, column += stride) {
                V a[Vectors];
                unrolled<Vectors>([&](auto v) FF_INLINE_LAMBDA { a[v] = O::load(column + v * width); });
                unrolled<Targets>([&](auto r) FF_INLINE_LAMBDA {
                    const V factor = O::set(x[r * apart]);
                    unrolled<Vectors>([&](auto v)
                                          FF_INLINE_LAMBDA { sum[r][v] = O::fma(a[v], factor, sum[r][v]); });
                });
            }
        }
        unrolled<Targets>([&](auto r) FF_INLINE_LAMBDA {
            unrolled<Vectors>([&](auto v) FF_INLINE_LAMBDA { O::store(out[r] + v * width, sum[r][v]); });
        });
    }

    template <int Targets>
    void products(std::int64_t first) const {
        const auto* matrix = static_cast<const T*>(task_.matrix);
        for (int o = 0; o < parities; ++o) {
            const int rows = padded(task_.target_count[o]);
            int row = 0;
            for (; row + most_vectors * width <= rows; row += most_vectors * width)
                product<Targets, most_vectors>(first, o, row, matrix + row, rows);
            if constexpr (most_vectors > 2)
                for (; row + 2 * width <= rows; row += 2 * width)
                    product<Targets, 2>(first, o, row, matrix + row, rows);
            for (; row < rows; row += width) product<Targets, 1>(first, o, row, matrix + row, rows);
            for (int s = 0; s < parities; ++s)
                if (((o ^ s) & ~task_.axes) == 0)
                    matrix += static_cast<std::int64_t>(rows) * task_.source_count[s];
        }
    }

    template <int Targets>
    void run_targets(std::int64_t first) const {
        for (int r = 0; r < Targets; ++r) gather(first + r, r);
        products<Targets>(first);
    }

public:
    explicit Translation(const TranslateTask& task) : task_(task), sums_(static_cast<T*>(task.scratch)) {}

    void run() const {
        std::int64_t first = 0;
        for (; first + most_targets <= task_.targets; first += most_targets) run_targets<most_targets>(first);
        if constexpr (most_targets > 4)
            for (; first + 4 <= task_.targets; first += 4) run_targets<4>(first);
        for (; first + 2 <= task_.targets; first += 2) run_targets<2>(first);
        for (; first < task_.targets; ++first) run_targets<1>(first);
    }
};

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_translate)(const farfield::TranslateTask* task) {
    if (task->wide)
        farfield::Translation<double>(*task).run();
    else
        farfield::Translation<float>(*task).run();
}
