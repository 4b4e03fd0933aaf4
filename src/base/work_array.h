// Numbers that are written before they are read, kept from one use to the next.
#pragma once

#include "base/aligned.h"

#include <cstddef>

namespace farfield {

class WorkArray {
public:
    /// Room for n numbers, whatever they are; null for none.
    double* take(std::size_t n) {
        if (n > values_.size()) {
            values_ = {}; // first, lest both be held
            values_.resize(n);
        }
        return n > 0 ? values_.data() : nullptr;
    }

private:
    RawVector<double> values_;
};

} // namespace farfield
