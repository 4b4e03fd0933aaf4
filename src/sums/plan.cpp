// SumPlan: checks and copies what the caller gives, runs the method, copies the results out.
#include "sums/direct/reference.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <chrono>

namespace farfield {
namespace {

double read(const ConstArrayView& view, std::int64_t row, std::int64_t column) {
    const auto offset = row * view.strides[0] + column * view.strides[1];
    if (view.dtype == DType::float32)
        return static_cast<double>(static_cast<const float*>(view.data)[offset]);
    return static_cast<const double*>(view.data)[offset];
}

void write(const ArrayView& view, std::int64_t row, std::int64_t column, double value) {
    const auto offset = row * view.strides[0] + column * view.strides[1];
    if (view.dtype == DType::float32)
        static_cast<float*>(view.data)[offset] = static_cast<float>(value);
    else
        static_cast<double*>(view.data)[offset] = value;
}

std::vector<double> copy_points(const ConstArrayView& view) {
    if (view.ndim != 2 || view.shape[1] != 3) throw InvalidArgument("points must be N×3");
    std::vector<double> out(static_cast<std::size_t>(3 * view.shape[0]));
    for (std::int64_t i = 0; i < view.shape[0]; ++i)
        for (std::int64_t k = 0; k < 3; ++k) out[static_cast<std::size_t>(3 * i + k)] = read(view, i, k);
    return out;
}

} // namespace

struct SumPlan::Impl {
    SumOptions options;
    SumReport report;
    bool self = false;
    std::vector<double> sources;
    std::vector<double> targets;
};

SumPlan::SumPlan(ConstArrayView sources, const SumOptions& options) : impl_(std::make_unique<Impl>()) {
    impl_->options = options;
    impl_->self = true;
    update(sources);
}

SumPlan::SumPlan(ConstArrayView sources, ConstArrayView targets, const SumOptions& options)
    : impl_(std::make_unique<Impl>()) {
    impl_->options = options;
    update(sources, targets);
}

SumPlan::SumPlan(SumPlan&&) noexcept = default;
SumPlan& SumPlan::operator=(SumPlan&&) noexcept = default;
SumPlan::~SumPlan() = default;

void SumPlan::update(ConstArrayView sources) { impl_->sources = copy_points(sources); }

void SumPlan::update(ConstArrayView sources, ConstArrayView targets) {
    impl_->sources = copy_points(sources);
    impl_->targets = copy_points(targets);
}

void SumPlan::execute(ConstArrayView strengths, const SumOutputs& outputs) {
    const auto start = std::chrono::steady_clock::now();
    auto& points = impl_->self ? impl_->sources : impl_->targets;
    const auto n = static_cast<std::int64_t>(impl_->sources.size() / 3);
    const auto m = static_cast<std::int64_t>(points.size() / 3);
    std::vector<double> q(static_cast<std::size_t>(n));
    for (std::int64_t j = 0; j < n; ++j) q[static_cast<std::size_t>(j)] = read(strengths, j, 0);
    std::vector<double> potential(static_cast<std::size_t>(m));
    std::vector<double> field(static_cast<std::size_t>(3 * m));
    reference_direct_sum({.kernel = impl_->options.kernel,
                          .sources = n,
                          .targets = m,
                          .source_points = impl_->sources.data(),
                          .strengths = q.data(),
                          .target_points = points.data(),
                          .self = impl_->self,
                          .softening = impl_->options.softening,
                          .potential = potential.data(),
                          .field = field.data()});
    for (std::int64_t i = 0; i < m; ++i) {
        if (outputs.potential) write(outputs.potential, i, 0, potential[static_cast<std::size_t>(i)]);
        if (outputs.field)
            for (std::int64_t k = 0; k < 3; ++k)
                write(outputs.field, i, k, field[static_cast<std::size_t>(3 * i + k)]);
    }
    auto& report = impl_->report;
    report.sources = n;
    report.targets = m;
    report.pairs = impl_->self ? n * (n - 1) : n * m;
    report.compute_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report.pairs_per_second = static_cast<double>(report.pairs) / report.compute_seconds;
    report.threads = 1;
}

const SumReport& SumPlan::report() const { return impl_->report; }
const SumOptions& SumPlan::options() const { return impl_->options; }

SumResult sum(ConstArrayView sources, ConstArrayView strengths, const SumOptions& options, SumWanted wanted) {
    SumPlan plan(sources, options);
    SumResult result;
    if (wanted.potential) result.potential.resize(static_cast<std::size_t>(sources.shape[0]));
    if (wanted.field) result.field.resize(static_cast<std::size_t>(3 * sources.shape[0]));
    plan.execute(strengths, {.potential = std::span<double>(result.potential),
                             .field = matrix_view(std::span<double>(result.field), 3)});
    result.report = plan.report();
    return result;
}

SumResult sum(ConstArrayView sources, ConstArrayView targets, ConstArrayView strengths,
              const SumOptions& options, SumWanted wanted) {
    SumPlan plan(sources, targets, options);
    SumResult result;
    if (wanted.potential) result.potential.resize(static_cast<std::size_t>(targets.shape[0]));
    if (wanted.field) result.field.resize(static_cast<std::size_t>(3 * targets.shape[0]));
    plan.execute(strengths, {.potential = std::span<double>(result.potential),
                             .field = matrix_view(std::span<double>(result.field), 3)});
    result.report = plan.report();
    return result;
}

} // namespace farfield
