#include "stencil/run/state.h"

#include "stencil/api/finite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace farfield {
namespace {

std::int64_t cells_of(const stencil::Model& model, int field) {
    std::int64_t cells = 1;
    const auto grid = model.fields[static_cast<std::size_t>(field)].grid;
    for (const auto& axis : model.grids[static_cast<std::size_t>(grid)].axes) cells *= axis.cells;
    return cells;
}

} // namespace

StencilState::StencilState(stencil::Executor& executor, const stencil::Model& model)
    : executor_(executor), model_(model), fixed_(model.fields.size()) {
    const auto& buffers = executor.program().buffers;
    for (std::size_t i = 0; i < model.fields.size(); ++i)
        if (buffers[i].written) written_.push_back(static_cast<int>(i));
    for (const int field : written_) {
        good_.emplace_back(static_cast<std::size_t>(cells_of(model, field)));
        spare_.emplace_back(good_.back().size());
    }
}

bool StencilState::read_all(std::vector<std::vector<double>>& values, Bad& bad) {
    for (std::size_t i = 0; i < written_.size(); ++i) {
        executor_.read(written_[i], values[i]);
        if (all_finite(values[i])) continue;
        bad = {written_[i], first_bad_text(model_, written_[i], values[i])};
        return false;
    }
    return true;
}

void StencilState::take() {
    Bad bad{};
    if (!read_all(spare_, bad)) find_first_bad(executor_.step(), bad);
    std::swap(good_, spare_);
    step_ = executor_.step();
}

std::span<const double> StencilState::field(int index) {
    const auto place = std::find(written_.begin(), written_.end(), index);
    if (place != written_.end()) return good_[static_cast<std::size_t>(place - written_.begin())];
    auto& values = fixed_[static_cast<std::size_t>(index)];
    if (values.empty()) {
        values.resize(static_cast<std::size_t>(cells_of(model_, index)));
        executor_.read(index, values);
    }
    return values;
}

void StencilState::take_one(int index) {
    one_.resize(static_cast<std::size_t>(cells_of(model_, index)));
    executor_.read(index, one_);
    if (!all_finite(one_)) take(); // and say where
}

void StencilState::put_back(std::int64_t step) {
    for (std::size_t i = 0; i < written_.size(); ++i) executor_.write(written_[i], good_[i]);
    executor_.set_step(step);
}

void StencilState::restore(std::vector<std::vector<double>> values, std::int64_t step) {
    good_ = std::move(values);
    put_back(step);
    step_ = step;
}

void StencilState::find_first_bad(std::int64_t bad_step, Bad bad) {
    while (bad_step - step_ > 1) {
        put_back(step_);
        const auto middle = step_ + (bad_step - step_) / 2;
        executor_.advance(middle - step_);
        Bad here{};
        if (read_all(spare_, here)) {
            std::swap(good_, spare_);
            step_ = middle;
        } else {
            bad_step = middle;
            bad = here;
        }
    }
    const auto step = bad_step - 1;
    throw NotFinite(bad_step == 0
                        ? fmt::format("the field '{}' begins with the value {}; an initial value "
                                      "must be finite: look for divisions by 0",
                                      model_.fields[static_cast<std::size_t>(bad.field)].name, bad.value)
                        : fmt::format("the field '{}' became {} in step {} (t = {:.10g}); look for a "
                                      "dt that is too large or a division by 0; the state before is kept",
                                      model_.fields[static_cast<std::size_t>(bad.field)].name, bad.value,
                                      step, static_cast<double>(step) * model_.dt));
}

} // namespace farfield
