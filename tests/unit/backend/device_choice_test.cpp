// The spelling of devices.
#include <farfield/device.h>
#include <farfield/error.h>

#include <gtest/gtest.h>

#include <string>

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

TEST(DeviceChoice, SuggestsTheNearest) {
    const auto message = [](const char* name) {
        try {
            device_from_name(name);
        } catch (const InvalidArgument& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_NE(message("cud").find("did you mean 'cuda'?"), std::string::npos);
    EXPECT_NE(message("cpuu").find("did you mean 'cpu'?"), std::string::npos);
    EXPECT_NE(message("gpu:1").find("did you mean 'cuda'?"), std::string::npos);
    EXPECT_NE(message("CUDA:1").find("did you mean 'cuda'?"), std::string::npos);
    EXPECT_EQ(message("cuda:x").find("did you mean"), std::string::npos);
    EXPECT_NE(message("cuda:x").find("'cuda:0,1'"), std::string::npos);
}

TEST(DeviceChoice, HasGpusOrAReason) { EXPECT_EQ(gpus().empty(), !why_no_gpu().empty()); }

} // namespace
} // namespace farfield
