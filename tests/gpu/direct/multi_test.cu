// Sums divided among GPUs: the same bits for any number of parts, either design and every exchange, and right
// ones. The GPUs are one GPU named several times and, on a machine that has more, these.
#include "backend/cuda/devices.h"
#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"
#include "exact.h"
#include "gpu/needs_gpu.h"
#include "gpu/sizes.h"
#include "sums/direct/cuda/several/engine.cuh"

#include <farfield/error.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace farfield::cuda {
namespace {

using gpu_test::Cloud;

constexpr double softening = 0.01;

template <class PointType>
std::vector<PointType> packed(const Cloud& cloud) {
    using Real = typename PointType::real;
    std::vector<PointType> points(cloud.strengths.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        const double *x = &cloud.points[3 * i], q = cloud.strengths[i];
        points[i].at = {static_cast<Real>(x[0]), static_cast<Real>(x[1]), static_cast<Real>(x[2]),
                        static_cast<Real>(q)};
        if constexpr (std::is_same_v<PointType, MixedPoint>)
            points[i].low = {static_cast<float>(x[0] - static_cast<double>(points[i].at.x)),
                             static_cast<float>(x[1] - static_cast<double>(points[i].at.y)),
                             static_cast<float>(x[2] - static_cast<double>(points[i].at.z)), 0.0F};
    }
    return points;
}

// Moves a part's own points along their sums, so that the next step depends on the sums of all parts.
template <class PointType>
__global__ void move_kernel(PointType* points, const Vec4<typename PointType::real>* sums, int begin,
                            int end) {
    const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (begin + k >= end) return;
    auto& at = points[begin + k].at;
    const auto sum = sums[k];
    const typename PointType::real step = 0.0009765625f;
    at.x += step * sum.x, at.y += step * sum.y, at.z += step * sum.z;
}

template <class PointType>
using Sums = std::vector<Vec4<typename PointType::real>>;

// Sums after `steps` steps that are all queued before the first is done.
template <class PointType>
Sums<PointType> sums_after(const Cloud& cloud, EngineOptions options, int steps) {
    options.n = static_cast<int>(cloud.strengths.size());
    options.softening = softening;
    const auto points = packed<PointType>(cloud);
    SumEngine<PointType> engine(options);
    engine.for_each_part([&](EnginePart<PointType>& part) {
        copy(part.points + part.begin, points.data() + part.begin,
             static_cast<std::size_t>(part.end - part.begin), part.stream);
    });
    engine.compute();
    for (int step = 1; step < steps; ++step) {
        engine.for_each_part([&](EnginePart<PointType>& part) {
            if (part.begin == part.end) return;
            const auto blocks = static_cast<unsigned>((part.end - part.begin + 127) / 128);
            move_kernel<<<blocks, 128, 0, part.stream>>>(part.points, part.sums, part.begin, part.end);
            check_launch("moving points");
        });
        engine.compute();
    }
    Sums<PointType> sums(points.size());
    engine.synchronize();
    engine.for_each_part([&](EnginePart<PointType>& part) {
        copy(sums.data() + part.begin, part.sums, static_cast<std::size_t>(part.end - part.begin),
             part.stream);
    });
    engine.synchronize();
    return sums;
}

template <class PointType>
bool same_bits(const Sums<PointType>& a, const Sums<PointType>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
}

// GPUs for 2, 3, 4 and 7 parts on the first one; on a machine with more, also on all of them, in other orders
// too.
std::vector<std::vector<int>> device_lists() {
    std::vector<std::vector<int>> lists;
    for (std::size_t parts : {2, 3, 4, 7}) lists.emplace_back(parts, 0);
    const int count = static_cast<int>(devices().size());
    if (count > 1) {
        std::vector<int> all(static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) all[static_cast<std::size_t>(i)] = i;
        lists.push_back(all);
        lists.push_back({1, 0});
        lists.push_back({0, 1, 0, 1, 1});
    }
    return lists;
}

std::string text_of(const EngineOptions& options) {
    std::string text(name_of(options.multi_gpu));
    text.append(" ").append(name_of(options.exchange)).append(" on");
    for (int device : options.devices) text.append(" ").append(std::to_string(device));
    return text;
}

constexpr Exchange exchanges[] = {Exchange::host, Exchange::mapped, Exchange::write_combined, Exchange::peer};

template <class PointType>
class SeveralGpus : public testing::Test {};
using PointTypes = testing::Types<Point<float>, Point<double>, MixedPoint>;
TYPED_TEST_SUITE(SeveralGpus, PointTypes);

template <class PointType>
void expect_the_bits_of_one(std::size_t n) {
    for (const Rung rung : {Rung::symmetric, Rung::register_tile}) {
        const auto cloud = gpu_test::plummer(n, n, true);
        const auto one = sums_after<PointType>(cloud, {.rung = rung}, 3);
        for (const auto& list : device_lists())
            for (const MultiGpu design : {MultiGpu::threads, MultiGpu::single})
                for (const Exchange exchange : exchanges) {
                    const EngineOptions options{
                        .devices = list, .multi_gpu = design, .exchange = exchange, .rung = rung};
                    EXPECT_TRUE(same_bits<PointType>(sums_after<PointType>(cloud, options, 3), one))
                        << "n=" << n << " " << info_of(rung).name << " " << text_of(options);
                }
    }
}

TYPED_TEST(SeveralGpus, HaveTheBitsOfOneForFewBodies) {
    NEEDS_GPU();
    for (std::size_t n : {1, 5, 1000}) expect_the_bits_of_one<TypeParam>(n);
}

TYPED_TEST(SeveralGpus, HaveTheBitsOfOneForManyBodies) {
    NEEDS_GPU();
    NEEDS_LARGE();
    for (std::size_t n : {16384, 50001}) expect_the_bits_of_one<TypeParam>(n);
}

// Tolerances as in direct_cuda_test.cpp, for sums kept short.
TYPED_TEST(SeveralGpus, AreRight) {
    NEEDS_GPU();
    const bool in_double = std::is_same_v<TypeParam, Point<double>>;
    const double allowed = in_double ? 1.1e-16 * 36 : 6e-8 * 26;
    for (std::size_t n : gpu_test::sizes_up_to(1000, {2, 5, 1000, 50001})) {
        const auto cloud = gpu_test::plummer(n, 3, std::is_same_v<TypeParam, Point<float>>);
        const auto rows = gpu_test::sample_rows(n, 256);
        const auto exact = gpu_test::exact_rows(cloud, cloud.points, true, softening, rows);
        for (const Rung rung : {Rung::symmetric, Rung::register_tile}) {
            const auto sums = sums_after<TypeParam>(cloud, {.devices = {0, 0, 0}, .rung = rung}, 1);
            std::vector<double> potential, field;
            for (const auto& sum : sums) {
                potential.push_back(static_cast<double>(sum.w));
                field.insert(field.end(), {static_cast<double>(sum.x), static_cast<double>(sum.y),
                                           static_cast<double>(sum.z)});
            }
            SCOPED_TRACE(testing::Message() << "n=" << n << " " << info_of(rung).name);
            EXPECT_LE(gpu_test::relative_error(potential, exact.potential, rows, 1, 1.0), allowed);
            EXPECT_LE(gpu_test::relative_error(field, exact.field, rows, 3, 1.0), allowed);
        }
    }
}

TYPED_TEST(SeveralGpus, GiveEachOutputAlone) {
    NEEDS_GPU();
    const auto cloud = gpu_test::plummer(9000, 7, true);
    const auto both = sums_after<TypeParam>(cloud, {.devices = {0, 0}}, 1);
    const auto field = sums_after<TypeParam>(cloud, {.devices = {0, 0}, .outputs = field_only}, 1);
    const auto potential = sums_after<TypeParam>(cloud, {.devices = {0, 0}, .outputs = potential_only}, 1);
    const double close = std::is_same_v<TypeParam, Point<double>> ? 1e-13 : 1e-5;
    for (std::size_t i = 0; i < both.size(); ++i) {
        const double size = static_cast<double>(std::abs(both[i].x)) + 1e-3;
        EXPECT_NEAR(static_cast<double>(field[i].x), static_cast<double>(both[i].x), close * size);
        EXPECT_EQ(static_cast<double>(field[i].w), 0.0);
        EXPECT_NEAR(static_cast<double>(potential[i].w), static_cast<double>(both[i].w),
                    close * static_cast<double>(both[i].w));
        EXPECT_EQ(static_cast<double>(potential[i].x), 0.0);
    }
}

// The symmetric sum of 1.5 million bodies takes several workspaces, those of a part as well.
TEST(SumEngine, HasTheSameBitsInSeveralWorkspaces) {
    NEEDS_GPU();
    NEEDS_LARGE();
    const auto cloud = gpu_test::plummer(1500001, 1, true);
    const auto one = sums_after<Point<float>>(cloud, {.outputs = field_only}, 1);
    const auto three = sums_after<Point<float>>(cloud, {.devices = {0, 0, 0}, .outputs = field_only}, 1);
    EXPECT_TRUE(same_bits<Point<float>>(one, three));
}

TEST(SumEngine, CanBeRecordedWithOnePart) {
    NEEDS_GPU();
    for (const Rung rung : {Rung::symmetric, Rung::register_tile}) {
        const auto cloud = gpu_test::plummer(4096, 2, false);
        const auto points = packed<Point<double>>(cloud);
        SumEngine<Point<double>> engine({.n = 4096, .softening = softening, .rung = rung});
        auto& part = engine.parts()[0];
        copy(part.points, points.data(), points.size(), part.stream);
        check(cudaStreamBeginCapture(part.stream, cudaStreamCaptureModeThreadLocal), "recording");
        engine.compute();
        cudaGraph_t graph = nullptr;
        check(cudaStreamEndCapture(part.stream, &graph), "recording");
        cudaGraphExec_t executable = nullptr;
        check(cudaGraphInstantiate(&executable, graph, 0), "building a graph");
        check(cudaGraphLaunch(executable, part.stream), "launching a graph");
        Sums<Point<double>> sums(points.size());
        copy(sums.data(), part.sums, sums.size(), part.stream);
        engine.synchronize();
        cudaGraphExecDestroy(executable);
        cudaGraphDestroy(graph);
        EXPECT_TRUE(same_bits<Point<double>>(sums, sums_after<Point<double>>(cloud, {.rung = rung}, 1)));
    }
}

TEST(SumEngine, RethrowsWhatAPartThrows) {
    NEEDS_GPU();
    for (const MultiGpu design : {MultiGpu::threads, MultiGpu::single}) {
        SumEngine<Point<float>> engine({.devices = {0, 0, 0}, .multi_gpu = design, .n = 10});
        EXPECT_THROW(engine.for_each_part([](EnginePart<Point<float>>& part) {
            if (part.index == 1) throw IoError("part 1");
        }),
                     IoError);
        engine.compute();
        engine.synchronize();
    }
}

TEST(SumEngine, SaysWhatItDoesNotTake) {
    EXPECT_THROW(SumEngine<Point<float>>({.devices = {}}), InvalidArgument);
    EXPECT_THROW(SumEngine<Point<float>>({.devices = std::vector<int>(65, 0)}), InvalidArgument);
    EXPECT_THROW(SumEngine<Point<float>>({.n = -1}), InvalidArgument);
    EXPECT_THROW(SumEngine<Point<float>>({.n = 1, .rung = Rung::flush}), InvalidArgument);
    for (const int missing : {-1, 99}) {
        try {
            SumEngine<Point<float>> engine({.devices = {0, missing}, .n = 10});
            FAIL() << "a sum on cuda:" << missing;
        } catch (const BackendUnavailable& error) {
            if (devices().empty()) {
                EXPECT_EQ(error.what(), why_no_device());
            } else {
                EXPECT_NE(std::string(error.what()).find("no cuda:" + std::to_string(missing)),
                          std::string::npos);
            }
        }
    }
}

TEST(SumEngine, TakesNoBodies) {
    NEEDS_GPU();
    for (const MultiGpu design : {MultiGpu::threads, MultiGpu::single})
        for (const Exchange exchange : exchanges) {
            SumEngine<Point<float>> engine(
                {.devices = {0, 0}, .multi_gpu = design, .exchange = exchange, .n = 0});
            EXPECT_NO_THROW(engine.compute());
            EXPECT_NO_THROW(engine.synchronize());
            ASSERT_EQ(engine.parts().size(), 2U);
            for (const auto& part : engine.parts())
                EXPECT_TRUE(part.begin == 0 && part.end == 0)
                    << name_of(exchange) << ", part " << part.index << " has bodies " << part.begin << " to "
                    << part.end;
        }
}

TEST(SumEngine, NamesTheExchangeTaken) {
    NEEDS_GPU();
    EXPECT_EQ(SumEngine<Point<float>>({.devices = {0, 0}, .n = 5}).options().exchange, Exchange::peer);
}

} // namespace
} // namespace farfield::cuda
