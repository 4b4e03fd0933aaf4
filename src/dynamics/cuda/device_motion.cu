// DeviceMotion: batches of steps, and captured states on their way to the host while the GPU steps on.
#include "dynamics/cuda/device_motion.h"

#include "backend/cuda/devices.h"
#include "base/spelling.h"
#include "dynamics/cuda/diagnostics.cuh"
#include "dynamics/cuda/state_copies.cuh"
#include "dynamics/cuda/stepper.cuh"
#include "sums/kernels/kernel.h"

#include <farfield/error.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace farfield::cuda {

namespace {

constexpr int most_bodies = (1 << 30);
// The scale of a frame as a double; coordinates near the ends of the range keep a smaller one.
constexpr int most_exponent = 1000;

MotionInput input_of(const MotionSetup& setup, const Bodies& bodies) {
    const auto n = bodies.mass.size();
    if (n > most_bodies)
        throw InvalidArgument("a simulation on GPUs takes at most " + std::to_string(most_bodies) +
                              " bodies, not " + std::to_string(n) + "; use " + spelled("device", "cpu"));
    MotionInput input;
    input.setup = &setup;
    input.bodies = &bodies;
    const auto& kernel = kernel_info(setup.kernel);
    if (!setup.sums) input.sign = kernel.sign;
    const bool charges = setup.kernel == Kernel::coulomb;
    input.strength = charges ? bodies.charge : bodies.mass;
    input.strength_exponent = strength_exponent(input.strength);
    for (double& strength : input.strength) strength = std::ldexp(strength, input.strength_exponent);
    input.factor.assign(n, input.sign * setup.G);
    for (std::size_t i = 0; i < n && charges; ++i)
        input.factor[i] = input.sign * (setup.G * bodies.charge[i] / bodies.mass[i]);
    const int exponent = setup.frame.exponent;
    input.unscale = power_of_two(kernel.result_exponent(Output::field, exponent, input.strength_exponent));
    input.frame_scale = std::ldexp(1.0, exponent);
    input.frame_softening = std::ldexp(setup.softening, exponent);
    return input;
}

/// Steps queued in one go.
struct Batch {
    Event start, end;
    PinnedArray<Control> controls;
    std::uint64_t steps = 0;
    bool running = false;
};

constexpr std::size_t batches_ahead = 2;

} // namespace

struct DeviceMotion::Impl {
    Impl(const MotionSetup& the_setup, const Bodies& bodies) : setup(the_setup) {
        setup.frame.exponent = std::clamp(setup.frame.exponent, -most_exponent, most_exponent);
        if (setup.devices.empty()) setup.devices = {0};
        const auto n = static_cast<std::int64_t>(bodies.mass.size());
        const bool by_rung = setup.variant != Variant::automatic;
        if (by_rung) rung = rung_of(setup.variant, true, setup.precision);
        if (setup.path == StepPath::automatic) setup.path = fastest_path(n, setup.precision);
        if (setup.sums) {
            setup.path = StepPath::launches;
            setup.frame = {};
        }
        if (by_rung && setup.path == StepPath::persistent) setup.path = StepPath::long_graph;
        if (by_rung && (setup.times_sums || !is_for_engine(rung))) setup.path = StepPath::launches;
        const bool persistent = setup.path == StepPath::persistent;
        // So few bodies are not worth dividing, and one GPU gives the bits that it gives alone: of ranks each
        // moves all of them.
        if (persistent) {
            setup.devices.resize(1);
            setup.ranks = nullptr;
        }
        if (setup.ranks != nullptr) setup.path = StepPath::launches; // the host waits in between
        for (const int device : setup.devices) use_device(device);
        use_device(setup.devices.front());
        const auto input = input_of(setup, bodies);
        if (persistent) stepper = make_persistent(input);
        if (!stepper && persistent) setup.path = StepPath::graph;
        if (!stepper) stepper = make_launched(input, setup.path, rung);
        select();
        courier = std::make_unique<Courier>(input, stepper->parts());
        diagnostics = std::make_unique<DeviceDiagnostics>(input, setup.devices.front());
        batches.resize(batches_ahead); // events belong to the GPU that is current
        for (auto& batch : batches) batch.controls = PinnedArray<Control>(stepper->parts().size());
        if (setup.compares) kept.emplace(stepper->parts().front()).keep(stepper->parts().front(), {});
        stepper->evaluate();
        evaluations = 1;
    }
    ~Impl() {
        for (auto& part : stepper->parts()) {
            cudaSetDevice(part.device);
            cudaStreamSynchronize(part.stream);
        }
    }

    void select() const { check(cudaSetDevice(setup.devices.front()), "selecting a GPU"); }

    void finish(Batch& batch) {
        if (!batch.running) return;
        batch.running = false;
        const double elapsed = 1e-3 * Event::milliseconds(batch.start, batch.end);
        seconds += elapsed;
        seconds_per_step = elapsed / static_cast<double>(batch.steps);
        const std::span<const Control> controls(batch.controls.data(), batch.controls.size());
        if (const auto at = first_failure(controls, setup.ranks))
            failure = std::min(*at, failure.value_or(*at));
    }

    void queue(std::uint64_t steps, double dt) {
        select();
        auto& batch = batches[next];
        next = (next + 1) % batches_ahead;
        finish(batch);
        auto parts = stepper->parts();
        batch.start.record(parts.front().stream);
        if (kept) {
            stepper->steps(--steps, dt);
            kept->keep(parts.front(), dt);
            stepper->steps(1, dt);
            ++steps;
        } else {
            stepper->steps(steps, dt);
        }
        for (std::size_t k = 0; k < parts.size(); ++k)
            copy(batch.controls.data() + k, parts[k].control.data(), 1, parts[k].stream);
        select();
        batch.end.record(parts.front().stream);
        batch.steps = steps;
        batch.running = true;
        evaluations += steps * setup.substeps.size();
    }

    void take_again(const SumOptions& sums) {
        select();
        stepper->renew(sums); // these may fail: then the state stays
        diagnostics->renew(sums);
        const auto length = kept->bring_back(stepper->parts().front());
        if (length)
            stepper->steps(1, *length);
        else
            stepper->evaluate();
        evaluations += length ? setup.substeps.size() : 1;
    }

    void wait_for_all() {
        for (auto& part : stepper->parts()) {
            check(cudaSetDevice(part.device), "selecting a GPU");
            check(cudaStreamSynchronize(part.stream), "waiting for the GPU");
        }
        for (std::size_t k = 0; k < batches_ahead; ++k) finish(batches[(next + k) % batches_ahead]);
        select();
    }

    MotionSetup setup;
    Rung rung = Rung::symmetric;
    std::unique_ptr<Stepper> stepper;
    std::unique_ptr<Courier> courier;
    std::unique_ptr<DeviceDiagnostics> diagnostics;
    std::optional<KeptState> kept;
    std::vector<Batch> batches;
    std::size_t next = 0;
    CapturedState captured;
    bool sent = false, with_diagnostics = false;
    std::uint64_t evaluations = 0;
    double seconds = 0.0, seconds_per_step = 0.0;
    std::optional<std::uint64_t> failure;
};

DeviceMotion::DeviceMotion(const MotionSetup& setup, const Bodies& bodies)
    : impl_(std::make_unique<Impl>(setup, bodies)) {}
DeviceMotion::DeviceMotion(DeviceMotion&&) noexcept = default;
DeviceMotion& DeviceMotion::operator=(DeviceMotion&&) noexcept = default;
DeviceMotion::~DeviceMotion() = default;

void DeviceMotion::advance(std::uint64_t steps, double dt) {
    if (steps > 0) impl_->queue(steps, dt);
}

void DeviceMotion::capture(bool diagnostics) {
    if (impl_->sent) captured(); // its buffers are about to be used again
    impl_->courier->send(impl_->stepper->parts());
    if (diagnostics)
        impl_->diagnostics->queue(impl_->courier->position(), impl_->courier->velocity(),
                                  impl_->courier->staged());
    impl_->sent = true;
    impl_->with_diagnostics = diagnostics;
}

const CapturedState& DeviceMotion::captured() {
    if (!impl_->sent) return impl_->captured;
    impl_->sent = false;
    impl_->select();
    impl_->courier->wait(impl_->captured);
    if (impl_->with_diagnostics) impl_->diagnostics->wait(impl_->captured);
    return impl_->captured;
}

void DeviceMotion::synchronize() { impl_->wait_for_all(); }
void DeviceMotion::take_again(const SumOptions& sums) { impl_->take_again(sums); }
std::optional<std::uint64_t> DeviceMotion::failure() const { return impl_->failure; }
std::string DeviceMotion::refusal() const { return impl_->stepper->refusal(); }
StepPath DeviceMotion::path() const { return impl_->setup.path; }
Variant DeviceMotion::variant() const {
    if (impl_->setup.sums) return Variant::automatic;
    return path() == StepPath::persistent ? Variant::register_tile : variant_of(impl_->rung);
}
std::uint64_t DeviceMotion::evaluations() const { return impl_->evaluations; }
double DeviceMotion::seconds() const { return impl_->seconds; }
double DeviceMotion::seconds_per_step() const { return impl_->seconds_per_step; }

double DeviceMotion::time_steps(std::uint64_t steps, double dt) {
    impl_->wait_for_all();
    impl_->stepper->sum_milliseconds(); // forgets those before
    const double before = impl_->seconds;
    impl_->queue(steps, dt);
    impl_->wait_for_all();
    return 1e3 * (impl_->seconds - before);
}

double DeviceMotion::sum_milliseconds() { return impl_->stepper->sum_milliseconds(); }

} // namespace farfield::cuda
