#include "sums/lattice/cuda/lattice_on_gpu.cuh"

#include "base/stopwatch.h"
#include "sums/lattice/in_box.h"
#include "sums/lattice/lattice_terms.h"
#include "sums/method/refuse.h"
#include "sums/tree/cuda/launch.cuh"

#include <algorithm>
#include <numbers>
#include <utility>

namespace farfield::cuda {
namespace {

__global__ void wrap_kernel(const double* rows, int count, BoxOnGpu box, Vec4<double>* out) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    double x[3];
    for (int k = 0; k < 3; ++k) x[k] = image_in_box(scalbn(rows[3LL * i + k], box.exponent), box.length[k]);
    out[i] = {x[0], x[1], x[2], 0.0};
}

struct LeaveBoxTask {
    const Vec4<double>* sums;
    const double* rows; ///< of targets, as the caller gave them
    int count, exponent;
    double background; ///< of potentials
    BoxTotals totals;
    double vacuum; ///< 4π/3V, or 0
    double potential_unit, field_unit;
    double *potential, *field;
};

/// What LatticeTerms has beside self terms.
__global__ void leave_box_kernel(const __grid_constant__ LeaveBoxTask task) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= task.count) return;
    const auto sum = task.sums[i];
    double field[3] = {sum.x, sum.y, sum.z};
    double potential = sum.w - task.background;
    if (task.vacuum != 0.0) {
        const double unit = scalbn(1.0, task.exponent);
        double along = 0.0;
        for (int k = 0; k < 3; ++k) {
            along += unit * (task.rows[3LL * i + k] - task.totals.origin[k]) * task.totals.moment[k];
            field[k] -= task.vacuum * task.totals.moment[k];
        }
        potential += task.vacuum * (along - 0.5 * task.totals.second_moment);
    }
    if (task.potential != nullptr) task.potential[i] = task.potential_unit * potential;
    if (task.field != nullptr)
        for (int k = 0; k < 3; ++k) task.field[3LL * i + k] = task.field_unit * field[k];
}

} // namespace

LatticeOnGpu::LatticeOnGpu(const SumProblem& problem, const SumOptions& options, int device, Make make)
    : OnOneGpu(problem, options, device), make_(std::move(make)), goal_(problem), frame_(problem) {}

bool LatticeOnGpu::make_sum() {
    auto design = make_(goal_.value(), stream_);
    if (!design) return false;
    near_.reset();
    design_ = std::move(*design);
    near_.emplace(frame_, design_.splitting, design_.near);
    return true;
}

void LatticeOnGpu::set_points(const ConstArrayView& sources, const ConstArrayView& targets) {
    const DeviceScope scope(device_);
    stream_ = stream_for(sources, targets);
    read_both(sources, targets, 3, source_rows_, target_rows_);
    const auto wrap = [&](const DeviceArray<double>& rows, std::int64_t count,
                          DeviceArray<Vec4<double>>& to) {
        make_room(to, static_cast<std::size_t>(std::max<std::int64_t>(count, 1)));
        launch_over(count, stream_, wrap_kernel, rows.data(), static_cast<int>(count), BoxOnGpu(frame_),
                    to.data());
    };
    wrap(source_rows_, problem_.sources, sources_);
    if (!problem_.self) wrap(target_rows_, problem_.targets, targets_);
    const BoxPoints from{sources_.data(), static_cast<int>(problem_.sources)};
    const BoxPoints to{targets_.data(), static_cast<int>(problem_.self ? 0 : problem_.targets)};
    const bool other = goal_.depends_on_points() &&
                       goal_.set_near_field(near_field_strength(frame_, from, to, problem_.self, stream_));
    if ((!near_ || other) && !make_sum())
        throw InvalidArgument("no cut-offs keep this tolerance; use a larger one");
    place_points();
}

void LatticeOnGpu::place_points() {
    const BoxPoints from{sources_.data(), static_cast<int>(problem_.sources)};
    const BoxPoints to{targets_.data(), static_cast<int>(problem_.self ? 0 : problem_.targets)};
    near_->set_points(from, to, problem_.self, stream_);
    design_.smooth->set_points(from, to, problem_.self, stream_);
    check(cudaStreamSynchronize(stream_), "waiting for the GPU");
}

bool LatticeOnGpu::refine(double error) {
    const DeviceScope scope(device_);
    if (!goal_.sharpen(error) || !make_sum()) return false;
    place_points();
    return true;
}

void LatticeOnGpu::read_strengths(const ConstArrayView& view) {
    make_room(strengths_, static_cast<std::size_t>(std::max<std::int64_t>(problem_.sources, 1)));
    const auto result = transfers_.read(view, problem_.sources, 1, strengths_.data(), "strengths", stream_);
    if (result.bad >= 0) refuse_strength("strengths", result.bad, result.bad_value);
}

void LatticeOnGpu::execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                           SumReport& report) {
    const DeviceScope scope(device_);
    Stopwatch watch;
    begin_execution(outputs, strengths);
    stop_if_asked(hooks);
    read_strengths(strengths);
    const bool vacuum = problem_.boundary == Boundary::vacuum;
    const auto totals = box_totals(source_rows_.data(), strengths_.data(), static_cast<int>(problem_.sources),
                                   frame_.exponent, vacuum, stream_);
    require_neutral(problem_, {.sum = totals.strength, .magnitude = totals.magnitude});
    report.prepare_seconds += watch.lap();
    potentials_at_ = outputs.potential ? place_of(outputs.potential, potential_, 1) : nullptr;
    fields_at_ = outputs.field ? place_of(outputs.field, field_, 3) : nullptr;
    compute(totals, fields_at_ != nullptr, hooks, report);
    const auto sum_seconds = watch.lap();
    report.device = {.kind = DeviceKind::cuda, .gpus = {device_}};
    report.precision = Precision::float64;
    if (potentials_at_ != nullptr && potentials_at_ == potential_.data())
        transfers_.write(potentials_at_, outputs.potential, problem_.targets, 1, stream_);
    if (fields_at_ != nullptr && fields_at_ == field_.data())
        transfers_.write(fields_at_, outputs.field, problem_.targets, 3, stream_);
    report.finish_seconds += watch.lap() + std::max(0.0, sum_seconds - report.compute_seconds);
    if (hooks.progress) hooks.progress(1.0);
}

void LatticeOnGpu::compute(const BoxTotals& totals, bool with_field, const SumHooks& hooks,
                           SumReport& report) {
    make_room(sums_, static_cast<std::size_t>(std::max<std::int64_t>(problem_.targets, 1)));
    const std::function<void()> stop = [this, &hooks] { stop_if_asked(hooks); };
    PassTimer timer(stream_);
    near_->compute(strengths_.data(), sums_.data(), stop, stream_);
    timer.mark("near images", stream_);
    design_.smooth->add(
        {.values = strengths_.data(), .magnitude = totals.magnitude, .largest = totals.largest}, with_field,
        sums_.data(), timer, stop, stream_);
    // before anything is written into the caller's arrays
    const auto counts = near_->counts(stream_);
    stop();
    if (counts.coincident > 0 && problem_.coincident == Coincident::error)
        refuse_coincident(problem_.self, counts.target, counts.source, false);
    leave(totals);
    timer.mark("other terms", stream_);
    check(cudaStreamSynchronize(stream_), "waiting for the GPU");
    report.compute_seconds += timer.total();
    for (auto& pass : timer.seconds()) report.passes.push_back(std::move(pass));
    report.direct.coincident_pairs_skipped = counts.coincident;
    report.lattice = {.splitting = design_.splitting.alpha * frame_.scale(),
                      .cutoff = design_.near / frame_.scale(),
                      .near_pairs = counts.pairs,
                      .excess_strength = totals.strength};
    design_.smooth->describe(report.lattice, frame_.scale());
}

void LatticeOnGpu::leave(const BoxTotals& totals) {
    const double unit = problem_.kernel->sign * frame_.scale();
    const bool vacuum = problem_.boundary == Boundary::vacuum;
    launch_over(
        problem_.targets, stream_, leave_box_kernel,
        LeaveBoxTask{.sums = sums_.data(),
                     .rows = problem_.self ? source_rows_.data() : target_rows_.data(),
                     .count = static_cast<int>(problem_.targets),
                     .exponent = frame_.exponent,
                     .background = totals.strength * design_.splitting.near_integral() / frame_.volume(),
                     .totals = totals,
                     .vacuum = vacuum ? 4.0 * std::numbers::pi / (3.0 * frame_.volume()) : 0.0,
                     .potential_unit = unit,
                     .field_unit = unit * frame_.scale(),
                     .potential = potentials_at_,
                     .field = fields_at_});
}

} // namespace farfield::cuda
