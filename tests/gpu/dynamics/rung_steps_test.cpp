// Whole steps by each rung of the ladder: `force.variant`. Tolerances as in step_paths_test.cpp; the ladder's
// sums in float are long, √n u, which for 700 bodies is 26 u as well.
#include "support.h"

#include "dynamics/cuda/device_motion.h"
#include "gpu/sizes.h"
#include "sums/direct/cuda/rungs.h"

#include <farfield/error.h>

#include <algorithm>
#include <string>

namespace farfield::cuda {

void PrintTo(const RungInfo& info, std::ostream* out); // direct_cuda_test.cpp

} // namespace farfield::cuda

namespace farfield {
namespace {

using namespace test;
using cuda::DeviceMotion;
using cuda::MotionSetup;
using cuda::Rung;

class EachRungStep : public testing::TestWithParam<cuda::RungInfo> {
protected:
    static bool computes(Precision precision) {
        return precision == Precision::float32 ||
               (!GetParam().float_field && (precision == Precision::float64 || GetParam().mixed));
    }
    static int bodies() { return GetParam().rung == Rung::one_thread ? 60 : gpu_test::sized(700, 300); }
    static MotionSetup setup(Precision precision, const Bodies& bodies) {
        MotionSetup setup;
        setup.softening = 0.05;
        setup.precision = precision;
        setup.frame = choose_frame(bodies.position, {}, 0.05);
        setup.variant = cuda::variant_of(GetParam().rung);
        return setup;
    }
};

TEST_P(EachRungStep, MovesBodiesAsTheCpuDoes) {
    NEEDS_GPU();
    for (const auto precision : {Precision::float32, Precision::float64, Precision::mixed}) {
        if (!computes(precision)) continue;
        SCOPED_TRACE(name_of(precision));
        const auto start = crowd(bodies(), 11);
        auto force = on_gpu(precision);
        force.variant = cuda::variant_of(GetParam().rung);
        const TimeOptions time{.step = 1.0 / 256, .end = 20.0 / 256};
        Simulation on_a_gpu(start, force, time);
        auto reference = on_cpu(on_gpu());
        Simulation cpu(start, reference, time);
        on_a_gpu.advance_to(1.0);
        cpu.advance_to(1.0);
        const double allowed = precision == Precision::float64 ? 1e-13 : 4e-6;
        EXPECT_LE(relative_difference(on_a_gpu.bodies().position, cpu.bodies().position), allowed);
        EXPECT_LE(relative_difference(on_a_gpu.bodies().velocity, cpu.bodies().velocity), allowed);
    }
}

TEST_P(EachRungStep, SaysWhichItIs) {
    NEEDS_GPU();
    const auto start = crowd(33, 11);
    DeviceMotion motion(setup(Precision::float32, start), start);
    EXPECT_EQ(motion.variant(), cuda::variant_of(GetParam().rung));
    EXPECT_NE(motion.path(), cuda::StepPath::persistent);
}

// The sums' share of a step; 0.999 and more are for sizes of the slides, which `reproduce ladder` measures.
TEST_P(EachRungStep, TimesItsSums) {
    NEEDS_GPU();
    const auto start = crowd(bodies(), 11);
    auto timed = setup(Precision::float32, start);
    timed.times_sums = true;
    DeviceMotion motion(timed, start);
    const double whole = motion.time_steps(3, 1.0 / 256), sums = motion.sum_milliseconds();
    EXPECT_GT(sums, 0.0);
    EXPECT_LT(sums, whole);
    EXPECT_EQ(motion.sum_milliseconds(), 0.0); // told once
}

std::string name_of_rung(const testing::TestParamInfo<cuda::RungInfo>& info) {
    std::string name(info.param.name);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Ladder, EachRungStep, testing::ValuesIn(cuda::rungs().begin(), cuda::rungs().end()),
                         name_of_rung);

TEST(RungSteps, AreRefusedOnSeveralGpus) {
    NEEDS_GPU();
    const auto start = crowd(33, 11);
    MotionSetup setup;
    setup.devices = {0, 0};
    setup.precision = Precision::float32;
    setup.frame = choose_frame(start.position, {}, 0.05);
    setup.variant = Variant::flush;
    EXPECT_THROW(DeviceMotion(setup, start), InvalidArgument);
}

} // namespace
} // namespace farfield
