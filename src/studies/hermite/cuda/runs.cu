#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"
#include "studies/hermite/cuda/device_problem.cuh"

#include <algorithm>

namespace farfield::hermite {
namespace {

template <class T>
cuda::DeviceArray<T> uploaded(const std::vector<T>& values, const cuda::Stream& stream) {
    cuda::DeviceArray<T> out(values.size());
    cuda::copy(out.data(), values.data(), values.size(), stream.get());
    return out;
}

std::vector<float2> points_of(const Problem& problem) {
    std::vector<float2> points;
    points.reserve(problem.x.size());
    for (std::size_t i = 0; i < problem.x.size(); ++i) points.push_back({problem.x[i], problem.y[i]});
    return points;
}
std::vector<float2> centres_of(const Problem& problem) {
    std::vector<float2> centres;
    for (std::size_t i = 0; i < problem.centres.size(); i += 2)
        centres.push_back({problem.centres[i], problem.centres[i + 1]});
    return centres;
}

// All launches of one evaluation.
std::vector<Launch> launches(Variant variant, const DeviceProblem& problem) {
    std::vector<Launch> all;
    switch (variant) {
    case Variant::pairs: {
        auto launch = pair_launch(problem.terms);
        for (int target = 0; target < problem.targets; target += targets_a_box)
            for (int cluster = 0; cluster < problem.clusters; ++cluster) {
                launch.first_cluster = cluster;
                launch.first_target = target;
                all.push_back(launch);
            }
        break;
    }
    case Variant::amalgamated:
        all.push_back(amalgamated_launch(problem.terms, problem.targets));
        break;
    case Variant::ours:
        all.push_back(ours_launch(problem.terms, problem.targets));
        break;
    default: {
        auto launch = chunk_launch(variant, problem.terms, problem.targets);
        for (int cluster = 0; cluster < problem.clusters; cluster += chunk_clusters(variant, problem.terms)) {
            launch.first_cluster = cluster;
            all.push_back(launch);
        }
    }
    }
    return all;
}

void enqueue(Launch launch, DeviceProblem problem, cudaStream_t stream) {
    void* arguments[] = {&problem, &launch.first_cluster, &launch.first_target};
    cuda::check(
        cudaLaunchKernel(launch.function, dim3(launch.blocks), dim3(launch.threads), arguments, 0, stream),
        "launching an evaluation of Hermite series");
}

} // namespace

struct EvaluationRuns::Impl {
    explicit Impl(const Problem& problem)
        : points(uploaded(points_of(problem), stream)), centres(uploaded(centres_of(problem), stream)),
          moments(uploaded(problem.moments, stream)), powers(uploaded(powers_in(problem), stream)),
          factorials(uploaded(problem.factorials, stream)),
          potentials(problem.x.size()), device_problem{static_cast<int>(problem.targets()),
                                                       problem.clusters(),
                                                       problem.terms,
                                                       problem.inverse_width,
                                                       points.data(),
                                                       centres.data(),
                                                       moments.data(),
                                                       factorials.data(),
                                                       powers.data(),
                                                       potentials.data()} {
        stream.synchronize();
    }

    cuda::Stream stream; // first: the arrays are filled in its order
    cuda::DeviceArray<float2> points, centres;
    cuda::DeviceArray<float> moments, powers;
    cuda::DeviceArray<int> factorials;
    cuda::DeviceArray<float> potentials;
    DeviceProblem device_problem;
};

EvaluationRuns::EvaluationRuns(const Problem& problem) : impl_(std::make_unique<Impl>(problem)) {}
EvaluationRuns::EvaluationRuns(EvaluationRuns&&) noexcept = default;
EvaluationRuns& EvaluationRuns::operator=(EvaluationRuns&&) noexcept = default;
EvaluationRuns::~EvaluationRuns() = default;

// A row of evaluations, so that short ones fill the timer; the first row warms up.
double EvaluationRuns::milliseconds(Variant variant, int repeats) {
    auto& own = *impl_;
    // what an earlier variant left is no result
    cuda::check(cudaMemsetAsync(own.potentials.data(), 0xff, own.potentials.bytes(), own.stream.get()),
                "clearing");
    const auto all = launches(variant, own.device_problem);
    const int in_a_row = all.size() > 100 ? 1 : 8;
    std::vector<double> times;
    for (int run = -1; run < repeats; ++run) {
        cuda::Event start, end;
        start.record(own.stream);
        for (int n = 0; n < in_a_row; ++n)
            for (const auto& launch : all) enqueue(launch, own.device_problem, own.stream.get());
        end.record(own.stream);
        const double time = cuda::Event::milliseconds(start, end) / in_a_row;
        if (run >= 0) times.push_back(time);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

cuda::RungResources EvaluationRuns::resources(Variant variant) const {
    const auto launch = launches(variant, impl_->device_problem).front();
    cudaFuncAttributes attributes{};
    cuda::check(cudaFuncGetAttributes(&attributes, launch.function), "reading the properties of a kernel");
    cuda::RungResources found{.registers = attributes.numRegs,
                              .shared_bytes = static_cast<int>(attributes.sharedSizeBytes),
                              .local_bytes = static_cast<int>(attributes.localSizeBytes),
                              .threads = static_cast<int>(launch.threads)};
    cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found.blocks, launch.function, found.threads,
                                                              std::size_t{0}),
                "counting the blocks of a kernel");
    return found;
}

std::string EvaluationRuns::kernel_name(Variant variant) const {
    const char* name = nullptr;
    cuda::check(cudaFuncGetName(&name, launches(variant, impl_->device_problem).front().function),
                "naming a kernel");
    return name;
}

std::vector<float> EvaluationRuns::fetch() const {
    std::vector<float> potentials(impl_->potentials.size());
    cuda::copy(potentials.data(), static_cast<const float*>(impl_->potentials.data()), potentials.size(),
               impl_->stream.get());
    impl_->stream.synchronize();
    return potentials;
}

} // namespace farfield::hermite
