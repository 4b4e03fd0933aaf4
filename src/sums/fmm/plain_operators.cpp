#include "sums/fmm/plain_operators.h"

#include "backend/threads/parallel.h"
#include "base/last_made.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace farfield {
namespace {

constexpr int padded_rows(int functions) { return (functions + 3) / 4 * 4; }

/// Column by column.
template <class T, class Entry>
std::vector<T> matrix_of(int degree, const Entry& entry) {
    const auto functions = harmonics_to(degree);
    const auto rows = static_cast<std::size_t>(padded_rows(static_cast<int>(functions.size())));
    std::vector<T> out;
    out.reserve(rows * functions.size());
    for (const auto& j : functions) {
        for (const auto& i : functions) out.push_back(static_cast<T>(entry(i, j)));
        out.resize(out.size() + rows - functions.size());
    }
    return out;
}

/// The same of an operator that is packed for the CPU.
template <class T>
std::vector<T> matrix_of(const PolynomialBasis& basis, const Translation<T>& packed) {
    const auto rows = static_cast<std::size_t>(padded_rows(packed.functions()));
    std::vector<T> out(rows * static_cast<std::size_t>(packed.functions()), T(0));
    packed.each_entry([&](int i, int j, T value) {
        out[static_cast<std::size_t>(plain_place(basis.at(j))) * rows +
            static_cast<std::size_t>(plain_place(basis.at(i)))] = value;
    });
    return out;
}

Derivatives local_derivatives(const HarmonicBasis& basis) {
    return {local_derivative(basis, 0), local_derivative(basis, 1), local_derivative(basis, 2)};
}

Derivatives multipole_derivatives(const HarmonicBasis& basis, const HarmonicBasis& higher) {
    return {multipole_derivative(basis, higher, 0), multipole_derivative(basis, higher, 1),
            multipole_derivative(basis, higher, 2)};
}

/// As FmmPasses::sender_place: −1 where the parent of the sender is no neighbour.
std::int32_t across_place(int separation, int octant, const std::array<int, 3>& offset) {
    const int n = 2 * separation + 1;
    int slot = 0;
    int source_octant = 0;
    for (int axis = 2; axis >= 0; --axis) {
        const int place = (octant >> axis & 1) + offset[static_cast<std::size_t>(axis)];
        const int parent = place >> 1;
        if (std::abs(parent) > separation) return -1;
        slot = slot * n + parent + separation;
        source_octant |= (place & 1) << axis;
    }
    return 8 * slot + source_octant;
}

} // namespace

template <class T>
PlainOperators<T>::PlainOperators(const FmmOrder& of, int threads) : order(of) {
    const HarmonicBasis basis(order.order, numbers_a_line<T>);
    const HarmonicBasis higher(order.order + 1, basis.line());
    const HarmonicBasis highest(order.order + 2, basis.line());
    const auto in = local_derivatives(basis);
    const auto out = multipole_derivatives(basis, higher);
    inside = plain_functions<T>(basis, basis, in);
    inside_second = plain_second_functions<T>(basis, basis, in, in);
    outside = plain_functions<T>(basis, higher, out);
    outside_second = plain_second_functions<T>(basis, highest, out, multipole_derivatives(higher, highest));
    std::vector<int> parities_of;
    for (const auto& h : harmonics_to(order.order)) parities_of.push_back(h.parity());
    set_functions(parities_of);
    const auto offsets = offset_classes(order);
    std::vector<std::vector<T>> made(offsets.size() + 2);
    std::vector<int> degrees(made.size(), order.order);
    parallel_for(threads, static_cast<std::int64_t>(made.size()), [&](std::int64_t number) {
        const auto c = static_cast<std::size_t>(number);
        if (c >= offsets.size()) { // cells are a quarter of their parent from its centre
            const Shift shift(order.order, {-0.25, -0.25, -0.25});
            made[c] = c == offsets.size()
                          ? matrix_of<T>(order.order,
                                         [&](const Harmonic& i, const Harmonic& j) {
                                             return std::ldexp(shift(i, j), -j.degree);
                                         })
                          : matrix_of<T>(order.order, [&](const Harmonic& i, const Harmonic& j) {
                                return std::ldexp(shift(j, i), -i.degree - 1);
                            });
            return;
        }
        const auto& d = offsets[c].offset;
        degrees[c] = graded_degree(order, d);
        const MultipoleToLocal entry(
            degrees[c], {static_cast<double>(d[0]), static_cast<double>(d[1]), static_cast<double>(d[2])});
        made[c] = matrix_of<T>(degrees[c], entry);
    });
    for (std::size_t c = 0; c < made.size(); ++c)
        across.push_back(add_matrix((degrees[c] + 1) * (degrees[c] + 1), made[c]));
    down = across.back();
    across.pop_back();
    up = across.back();
    across.pop_back();
    list_senders();
}

template <class T>
PlainOperators<T>::PlainOperators(const FmmOrder& of, const FmmOperators<T>& made) : order(of) {
    const PolynomialBasis basis(made.table.loop().order, numbers_a_line<T>);
    inside = plain_functions<T>(basis, basis, made.derivatives);
    inside_second = plain_second_functions<T>(basis, basis, made.derivatives, made.derivatives);
    std::vector<int> parities_of(static_cast<std::size_t>(made.functions));
    for (int place = 0; place < basis.size(); ++place)
        if (const auto number = plain_place(basis.at(place)); number >= 0)
            parities_of[static_cast<std::size_t>(number)] = basis.at(place).parity();
    set_functions(parities_of);
    const auto add = [&](const Translation<T>& packed) {
        return add_matrix(packed.functions(), matrix_of(basis, packed));
    };
    for (const auto& level : made.across)
        for (const auto& packed : level) across.push_back(add(packed));
    up = add(made.up);
    down = add(made.down);
    list_senders();
}

template <class T>
typename PlainOperators<T>::Matrix PlainOperators<T>::add_matrix(int functions,
                                                                 const std::vector<T>& columns) {
    const auto begin = static_cast<std::int64_t>(matrices.size());
    matrices.insert(matrices.end(), columns.begin(), columns.end());
    return {begin, functions, padded_rows(functions)};
}

template <class T>
void PlainOperators<T>::set_functions(const std::vector<int>& parities_of) {
    size = static_cast<int>(parities_of.size());
    stride = (size + plain_padding - 1) / plain_padding * plain_padding;
    signs.assign(static_cast<std::size_t>(parities) * static_cast<std::size_t>(stride), T(1));
    for (int mirror = 0; mirror < parities; ++mirror)
        for (std::size_t i = 0; i < parities_of.size(); ++i) {
            const auto odd = static_cast<unsigned>(parities_of[i] & mirror);
            if (__builtin_popcount(odd) % 2 != 0)
                signs[static_cast<std::size_t>(mirror) * static_cast<std::size_t>(stride) + i] = T(-1);
        }
}

template <class T>
void PlainOperators<T>::list_senders() {
    const auto offsets = offset_classes(order);
    classes = static_cast<int>(offsets.size());
    for (int group = 0; group <= coarse_group; ++group) {
        for (int mirror = 0; mirror < parities; ++mirror)
            for (std::size_t c = 0; c < offsets.size(); ++c) {
                if ((mirror & ~offsets[c].axes) != 0) continue;
                const auto offset = source_offset(offsets[c], mirror);
                const bool is_coarse = group == coarse_group;
                const auto place = is_coarse ? coarse_sender_place(offset[0], offset[1], offset[2])
                                             : across_place(order.separation, group, offset);
                const bool reached = is_coarse
                                         ? std::all_of(offset.begin(), offset.end(),
                                                       [&](int d) { return std::abs(d) < order.coarse; })
                                         : place >= 0;
                if (reached) senders.push_back({static_cast<std::int32_t>(c), mirror, place});
            }
        first_sender[group + 1] = static_cast<std::int32_t>(senders.size());
    }
}

template <class T>
double PlainOperators<T>::multiply_adds(int level) const {
    const int first_group = level == 0 ? coarse_group : 0;
    const int groups = level == 0 ? 1 : coarse_group;
    double sum = 0.0;
    for (auto s = first_sender[first_group]; s < first_sender[first_group + groups]; ++s) {
        const auto matrix = senders[static_cast<std::size_t>(s)].matrix + first_across(level);
        const double functions = across[static_cast<std::size_t>(matrix)].size;
        sum += functions * functions;
    }
    return sum / groups;
}

template <class T>
std::shared_ptr<const PlainOperators<T>> plain_operators(const FmmOrder& order, int threads) {
    static LastMade<FmmOrder, PlainOperators<T>> kept;
    return kept.find(order, [&] { return PlainOperators<T>(order, threads); });
}

template struct PlainOperators<float>;
template struct PlainOperators<double>;
template std::shared_ptr<const PlainOperators<float>> plain_operators<float>(const FmmOrder&, int);
template std::shared_ptr<const PlainOperators<double>> plain_operators<double>(const FmmOrder&, int);

} // namespace farfield
