// The spelling of devices.
#include <farfield/device.h>
#include <farfield/error.h>

#include <gtest/gtest.h>

namespace farfield {
namespace {

TEST(DeviceChoice, ReadsWhatItWrites) {
    for (const auto* name : {"auto", "cpu", "cuda", "cuda:1", "cuda:0,1", "cuda:0,0,0"})
        EXPECT_EQ(name_of(device_from_name(name)), name);
    EXPECT_EQ(device_from_name("cuda:0,12").gpus, (std::vector<int>{0, 12}));
    EXPECT_TRUE(device_from_name("cuda").gpus.empty());
}

TEST(DeviceChoice, RefusesOtherSpellings) {
    for (const auto* name :
         {"", "gpu", "CUDA", "cuda:", "cuda:-1", "cuda:1,", "cuda:,1", "cuda:a", "cuda:0 1", "cpu:0"})
        EXPECT_THROW(device_from_name(name), InvalidArgument) << name;
}

TEST(DeviceChoice, HasGpusOrAReason) { EXPECT_EQ(gpus().empty(), !why_no_gpu().empty()); }

} // namespace
} // namespace farfield
