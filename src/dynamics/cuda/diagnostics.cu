#include "dynamics/cuda/diagnostics.cuh"

#include "backend/cuda/devices.h"
#include "dynamics/cuda/move.cuh"
#include "sums/kernels/kernel.h"

#include <cmath>

namespace farfield::cuda {

namespace {

constexpr int threads = 256;

__global__ void pack_kernel(const double* x, Point<double>* points, int n, double scale) {
    const int i = static_cast<int>(blockIdx.x * threads + threadIdx.x);
    if (i >= n) return;
    for (int axis = 0; axis < 3; ++axis)
        reinterpret_cast<double*>(points + i)[axis] = in_frame(x[3LL * i + axis], 0.0, scale);
}

/// The tree over one block; thread 0 gets the sums.
__device__ void add_up(DiagnosticSums& mine) {
    __shared__ DiagnosticSums all[threads];
    all[threadIdx.x] = mine;
    for (unsigned half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            for (int k = 0; k < 8; ++k) all[threadIdx.x].value[k] += all[threadIdx.x + half].value[k];
    }
    if (threadIdx.x == 0) mine = all[0];
}

__global__ void terms_kernel(const double* x, const double* v, const double* mass, const double* strength,
                             const double* sums, int sum_columns, int n, Unscale unscale,
                             DiagnosticSums* partial, double* potentials) {
    const int i = static_cast<int>(blockIdx.x * threads + threadIdx.x);
    DiagnosticSums mine{};
    if (i < n) {
        const double* p = x + 3LL * i;
        const double* u = v + 3LL * i;
        const double m = mass[i];
        mine.value[0] = 0.5 * m * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        const double potential =
            sums[static_cast<long long>(sum_columns) * i] * unscale.first * unscale.second;
        if (potentials != nullptr) potentials[i] = potential;
        mine.value[1] = strength[i] * potential;
        for (int axis = 0; axis < 3; ++axis) {
            const int b = (axis + 1) % 3, c = (axis + 2) % 3;
            mine.value[2 + axis] = m * u[axis];
            mine.value[5 + axis] = m * (p[b] * u[c] - p[c] * u[b]);
        }
    }
    add_up(mine);
    if (threadIdx.x == 0) partial[blockIdx.x] = mine;
}

__global__ void total_kernel(const DiagnosticSums* partial, int count, DiagnosticSums* total) {
    DiagnosticSums mine{};
    for (int block = static_cast<int>(threadIdx.x); block < count; block += threads)
        for (int k = 0; k < 8; ++k) mine.value[k] += partial[block].value[k];
    add_up(mine);
    if (threadIdx.x == 0) *total = mine;
}

int blocks_for(int n) { return (n + threads - 1) / threads; }

DeviceArray<double> uploaded(const std::vector<double>& values, cudaStream_t stream) {
    DeviceArray<double> array(values.size());
    copy(array.data(), values.data(), values.size(), stream);
    return array;
}

SumOptions in_double(SumOptions options) {
    options.precision = Precision::float64;
    return options;
}

std::variant<SumEngine<Point<double>>, MethodEngine> engine_of(const MotionInput& input, int device) {
    if (const auto& sums = input.setup->sums)
        return MethodEngine(in_double(*sums), input.setup->devices, input.strength, Output::potential);
    return SumEngine<Point<double>>(
        {.devices = {device}, .outputs = potential_only, .n = input.n(), .softening = input.frame_softening});
}

} // namespace

DeviceDiagnostics::DeviceDiagnostics(const MotionInput& input, int device)
    : potential_(engine_of(input, device)), n_(input.n()), frame_scale_(input.frame_scale),
      G_(input.setup->G) {
    const bool charges = input.setup->kernel == Kernel::coulomb;
    const auto part = this->part();
    mass_ = uploaded(input.bodies->mass, part.stream);
    strength_ = uploaded(charges ? input.bodies->charge : input.bodies->mass, part.stream);
    partial_ = DeviceArray<DiagnosticSums>(static_cast<std::size_t>(blocks_for(n_)) + 1);
    result_ = PinnedArray<DiagnosticSums>(1);
    const auto scaled = uploaded(input.strength, part.stream);
    if (part.points != nullptr) set_strengths(part.points, scaled.data(), n_, part.stream);
    synchronize();
    unscale_ = power_of_two(
        kernel_info(input.setup->kernel)
            .result_exponent(Output::potential, input.setup->frame.exponent, input.strength_exponent));
    unscale_.first *= input.sign;
    if (!input.setup->compares) return;
    potentials_ = DeviceArray<double>(static_cast<std::size_t>(n_));
    host_potentials_ = PinnedArray<double>(static_cast<std::size_t>(n_));
}

DeviceDiagnostics::~DeviceDiagnostics() { cudaStreamSynchronize(part().stream); }

EnginePart<Point<double>>& DeviceDiagnostics::part() {
    return std::visit([](auto& engine) -> EnginePart<Point<double>>& { return engine.parts().front(); },
                      potential_);
}

void DeviceDiagnostics::synchronize() {
    std::visit([](auto& engine) { engine.synchronize(); }, potential_);
}

void DeviceDiagnostics::compute(const double* x) {
    if (auto* method = std::get_if<MethodEngine>(&potential_)) return method->compute(x);
    const auto part = this->part();
    pack_kernel<<<static_cast<unsigned>(blocks_for(n_)), threads, 0, part.stream>>>(x, part.points, n_,
                                                                                    frame_scale_);
    check_launch("packing the bodies");
    std::get<SumEngine<Point<double>>>(potential_).compute();
}

DeviceDiagnostics::Sums DeviceDiagnostics::sums() {
    if (const auto* method = std::get_if<MethodEngine>(&potential_)) return {method->sums(), 1};
    return {&part().sums->w, 4};
}

void DeviceDiagnostics::renew(const SumOptions& sums) {
    if (auto* engine = std::get_if<MethodEngine>(&potential_)) engine->renew(in_double(sums));
}

void DeviceDiagnostics::queue(const double* x, const double* v, const Event& ready) {
    const auto part = this->part();
    check(cudaSetDevice(part.device), "selecting a GPU");
    ready.hold(part.stream);
    const auto blocks = static_cast<unsigned>(blocks_for(n_));
    compute(x);
    const auto [sums, columns] = this->sums();
    terms_kernel<<<blocks, threads, 0, part.stream>>>(x, v, mass_.data(), strength_.data(), sums, columns, n_,
                                                      unscale_, partial_.data(), potentials_.data());
    check_launch("adding up energies");
    total_kernel<<<1, threads, 0, part.stream>>>(partial_.data(), static_cast<int>(blocks),
                                                 partial_.data() + blocks);
    check_launch("adding up energies");
    copy(result_.data(), partial_.data() + blocks, 1, part.stream);
    copy(host_potentials_.data(), potentials_.data(), potentials_.size(), part.stream);
}

void DeviceDiagnostics::wait(CapturedState& captured) {
    synchronize();
    captured.potentials = {host_potentials_.data(), host_potentials_.size()};
    const double* value = result_.data()->value;
    captured.kinetic = value[0];
    captured.potential = 0.5 * G_ * value[1];
    for (std::size_t axis = 0; axis < 3; ++axis) {
        captured.momentum[axis] = value[2 + axis];
        captured.angular_momentum[axis] = value[5 + axis];
    }
}

} // namespace farfield::cuda
