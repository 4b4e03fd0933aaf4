// Numbers that are written before they are read, kept from one use to the next. Memory that nobody wrote yet
// is not touched, so that the threads which write it first pay for it together.
#pragma once

#include <cstddef>
#include <memory>

namespace farfield {

class WorkArray {
public:
    /// Room for n numbers, whatever they are; null for none.
    double* take(std::size_t n) {
        if (n > size_) {
            values_ = std::make_unique_for_overwrite<double[]>(n);
            size_ = n;
        }
        return n > 0 ? values_.get() : nullptr;
    }

private:
    std::size_t size_ = 0;
    std::unique_ptr<double[]> values_;
};

} // namespace farfield
