#include "sums/lattice/cuda/lattice_on_gpu.cuh"

#include "backend/comm/agree.h"
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
    : WholeRowsSum(problem, options, device), make_(std::move(make)), goal_(problem), frame_(problem),
      ranks_(CommunicatorAccess::transport(options.communicator)) {
    const DeviceScope scope(device_);
    shared_rows_.emplace(ranks_, options);
}

bool LatticeOnGpu::make_sum() {
    auto design = make_(goal_.value(), stream_);
    if (!design) return false;
    comm::together(ranks_, [&] {
        near_.reset();
        design_ = std::move(*design);
        near_.emplace(frame_, design_.splitting, design_.near);
    });
    return true;
}

void LatticeOnGpu::set_points(const ConstArrayView& given_sources, const ConstArrayView& given_targets) {
    const DeviceScope scope(device_);
    stream_ = stream_for(given_sources, given_targets);
    double near_field = 1.0;
    comm::together(ranks_, [&] {
        take_rows(given_sources, given_targets);
        const auto wrap = [&](const double* rows, std::int64_t count, DeviceArray<Vec4<double>>& to) {
            make_room(to, static_cast<std::size_t>(std::max<std::int64_t>(count, 1)));
            launch_over(count, stream_, wrap_kernel, rows, static_cast<int>(count), BoxOnGpu(frame_),
                        to.data());
        };
        wrap(source_points_, problem_.sources, sources_);
        if (!problem_.self) wrap(target_points_, problem_.targets, targets_);
        if (goal_.depends_on_points())
            near_field = near_fields_.strength(frame_, sources(), targets(), problem_.self, stream_);
    });
    // all compute it whole: GPUs of another kind may round differently
    const bool other = goal_.depends_on_points() && goal_.set_near_field(comm::from_rank(ranks_, near_field));
    if ((!near_ || other) && !make_sum())
        throw InvalidArgument("no cut-offs keep this tolerance; use a larger one");
    shared_rows_->divide(problem_.targets, {first_row(), first_row() + rows()});
    place_points();
}

void LatticeOnGpu::place_points() {
    const auto computed = shared_rows_->computed();
    const int first = static_cast<int>(computed.begin);
    const BoxTargets wanted{.points = {targets().at + first, static_cast<int>(computed.size())},
                            .first_source = problem_.self ? first : BoxTargets::not_sources,
                            .of_all_ranks = static_cast<int>(problem_.targets)};
    comm::together(ranks_, [&] {
        near_->set_points(sources(), wanted, stream_);
        design_.smooth->set_points(sources(), wanted, stream_);
        check(cudaStreamSynchronize(stream_), "waiting for the GPU");
    });
}

bool LatticeOnGpu::refine(double error) {
    const DeviceScope scope(device_);
    if (!goal_.sharpen(comm::from_rank(ranks_, error)) || !make_sum()) return false;
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
    stop_if_asked(hooks);
    BoxTotals totals;
    comm::together(ranks_, [&] {
        begin_execution(outputs, strengths);
        read_strengths(strengths);
        const bool vacuum = problem_.boundary == Boundary::vacuum;
        totals = box_totals(source_points_, strengths_.data(), static_cast<int>(problem_.sources),
                            frame_.exponent, vacuum, stream_);
        require_neutral(problem_, {.sum = totals.strength, .magnitude = totals.magnitude});
        potentials_at_ = outputs.potential ? place_of(outputs.potential, potential_, 1, rows()) : nullptr;
        fields_at_ = outputs.field ? place_of(outputs.field, field_, 3, rows()) : nullptr;
    });
    report.prepare_seconds += watch.lap();
    compute(totals, comm::any_rank(ranks_, static_cast<bool>(outputs.field)), hooks, report);
    const auto sum_seconds = watch.lap();
    report.device = {.kind = DeviceKind::cuda, .gpus = {device_}};
    report.precision = Precision::float64;
    if (potentials_at_ != nullptr && potentials_at_ == potential_.data())
        transfers_.write(potentials_at_, outputs.potential, rows(), 1, stream_);
    if (fields_at_ != nullptr && fields_at_ == field_.data())
        transfers_.write(fields_at_, outputs.field, rows(), 3, stream_);
    report.finish_seconds += watch.lap() + std::max(0.0, sum_seconds - report.compute_seconds);
    if (hooks.progress) hooks.progress(1.0);
}

void LatticeOnGpu::compute(const BoxTotals& totals, bool with_field, const SumHooks& hooks,
                           SumReport& report) {
    const std::function<void()> stop = [&hooks] { stop_alone_if_asked(hooks); };
    PassTimer timer;
    comm::together(ranks_, [&] {
        timer.begin(stream_);
        make_room(sums_, static_cast<std::size_t>(std::max<std::int64_t>(problem_.targets, 1)));
        auto* const sums = sums_.data() + shared_rows_->computed().begin;
        near_->compute(strengths_.data(), sums, stop, stream_);
        timer.mark("near images", stream_);
        design_.smooth->add(
            {.values = strengths_.data(), .magnitude = totals.magnitude, .largest = totals.largest},
            with_field, sums, timer, stop, stream_);
    });
    // before anything is written into the caller's arrays
    NearImages::Counts own;
    comm::together(ranks_, [&] { own = near_->counts(stream_); });
    own.target += shared_rows_->computed().begin;
    const auto counts = counts_of_ranks(own);
    stop_if_asked(hooks);
    if (counts.coincident > 0 && problem_.coincident == Coincident::error)
        refuse_coincident(problem_.self, counts.target, counts.source, false);
    if (shared_rows_->gather({{reinterpret_cast<std::byte*>(sums_.data()), sizeof(Vec4<double>)}}, stream_))
        timer.mark("other ranks", stream_);
    leave(totals);
    timer.mark("other terms", stream_);
    check(cudaStreamSynchronize(stream_), "waiting for the GPU");
    report.compute_seconds += timer.total();
    for (auto& pass : timer.seconds()) report.passes.push_back(std::move(pass));
    // own_rows.cu adds up those of ranks
    report.direct.coincident_pairs_skipped = has_whole_rows() ? own.coincident : counts.coincident;
    report.lattice = {.splitting = design_.splitting.alpha * frame_.scale(),
                      .cutoff = design_.near / frame_.scale(),
                      .near_pairs = counts.pairs,
                      .excess_strength = totals.strength};
    design_.smooth->describe(report.lattice, frame_.scale());
}

/// Of all ranks, with the first coincident pair of all.
NearImages::Counts LatticeOnGpu::counts_of_ranks(const NearImages::Counts& own) const {
    if (ranks_ == nullptr) return own;
    NearImages::Counts all;
    for (const auto& counts : comm::all_values(*ranks_, own)) {
        if (all.coincident == 0) {
            all.target = counts.target;
            all.source = counts.source;
        }
        all.pairs += counts.pairs;
        all.coincident += counts.coincident;
    }
    return all;
}

void LatticeOnGpu::leave(const BoxTotals& totals) {
    const double unit = problem_.kernel->sign * frame_.scale();
    const bool vacuum = problem_.boundary == Boundary::vacuum;
    launch_over(
        rows(), stream_, leave_box_kernel,
        LeaveBoxTask{.sums = sums_.data() + first_row(),
                     .rows = (problem_.self ? source_points_ : target_points_) + 3 * first_row(),
                     .count = static_cast<int>(rows()),
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
