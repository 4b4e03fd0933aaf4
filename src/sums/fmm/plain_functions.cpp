#include "sums/fmm/plain_functions.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

namespace farfield {
namespace {

template <class T>
SparseRows<T> sparse_rows(std::size_t rows, std::vector<SparseTerm> terms) {
    std::stable_sort(terms.begin(), terms.end(),
                     [](const SparseTerm& a, const SparseTerm& b) { return a.to < b.to; });
    SparseRows<T> out;
    out.first.assign(rows + 1, 0);
    for (const auto& term : terms) {
        ++out.first[static_cast<std::size_t>(term.to) + 1];
        out.from.push_back(term.from);
        out.weight.push_back(static_cast<T>(term.weight));
    }
    for (std::size_t number = 0; number < rows; ++number) out.first[number + 1] += out.first[number];
    return out;
}

/// First one, then the other.
std::vector<SparseTerm> composed(const std::vector<SparseTerm>& first, std::vector<SparseTerm> then) {
    const auto by_from = [](const SparseTerm& a, const SparseTerm& b) { return a.from < b.from; };
    std::stable_sort(then.begin(), then.end(), by_from);
    std::vector<SparseTerm> terms;
    for (const auto& [through, from, weight] : first) {
        const auto range = std::equal_range(then.begin(), then.end(), SparseTerm{0, through, 0.0}, by_from);
        for (auto term = range.first; term != range.second; ++term)
            terms.push_back({term->to, from, weight * term->weight});
    }
    std::stable_sort(terms.begin(), terms.end(), [](const SparseTerm& a, const SparseTerm& b) {
        return std::tie(a.to, a.from) < std::tie(b.to, b.from);
    });
    std::vector<SparseTerm> out; // of each pair once
    for (const auto& term : terms)
        if (!out.empty() && out.back().to == term.to && out.back().from == term.from)
            out.back().weight += term.weight;
        else
            out.push_back(term);
    return out;
}

/// Functions without coefficients; `row_of`: where the loop has those of a place in `functions`.
template <class T, class Basis>
PlainFunctions<T> bare_functions(const Basis& functions, std::vector<std::int32_t>& row_of) {
    const FunctionTable<T> table(functions);
    const auto loop = table.loop();
    PlainFunctions<T> out;
    out.functions = loop.functions;
    out.order = loop.order;
    out.pairs = loop.pairs;
    const auto copy = [](const void* from, int count) {
        const auto* numbers = static_cast<const T*>(from);
        return std::vector<T>(numbers, numbers + count);
    };
    if (loop.functions == Functions::harmonics) {
        out.diagonal = copy(loop.diagonal, loop.order + 1);
        out.climb = copy(loop.climb, loop.pairs);
        out.climb_back = copy(loop.climb_back, loop.pairs);
    }
    row_of.assign(static_cast<std::size_t>(functions.size()), -1);
    for (const auto place : table.places()) {
        if (place >= 0)
            row_of[static_cast<std::size_t>(place)] = static_cast<std::int32_t>(out.places.size());
        out.places.push_back(place < 0 ? -1 : plain_place(functions.at(place)));
    }
    return out;
}

} // namespace

std::int32_t plain_place(const Harmonic& h) {
    return h.degree < 0 ? -1 : degree_place(h.degree, h.order, h.sine);
}
std::int32_t plain_place(const Polynomial& f) { return f.degree < 0 ? -1 : polynomial_place(f.of); }

template <class T, class Basis>
PlainFunctions<T> plain_functions(const Basis& basis, const Basis& functions,
                                  const Derivatives& derivatives) {
    std::vector<std::int32_t> row_of;
    auto out = bare_functions<T>(functions, row_of);
    const auto rows = static_cast<std::int32_t>(out.places.size());
    std::vector<SparseTerm> terms;
    std::vector<SparseTerm> gradients;
    for (int place = 0; place < functions.size(); ++place)
        if (const auto& f = functions.at(place); f.degree >= 0 && f.degree <= basis.order())
            terms.push_back({row_of[static_cast<std::size_t>(place)], plain_place(f), 1.0});
    for (std::int32_t axis = 0; axis < 3; ++axis)
        for (const auto& [to, from, weight] : derivatives[static_cast<std::size_t>(axis)]) {
            const auto row = row_of[static_cast<std::size_t>(to)];
            const auto place = plain_place(basis.at(from));
            terms.push_back({(axis + 1) * rows + row, place, weight});
            gradients.push_back({axis * basis.functions() + place, row, weight});
        }
    out.sets = sparse_rows<T>(4 * out.places.size(), std::move(terms));
    out.gradients = sparse_rows<T>(3 * static_cast<std::size_t>(basis.functions()), std::move(gradients));
    return out;
}

template <class T, class Basis>
PlainFunctions<T> plain_second_functions(const Basis& basis, const Basis& functions, const Derivatives& first,
                                         const Derivatives& then) {
    std::vector<std::int32_t> row_of;
    auto out = bare_functions<T>(functions, row_of);
    const auto rows = static_cast<std::int32_t>(out.places.size());
    constexpr std::size_t axes[][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
    std::vector<SparseTerm> terms;
    for (std::int32_t k = 0; k < 6; ++k)
        for (const auto& [to, from, weight] : composed(first[axes[k][0]], then[axes[k][1]]))
            terms.push_back(
                {k * rows + row_of[static_cast<std::size_t>(to)], plain_place(basis.at(from)), weight});
    out.sets = sparse_rows<T>(8 * out.places.size(), std::move(terms));
    return out;
}

template PlainFunctions<float> plain_functions<float>(const HarmonicBasis&, const HarmonicBasis&,
                                                      const Derivatives&);
template PlainFunctions<float> plain_second_functions<float>(const HarmonicBasis&, const HarmonicBasis&,
                                                             const Derivatives&, const Derivatives&);
template PlainFunctions<double> plain_functions<double>(const HarmonicBasis&, const HarmonicBasis&,
                                                        const Derivatives&);
template PlainFunctions<double> plain_second_functions<double>(const HarmonicBasis&, const HarmonicBasis&,
                                                               const Derivatives&, const Derivatives&);
template PlainFunctions<float> plain_functions<float>(const PolynomialBasis&, const PolynomialBasis&,
                                                      const Derivatives&);
template PlainFunctions<float> plain_second_functions<float>(const PolynomialBasis&, const PolynomialBasis&,
                                                             const Derivatives&, const Derivatives&);
template PlainFunctions<double> plain_functions<double>(const PolynomialBasis&, const PolynomialBasis&,
                                                        const Derivatives&);
template PlainFunctions<double> plain_second_functions<double>(const PolynomialBasis&, const PolynomialBasis&,
                                                               const Derivatives&, const Derivatives&);

} // namespace farfield
