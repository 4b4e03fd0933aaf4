// Sums by atoms and their tree; extremes and values.
#include "stencil/runtime/interpreter/reduce.h"

#include <cmath>
#include <limits>

namespace farfield::stencil {

Reducer::Reducer(const ir::Record& record, std::vector<double>* rows) : record_(&record), rows_(rows) {}

void Reducer::begin_row() {
    atom_ = 0;
    lanes_ = {};
}

void Reducer::finish_atoms_before(std::int64_t atom) {
    for (; atom_ < atom; ++atom_) {
        const double sum = ir::sum_of_lanes(lanes_);
        if (rows_ != nullptr)
            rows_->push_back(sum);
        else
            sum_.add(sum);
        lanes_ = {};
    }
}

void Reducer::add(std::int64_t cell, double value) {
    const bool first = !any_;
    any_ = true;
    switch (record_->reduction) {
    case Reduction::value:
        if (first) chosen_ = value;
        return;
    case Reduction::max:
    case Reduction::min: {
        if (!first && std::isnan(chosen_)) return;
        const bool better = record_->reduction == Reduction::max ? chosen_ < value : value < chosen_;
        if (first || better || std::isnan(value)) chosen_ = value;
        return;
    }
    default:
        finish_atoms_before(cell / ir::atom_cells);
        lanes_[static_cast<std::size_t>(cell % ir::atom_lanes)] += value;
    }
}

void Reducer::end_row() {
    const bool extremum = record_->reduction == Reduction::max || record_->reduction == Reduction::min;
    if (!extremum && record_->reduction != Reduction::value)
        return finish_atoms_before(ir::atoms_in_row(record_->cells->shape()[0]));
    if (rows_ == nullptr) return;
    rows_->push_back(any_ ? chosen_ : 0);
    if (extremum) rows_->push_back(any_ ? 1 : 0);
    any_ = false;
}

double Reducer::result() const {
    if (record_->reduction == Reduction::sum) return sum_.total();
    if (!any_) return std::numeric_limits<double>::quiet_NaN();
    if (record_->reduction == Reduction::mean)
        return sum_.total() / static_cast<double>(record_->cells->count());
    return chosen_;
}

} // namespace farfield::stencil
