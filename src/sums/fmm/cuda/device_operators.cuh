// Operators (plain_operators.h) on a GPU.
#pragma once

#include "backend/cuda/memory.h"
#include "sums/fmm/cuda/points.cuh"
#include "sums/fmm/cuda/translate.cuh"

#include <memory>
#include <utility>
#include <vector>

namespace farfield::cuda {

template <class T>
DeviceArray<T> uploaded(const std::vector<T>& values, cudaStream_t stream) {
    DeviceArray<T> out(values.size());
    copy(out.data(), values.data(), values.size(), stream);
    return out;
}

template <class Real>
class DeviceFunctions {
public:
    DeviceFunctions(const PlainFunctions<Real>& of, cudaStream_t stream)
        : functions_(of.functions), order_(of.order), pairs_(of.pairs),
          diagonal_(uploaded(of.diagonal, stream)), climb_(uploaded(of.climb, stream)),
          climb_back_(uploaded(of.climb_back, stream)), weight_(uploaded(of.sets.weight, stream)),
          places_(uploaded(of.places, stream)), first_(uploaded(of.sets.first, stream)),
          from_(uploaded(of.sets.from, stream)), gradient_weight_(uploaded(of.gradients.weight, stream)),
          gradient_first_(uploaded(of.gradients.first, stream)),
          gradient_from_(uploaded(of.gradients.from, stream)) {}

    [[nodiscard]] FunctionsView<Real> view() const {
        FunctionsView<Real> out;
        out.loop = {.functions = functions_,
                    .order = order_,
                    .pairs = pairs_,
                    .wide = sizeof(Real) == sizeof(double),
                    .diagonal = diagonal_.data(),
                    .climb = climb_.data(),
                    .climb_back = climb_back_.data()};
        out.places = places_.data();
        out.set_first = first_.data();
        out.set_from = from_.data();
        out.set_weight = weight_.data();
        out.gradient_first = gradient_first_.data();
        out.gradient_from = gradient_from_.data();
        out.gradient_weight = gradient_weight_.data();
        return out;
    }

private:
    Functions functions_;
    int order_, pairs_;
    DeviceArray<Real> diagonal_, climb_, climb_back_, weight_;
    DeviceArray<std::int32_t> places_, first_, from_;
    DeviceArray<Real> gradient_weight_;
    DeviceArray<std::int32_t> gradient_first_, gradient_from_;
};

template <class Real>
class DeviceOperators {
public:
    DeviceOperators(std::shared_ptr<const PlainOperators<Real>> made, cudaStream_t stream)
        : of_(std::move(made)), inside_(of_->inside, stream), outside_(of_->outside, stream),
          inside_second_(of_->inside_second, stream), outside_second_(of_->outside_second, stream),
          matrices_(uploaded(of_->matrices, stream)), signs_(uploaded(of_->signs, stream)),
          senders_(uploaded(of_->senders, stream)),
          first_sender_(
              uploaded(std::vector<std::int32_t>(std::begin(of_->first_sender), std::end(of_->first_sender)),
                       stream)) {
        auto table = of_->across;
        const auto up = static_cast<std::int32_t>(table.size());
        table.push_back(of_->up);
        table.push_back(of_->down);
        table_ = uploaded(table, stream);
        std::vector<Sender> senders;
        for (std::int32_t octant = 0; octant < 8; ++octant) senders.push_back({up, octant, octant});
        for (std::int32_t octant = 0; octant < 8; ++octant) senders.push_back({up + 1, octant, 0});
        family_ = uploaded(senders, stream);
        // up: all octants for group 0; down: one for each group
        first_family_ = uploaded(std::vector<std::int32_t>{0, 8, 8, 9, 10, 11, 12, 13, 14, 15, 16}, stream);
        check(cudaStreamSynchronize(stream), "waiting for the GPU"); // the host's arrays end here
    }

    [[nodiscard]] const PlainOperators<Real>& host() const { return *of_; }
    [[nodiscard]] const std::shared_ptr<const PlainOperators<Real>>& shared() const { return of_; }
    [[nodiscard]] FunctionsView<Real> inside() const { return inside_.view(); }
    [[nodiscard]] FunctionsView<Real> outside() const { return outside_.view(); }
    [[nodiscard]] FunctionsView<Real> inside_second() const { return inside_second_.view(); }
    [[nodiscard]] FunctionsView<Real> outside_second() const { return outside_second_.view(); }

    /// The task of a pass, without its targets and expansions.
    [[nodiscard]] TranslateTask<Real> task(Pass pass) const {
        TranslateTask<Real> out;
        out.stride = of_->stride;
        out.matrices = matrices_.data();
        out.table = table_.data();
        out.table_level = pass == Pass::across ? of_->first_across(1) : 0;
        out.signs = signs_.data();
        out.senders = pass == Pass::across ? senders_.data() : family_.data();
        out.first_sender = pass == Pass::across ? first_sender_.data()
                           : pass == Pass::up   ? first_family_.data()
                                                : first_family_.data() + 2;
        return out;
    }

private:
    std::shared_ptr<const PlainOperators<Real>> of_;
    DeviceFunctions<Real> inside_, outside_, inside_second_, outside_second_;
    DeviceArray<Real> matrices_, signs_;
    DeviceArray<Sender> senders_, family_;
    DeviceArray<std::int32_t> first_sender_, first_family_;
    DeviceArray<typename PlainOperators<Real>::Matrix> table_;
};

} // namespace farfield::cuda
