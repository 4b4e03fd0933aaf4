#include "sums/fmm/plain_far.h"

#include "base/last_made.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace farfield {
namespace {

template <class T>
struct PlainSoftened {
    PlainOperators<T> polynomials;
    int harmonic_levels;
};

template <class T>
std::shared_ptr<const PlainSoftened<T>> plain_softened(const SoftenedOrder& order, int threads) {
    static LastMade<SoftenedOrder, PlainSoftened<T>> kept;
    return kept.find(order, [&] {
        const auto made = softened_operators<T>(order, threads);
        return PlainSoftened<T>{PlainOperators<T>(order.order, made->polynomials), made->harmonic_levels};
    });
}

// Kept: counting for each level of a tree would take a tenth of the time of a small sum on a GPU.
template <class T>
double work_a_cell(const FmmOrder& order) {
    static LastMade<FmmOrder, double> kept;
    return *kept.find(order, [&] { return multiply_adds_a_cell(order, std::is_same_v<T, double>); });
}

/// Levels on which polynomials have something to send. Coarser ones are wide beside ε.
template <class T>
typename PlainFar<T>::Part part_of(std::shared_ptr<const PlainOperators<T>> operators, int levels) {
    int first = 0;
    while (first < levels && operators->multiply_adds(first) == 0.0) ++first;
    int end = levels;
    while (end > first && operators->multiply_adds(end - 1) == 0.0) --end;
    if (first == end) return {};
    return {std::move(operators), first, end};
}

} // namespace

template <class T>
PlainFar<T> plain_far(const FmmOrder& order, double softening, int levels, int least_harmonic_levels,
                      int threads) {
    PlainFar<T> out;
    int harmonic_levels = levels;
    if (softening > 0.0) {
        const auto made =
            plain_softened<T>({.order = order, .softening = softening, .levels = levels}, threads);
        harmonic_levels = made->harmonic_levels;
        out.polynomials = part_of<T>({made, &made->polynomials}, levels);
    }
    harmonic_levels = std::max(harmonic_levels, std::min(levels, least_harmonic_levels));
    if (harmonic_levels == 0) return out;
    out.harmonics = {plain_operators<T>(order, threads), 0, harmonic_levels};
    out.harmonic_work = work_a_cell<T>(order);
    return out;
}

template PlainFar<float> plain_far<float>(const FmmOrder&, double, int, int, int);
template PlainFar<double> plain_far<double>(const FmmOrder&, double, int, int, int);

} // namespace farfield
