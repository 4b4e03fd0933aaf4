#include "sums/expansions/translation.h"

#include <algorithm>
#include <iterator>
#include <type_traits>

namespace farfield {

template <class T>
std::size_t Translation<T>::packed_size() const {
    int size = 0;
    for (int o = 0; o < parities; ++o)
        for (int s = 0; s < parities; ++s)
            if (((o ^ s) & ~axes_) == 0) size += rows(o) * count_[s];
    return static_cast<std::size_t>(size);
}

template <class T>
TranslateTask Translation<T>::task() const {
    TranslateTask task{
        .wide = std::is_same_v<T, double>, .size = begin_[parities], .axes = axes_, .matrix = matrix_.data()};
    std::copy(std::begin(begin_), std::end(begin_), task.class_begin);
    std::copy(std::begin(count_), std::end(count_), task.source_count);
    std::copy(std::begin(count_), std::end(count_), task.target_count);
    return task;
}

template <class T>
FunctionTable<T>::FunctionTable(const HarmonicBasis& basis)
    : functions_(Functions::harmonics), order_(basis.order()), diagonal_{T(1)} {
    for (int m = 1; m <= order_; ++m) diagonal_.push_back(static_cast<T>(diagonal_factor(m)));
    for (int m = 0; m <= order_; ++m)
        for (int l = m; l <= order_; ++l) {
            climb_.push_back(static_cast<T>(l > m ? climb_factor(l, m) : 0.0));
            climb_back_.push_back(static_cast<T>(l > m + 1 ? -climb_back_factor(l, m) : 0.0));
            places_.push_back(basis.place(l, m, false));
            places_.push_back(m > 0 ? basis.place(l, m, true) : -1);
        }
}

template <class T>
FunctionTable<T>::FunctionTable(const PolynomialBasis& basis)
    : functions_(Functions::polynomials), order_(basis.order()) {
    for (int c = 0; c <= order_; ++c)
        for (int b = 0; b <= order_ - c; ++b) {
            const int most = order_ - b - c;
            for (int a = 0; a <= most; a += 2) {
                places_.push_back(basis.place({a, b, c}));
                places_.push_back(a < most ? basis.place({a + 1, b, c}) : -1);
            }
        }
}

template <class T>
FunctionLoop FunctionTable<T>::loop() const {
    return {.functions = functions_,
            .order = order_,
            .pairs = static_cast<int>(places_.size() / 2),
            .wide = std::is_same_v<T, double>,
            .diagonal = diagonal_.data(),
            .climb = climb_.data(),
            .climb_back = climb_back_.data()};
}

template class Translation<float>;
template class Translation<double>;
template class FunctionTable<float>;
template class FunctionTable<double>;

} // namespace farfield
