#include "sums/expansions/translation.h"

#include <algorithm>
#include <iterator>
#include <type_traits>

namespace farfield {

template <class T>
std::size_t Translation<T>::packed_size(const HarmonicBasis& basis) const {
    int size = 0;
    for (int o = 0; o < parities; ++o)
        for (int s = 0; s < parities; ++s)
            if (((o ^ s) & ~axes_) == 0) size += rows(basis, o) * count_[s];
    return static_cast<std::size_t>(size);
}

template <class T>
TranslateTask Translation<T>::task(const HarmonicBasis& basis) const {
    TranslateTask task{
        .wide = std::is_same_v<T, double>, .size = basis.size(), .axes = axes_, .matrix = matrix_.data()};
    for (int parity = 0; parity <= parities; ++parity)
        task.class_begin[parity] = parity < parities ? basis.class_begin(parity) : basis.size();
    std::copy(std::begin(count_), std::end(count_), task.source_count);
    std::copy(std::begin(count_), std::end(count_), task.target_count);
    return task;
}

template <class T>
HarmonicTable<T>::HarmonicTable(const HarmonicBasis& basis) : order_(basis.order()), diagonal_{T(1)} {
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
HarmonicLoop HarmonicTable<T>::loop() const {
    return {.order = order_,
            .wide = std::is_same_v<T, double>,
            .diagonal = diagonal_.data(),
            .climb = climb_.data(),
            .climb_back = climb_back_.data()};
}

template class Translation<float>;
template class Translation<double>;
template class HarmonicTable<float>;
template class HarmonicTable<double>;

} // namespace farfield
