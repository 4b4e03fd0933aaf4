// What CUDA's errors become, with made-up errors and versions: in a build with CUDA, on any machine.
#include "backend/cuda/messages.h"

#include "backend/cuda/check.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

#include <string>

namespace farfield::cuda {
namespace {

void expect_words(const std::string& text, std::initializer_list<const char*> words) {
    for (const auto* word : words) EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST(CudaMessages, StartupSaysWhatIsWrong) {
    EXPECT_EQ(startup_problem({.driver = 13000, .runtime = 13000, .count = 2}), "");
    // an older driver of the same major version runs the program
    EXPECT_EQ(startup_problem({.driver = 12020, .runtime = 12040, .count = 1}), "");
    expect_words(startup_problem({}), {"no NVIDIA driver", "--device cpu"});
    expect_words(startup_problem({.driver = 11080, .runtime = 13010, .status = cudaErrorInsufficientDriver}),
                 {"too old", "11.8", "13.1", "update the driver"});
    expect_words(startup_problem({.driver = 13000, .runtime = 13000, .status = cudaErrorNoDevice}),
                 {"no CUDA device", "CUDA_VISIBLE_DEVICES"});
    expect_words(startup_problem({.driver = 13000, .runtime = 13000, .count = 0}), {"no CUDA device"});
    expect_words(startup_problem({.driver = 13000, .runtime = 13000, .status = cudaErrorSystemNotReady}),
                 {"CUDA does not start", "nvidia-smi"});
}

TEST(CudaMessages, BytesReadAsPeopleCount) {
    EXPECT_EQ(bytes_text(0), "0 bytes");
    EXPECT_EQ(bytes_text(1023), "1023 bytes");
    EXPECT_EQ(bytes_text(1024), "1.00 KiB (1024 bytes)");
    EXPECT_EQ(bytes_text(3221225472), "3.00 GiB (3221225472 bytes)");
    EXPECT_EQ(bytes_text(std::size_t{1} << 52), "4096.00 TiB (4503599627370496 bytes)");
}

TEST(CudaMessages, FullMemoryNamesBytesAndRemedy) {
    expect_words(error_text(cudaErrorMemoryAllocation, "allocating " + bytes_text(3221225472) + " on the GPU",
                            {.free = 1073741824, .total = 8589934592}),
                 {"allocating 3.00 GiB", "3221225472", "cudaErrorMemoryAllocation", "1.00 GiB", "of 8.00 GiB",
                  "fewer points"});
}

template <class Thrown>
std::string thrown(cudaError_t status) {
    try {
        check(status, "adding up");
    } catch (const Thrown& error) {
        return error.what();
    }
    ADD_FAILURE() << "not thrown for " << cudaGetErrorName(status);
    return {};
}

TEST(CudaCheck, ThrowsWhatTheErrorMeans) {
    EXPECT_NO_THROW(check(cudaSuccess, "adding up"));
    expect_words(thrown<DeviceError>(cudaErrorMemoryAllocation), {"adding up", "memory is full"});
    for (const auto lost : {cudaErrorECCUncorrectable, cudaErrorLaunchFailure, cudaErrorIllegalAddress,
                            cudaErrorNvlinkUncorrectable, cudaErrorUnknown})
        expect_words(thrown<DeviceError>(lost), {"adding up", "lost", "checkpoint", cudaGetErrorName(lost)});
    expect_words(thrown<BackendUnavailable>(cudaErrorInsufficientDriver), {"update the NVIDIA driver"});
    expect_words(thrown<BackendUnavailable>(cudaErrorNoKernelImageForDevice), {"CMAKE_CUDA_ARCHITECTURES"});
    expect_words(thrown<BackendUnavailable>(cudaErrorDevicesUnavailable), {"another GPU"});
}

} // namespace
} // namespace farfield::cuda
