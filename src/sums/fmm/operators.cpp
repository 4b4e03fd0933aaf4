#include "sums/fmm/operators.h"

#include "backend/threads/parallel.h"
#include "base/last_made.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace farfield {
namespace {

double length(const std::array<int, 3>& d) {
    return std::sqrt(static_cast<double>(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
}

/// A child's expansion in its parent's. Cells are a quarter of the parent apart along each axis, children
/// towards negative numbers first; lengths are in widths of the cells themselves, so that degree l of a child
/// counts 2^−l in its parent.
template <class T>
Translation<T> up_operator(const HarmonicBasis& basis) {
    const Shift shift(basis.order(), {-0.25, -0.25, -0.25});
    return Translation<T>(basis, 7, basis.order(), [&](const Harmonic& i, const Harmonic& j) {
        return std::ldexp(shift(i, j), -j.degree);
    });
}

/// The other way round; half as large, as potentials are counted in 1/width.
template <class T>
Translation<T> down_operator(const HarmonicBasis& basis) {
    const Shift shift(basis.order(), {-0.25, -0.25, -0.25});
    return Translation<T>(basis, 7, basis.order(), [&](const Harmonic& i, const Harmonic& j) {
        return std::ldexp(shift(j, i), -i.degree - 1);
    });
}

} // namespace

int graded_degree(const FmmOrder& order, const std::array<int, 3>& offset) {
    const double a = order.grading;
    const double nearest = order.separation + 1.0;
    const double d = length(offset);
    if (a <= 0.0 || d <= nearest) return order.order;
    const double degree = order.order * std::log(a / (nearest - a)) / std::log(a / (d - a));
    return std::min(order.order, static_cast<int>(std::ceil(degree - 1e-9)));
}

std::array<int, 3> source_offset(const OffsetClass& offsets, int mirror) {
    std::array<int, 3> out{};
    for (std::size_t axis = 0; axis < 3; ++axis)
        out[axis] = (mirror >> axis & 1) != 0 ? offsets.offset[axis] : -offsets.offset[axis];
    return out;
}

std::vector<OffsetClass> offset_classes(const FmmOrder& order) {
    const int reach = std::max(2 * order.separation + 1, order.coarse - 1);
    std::vector<OffsetClass> out;
    for (int c = 0; c <= reach; ++c)
        for (int b = 0; b <= reach; ++b)
            for (int a = 0; a <= reach; ++a)
                if (std::max({a, b, c}) > order.separation)
                    out.push_back({{a, b, c}, (a > 0 ? 1 : 0) | (b > 0 ? 2 : 0) | (c > 0 ? 4 : 0)});
    return out;
}

template <class T>
FmmOperators<T>::FmmOperators(const HarmonicBasis& basis, std::vector<OffsetClass> of)
    : size(basis.size()), functions(basis.functions()), table(basis), classes(std::move(of)),
      up(up_operator<T>(basis)), down(down_operator<T>(basis)) {
    const HarmonicBasis higher(basis.order() + 1, basis.line());
    outside.emplace_back(basis, higher);
    outside.emplace_back(higher, HarmonicBasis(basis.order() + 2, basis.line()));
    for (int axis = 0; axis < 3; ++axis)
        derivatives[static_cast<std::size_t>(axis)] = local_derivative(basis, axis);
}

template <class T>
FmmOperators<T>::Outside::Outside(const HarmonicBasis& lower, const HarmonicBasis& higher)
    : table(higher), size(higher.size()) {
    for (int place = 0; place < lower.size(); ++place) {
        const auto& h = lower.at(place);
        places.push_back(h.degree < 0 ? -1 : higher.place(h.degree, h.order, h.sine));
    }
    for (int axis = 0; axis < 3; ++axis)
        derivatives[static_cast<std::size_t>(axis)] = multipole_derivative(lower, higher, axis);
}

template <class T>
FmmOperators<T>::FmmOperators(const PolynomialBasis& basis, std::vector<OffsetClass> of)
    : size(basis.size()), functions(basis.functions()), table(basis), classes(std::move(of)),
      up(basis, 7, basis.order(), ChildShift(basis.order())),
      down(basis, 7, basis.order(), [shift = ChildShift(basis.order())](const auto& i, const auto& j) {
          return 0.5 * shift(j, i); // as potentials are counted in 1/width
      }) {
    for (int axis = 0; axis < 3; ++axis)
        derivatives[static_cast<std::size_t>(axis)] = polynomial_derivative(basis, axis);
}

namespace {

/// Each mirror image of each class on its own.
std::vector<RotatedOffset> all_offsets(const FmmOrder& order) {
    std::vector<RotatedOffset> out;
    for (const auto& of : offset_classes(order))
        for (int mirror = 0; mirror < parities; ++mirror) {
            if ((mirror & ~of.axes) != 0) continue;
            const auto source = source_offset(of, mirror);
            out.push_back({{-source[0], -source[1], -source[2]}, graded_degree(order, of.offset)});
        }
    return out;
}

template <class T>
FmmOperators<T> harmonic_operators(const FmmOrder& order, int threads) {
    const HarmonicBasis basis(order.order, numbers_a_line<T>);
    FmmOperators<T> out(basis, offset_classes(order));
    out.one_by_one = order.m2l == M2L::matrix;
    if (order.m2l == M2L::rotation) {
        out.rotated.emplace(basis, all_offsets(order), threads);
        return out;
    }
    std::vector<std::optional<Translation<T>>> made(out.classes.size());
    parallel_for(threads, static_cast<std::int64_t>(made.size()), [&](std::int64_t number) {
        const auto c = static_cast<std::size_t>(number);
        const auto& offset = out.classes[c].offset;
        const int degree = graded_degree(order, offset);
        const MultipoleToLocal entry(degree, {static_cast<double>(offset[0]), static_cast<double>(offset[1]),
                                              static_cast<double>(offset[2])});
        made[c].emplace(basis, out.classes[c].axes, degree, entry);
    });
    auto& across = out.across.emplace_back();
    across.reserve(made.size());
    for (auto& translation : made) across.push_back(std::move(*translation));
    return out;
}

/// Functions of each class up to each degree, and the numbers that they take with padding.
class ClassSizes {
public:
    ClassSizes(int order, bool wide) : basis_(order, wide ? numbers_a_line<double> : numbers_a_line<float>) {}

    /// Of a packed operator.
    [[nodiscard]] double numbers(int degree, int axes) const {
        int counts[parities];
        for (int parity = 0; parity < parities; ++parity) counts[parity] = basis_.class_count(parity, degree);
        double sum = 0.0;
        for (int o = 0; o < parities; ++o)
            for (int s = 0; s < parities; ++s)
                if (((o ^ s) & ~axes) == 0) sum += static_cast<double>(padded(counts[o])) * counts[s];
        return sum;
    }

private:
    [[nodiscard]] int padded(int count) const {
        return (count + basis_.line() - 1) / basis_.line() * basis_.line();
    }

    HarmonicBasis basis_;
};

// Mirror images of a class that a cell has: of the farthest along an axis, on one side of its parent, one in
// two.
double images_of(const FmmOrder& order, const OffsetClass& of) {
    double images = 1.0;
    for (const int component : of.offset)
        if (component > 0) images *= component == 2 * order.separation + 1 ? 1.0 : 2.0;
    return images;
}

} // namespace

double multiply_adds_a_cell(const FmmOrder& order, bool wide) {
    const ClassSizes sizes(order.order, wide);
    double sum = 0.0;
    for (const auto& of : offset_classes(order)) {
        const int degree = graded_degree(order, of.offset);
        if (order.m2l == M2L::rotation)
            sum += images_of(order, of) * rotated_work(degree);
        else
            sum += sizes.numbers(degree, of.axes) * (order.m2l == M2L::matrix ? images_of(order, of) : 1.0);
    }
    return sum;
}

bool in_blocks(const FmmOrder& order, bool wide) {
    return order.m2l != M2L::rotation &&
           (order.order + 1) * (order.order + 1) <= most_functions_in_blocks(wide);
}

double block_work(double numbers, double functions) {
    constexpr double of_a_function = 50.0; // fitted to times of orders 2 to 13
    return numbers + of_a_function * functions;
}

double block_work_a_cell(const FmmOrder& order) {
    double work = 0.0;
    auto usual = order; // of any level but the coarsest
    usual.coarse = 1;
    for (const auto& of : offset_classes(usual)) {
        const double functions = std::pow(graded_degree(order, of.offset) + 1.0, 2);
        const double images = order.m2l == M2L::matrix ? images_of(order, of) : 1.0;
        work += images * block_work(functions * functions, functions);
    }
    return work;
}

double predicted_operator_bytes(const FmmOrder& order, bool wide) {
    const ClassSizes sizes(order.order, wide);
    double sum = 2.0 * sizes.numbers(order.order, 7);
    if (order.m2l == M2L::rotation)
        sum += rotated_numbers(all_offsets(order));
    else
        for (const auto& offsets : offset_classes(order))
            sum += sizes.numbers(graded_degree(order, offsets.offset), offsets.axes);
    return sum * (wide ? sizeof(double) : sizeof(float));
}

template <class T>
std::shared_ptr<const FmmOperators<T>> fmm_operators(const FmmOrder& order, int threads) {
    static LastMade<FmmOrder, FmmOperators<T>> kept;
    return kept.find(order, [&] { return harmonic_operators<T>(order, threads); });
}

template struct FmmOperators<float>;
template struct FmmOperators<double>;
template std::shared_ptr<const FmmOperators<float>> fmm_operators<float>(const FmmOrder&, int);
template std::shared_ptr<const FmmOperators<double>> fmm_operators<double>(const FmmOrder&, int);

} // namespace farfield
