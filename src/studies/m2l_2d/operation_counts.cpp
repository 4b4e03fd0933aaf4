#include "studies/m2l_2d/operation_counts.h"

#include "studies/m2l_2d/paper_rows.h"

#include <farfield/error.h>

#include <utility>
#include <vector>

namespace farfield::m2l2d {
namespace {

struct Counts {
    long products = 0, sums = 0, fused = 0, quotients = 0;
};
thread_local Counts counts;

// A number that counts what is done with it; `product`: a product, which an addition takes in.
struct Counting {
    float value = 0;
    int product = 0;

    constexpr Counting() = default;
    template <class T>
    constexpr Counting(T number) : value(static_cast<float>(number)) {} // NOLINT: as a float converts
    explicit operator float() const { return value; }
    explicit operator double() const { return static_cast<double>(value); }
    Counting operator-() const {
        Counting out(-value);
        out.product = product;
        return out;
    }
};
Counting operator*(const Counting& a, const Counting& b) {
    ++counts.products;
    Counting out(a.value * b.value);
    out.product = 1;
    return out;
}
Counting sum_of(const Counting& a, const Counting& b, float value) {
    ++counts.sums;
    counts.fused += (a.product | b.product);
    return {value};
}
Counting operator+(const Counting& a, const Counting& b) { return sum_of(a, b, a.value + b.value); }
Counting operator-(const Counting& a, const Counting& b) { return sum_of(a, b, a.value - b.value); }
Counting operator/(const Counting& a, const Counting& b) {
    ++counts.quotients;
    return {a.value / b.value};
}
Counting& operator+=(Counting& a, const Counting& b) { return a = a + b; }

using CountedComplex = Complex<Counting>;

template <int p>
struct List {
    std::vector<CountedComplex> from{p}, to{p};
    CountedComplex t{Counting(0.4), Counting(0.1)};

    [[nodiscard]] auto power() const {
        return [this](int /*k*/) { return t; };
    }
    [[nodiscard]] auto log() const {
        return [this](int /*turn*/) { return t; };
    }

    void paper(Variant variant) {
        const auto inverse = reciprocal(Counting(2), Counting(1));
        if (variant == Variant::diagonals)
            return diagonals_of_figure_5(from.data(), inverse, p, to.data(), 1);
        if (variant == Variant::stored_double || variant == Variant::stored_float) {
            std::vector<CountedComplex> matrix(std::size_t{p} * p);
            store_matrix(inverse, p, matrix.data(), 1);
            for (int n = 0; n < p * p; ++n)
                to[0] = multiply_add(matrix[static_cast<std::size_t>(n)], from[0], to[0]);
            return;
        }
        for (int n = 0; n < p; ++n)
            to[0] = variant == Variant::variable_powers ? row_of_figure_6(from.data(), inverse, n, p)
                    : variant == Variant::fixed_powers  ? row_of_figure_7<p>(from.data(), inverse, n)
                                                        : row_unrolled<p>(from.data(), inverse, n);
    }
    void shared(bool is_fused) {
        shared_translation<p>(from.data(), power(), t, [&](int n, const CountedComplex& value) {
            auto& sum = to[static_cast<std::size_t>(n)];
            sum = is_fused ? sum + value : value;
        });
    }
    template <int turns>
    void orbit(bool is_fused) {
        if (is_fused)
            gather_orbit<p, turns>(to.data(), power(), log(),
                                   [&](int k, int /*turn*/) { return from[static_cast<std::size_t>(k)]; });
        else
            spread_orbit<p, turns>(from.data(), power(), log(),
                                   [&](int n, int /*turn*/, const CountedComplex& value) {
                                       to[static_cast<std::size_t>(n)] = value;
                                   });
    }
    void all(Variant variant, bool is_fused) {
        if (info_of(variant).form == Form::paper)
            for (int slot = 0; slot < list_size; ++slot) paper(variant);
        if (variant == Variant::shared_operator)
            for (int slot = 0; slot < list_size; ++slot) shared(is_fused);
        if (variant != Variant::rotations && variant != Variant::staged) return;
        for (int n = 0; n < full_orbits; ++n) orbit<4>(is_fused);
        for (int n = 0; n < pair_orbits; ++n) orbit<2>(is_fused);
        orbit<1>(is_fused);
    }
};

template <int p>
OperationCount counted(Variant variant, bool is_fused) {
    if (variant == Variant::tensor) return {2.0 * 4 * p * p, 0}; // a real matrix of 2p × 2p
    counts = {};
    List<p>().all(variant, is_fused);
    const auto flop = static_cast<double>(counts.products + counts.sums + counts.quotients);
    return {flop / list_size, (flop - static_cast<double>(counts.fused)) / list_size};
}

} // namespace

OperationCount operations_of(Variant variant, bool is_fused, int terms) {
    switch (terms) {
    case 8:
        return counted<8>(variant, is_fused);
    case 12:
        return counted<12>(variant, is_fused);
    case 16:
        return counted<16>(variant, is_fused);
    default:
        throw InternalError("a number of terms without kernels");
    }
}

double memory_bytes(bool is_fused, int terms) {
    const double expansion = 8.0 * terms;
    return is_fused ? 2 * expansion / list_size : expansion + expansion / list_size;
}

double shared_bytes(Variant variant, int terms) {
    const double numbers = 2.0 * terms * terms;
    if (variant == Variant::stored_double) return 2 * 8 * numbers; // written, read
    if (variant == Variant::stored_float) return 2 * 4 * numbers;
    if (variant == Variant::diagonals)
        return 2 * 4 * numbers; // a term of l is read and written for each product
    return 0;
}

} // namespace farfield::m2l2d
