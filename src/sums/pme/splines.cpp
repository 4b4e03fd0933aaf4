#include "sums/pme/splines.h"

#include <cstddef>
#include <vector>

namespace farfield {
namespace {

using Powers = std::vector<long double>; // of s = f − ½

// (a + b s) times a polynomial, added.
void add_product(Powers& to, const Powers& of, long double a, long double b) {
    for (std::size_t k = 0; k < of.size(); ++k) {
        to[k] += a * of[k];
        to[k + 1] += b * of[k];
    }
}

} // namespace

// M_n(x) = (x M_{n−1}(x) + (n − x) M_{n−1}(x − 1))/(n − 1), on each of the n pieces x = f + i.
Splines::Splines(int p) : order(p) {
    std::vector<Powers> pieces{{1.0L}};
    for (int n = 2; n <= p; ++n) {
        std::vector<Powers> next(static_cast<std::size_t>(n), Powers(static_cast<std::size_t>(n)));
        for (int i = 0; i < n; ++i) {
            auto& piece = next[static_cast<std::size_t>(i)];
            const long double at = i + 0.5L; // x at s = 0
            if (i < n - 1) add_product(piece, pieces[static_cast<std::size_t>(i)], at, 1.0L);
            if (i > 0) add_product(piece, pieces[static_cast<std::size_t>(i - 1)], n - at, -1.0L);
            for (auto& c : piece) c /= n - 1;
        }
        pieces = std::move(next);
    }
    const auto row = static_cast<std::size_t>(padded_order(p)), size = static_cast<std::size_t>(p);
    values.assign(size * row, 0.0);
    slopes.assign((size - 1) * row, 0.0);
    for (std::size_t j = 0; j < size; ++j) {
        const auto& piece = pieces[size - 1 - j];
        for (std::size_t k = 0; k < size; ++k) {
            values[k * row + j] = static_cast<double>(piece[k]);
            if (k > 0)
                slopes[(k - 1) * row + j] = static_cast<double>(static_cast<long double>(k) * piece[k]);
        }
    }
}

} // namespace farfield
