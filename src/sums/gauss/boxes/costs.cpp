#include "sums/gauss/boxes/costs.h"

#include "sums/gauss/boxes/box_tasks.h"

#include <cmath>

namespace farfield {
namespace {

constexpr double targets_at_once = 16.0; ///< of an expansion
constexpr double sources_at_once = 32.0;
constexpr double exponential = 25.0; ///< in terms of an expansion
constexpr double start = 2.0;        ///< of a run of sources, in pairs

double in_whole(double count, double at_once) { return std::ceil(count / at_once) * at_once; }

} // namespace

BoxCosts::BoxCosts(const BoxAim& aim, int dimension, int order) : lanes_(aim.rates.lanes) {
    pair_ = aim.rates.pair * (aim.vectors > 1 ? 1.5 * std::ceil(aim.vectors / 4.0) : 1.0);
    if (order == 0) return;
    const double term = aim.vectors * aim.rates.term;
    const double terms = std::pow(order, dimension), functions = 4.0 * dimension * order;
    const double each = aim.with_gradient ? 2.0 + dimension / static_cast<double>(order) : 1.0;
    value_ = term * (exponential + each * (functions + terms));
    form_ = term * (exponential + functions + 2.0 * terms);
    reduce_ = term * 2.0 * static_cast<double>(box_lanes) * terms;
    product_ = term * terms * static_cast<double>(box_row(order));
}

double BoxCosts::pairs(double sources, double targets) const {
    return pair_ * (start + sources) * in_whole(targets, lanes_);
}

double BoxCosts::value(double targets) const { return value_ * in_whole(targets, targets_at_once); }

double BoxCosts::form(double sources) const { return reduce_ + form_ * in_whole(sources, sources_at_once); }

double BoxCosts::gather(double sources) const { return form_ * sources; }

} // namespace farfield
