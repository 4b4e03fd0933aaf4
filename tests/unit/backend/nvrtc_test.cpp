// NVRTC: code for a GPU comes out, mistakes are explained, and products are not contracted. No GPU is needed.
#include "backend/jit/nvrtc.h"

#include "farfield/error.h"

#include <gtest/gtest.h>

#include <string>

namespace farfield::jit {
namespace {

#define FF_NEEDS_NVRTC()                                                                                     \
    if (const auto reason = why_no_nvrtc(); !reason.empty()) GTEST_SKIP() << reason

TEST(nvrtc, compiles_for_an_architecture) {
    FF_NEEDS_NVRTC();
    EXPECT_FALSE(nvrtc_version().empty());
    const auto code = compile_device_code(
        "extern \"C\" __global__ void twice(double* a) { a[threadIdx.x] *= 2; }", "twice.cu", "sm_90");
    ASSERT_GT(code.image.size(), 64U);
    EXPECT_EQ(std::string(code.image.data() + 1, 3), "ELF");
    EXPECT_NE(std::string(code.image.begin(), code.image.end()).find("twice"), std::string::npos);
}

TEST(nvrtc, mistakes_name_the_line) {
    FF_NEEDS_NVRTC();
    try {
        compile_device_code("extern \"C\" __global__ void f() {\n  unknown();\n}", "broken.cu", "sm_90");
        FAIL() << "a broken program was compiled";
    } catch (const CompileError& error) {
        EXPECT_NE(std::string(error.what()).find("broken.cu(2)"), std::string::npos) << error.what();
    }
    EXPECT_THROW(compile_device_code("", "a.cu", "sm_1"), CompileError);
}

// a·b + c must be the code of a product and a sum, and not that of a fused one.
TEST(nvrtc, products_are_not_contracted) {
    FF_NEEDS_NVRTC();
    const auto image = [](const std::string& value) {
        const auto text = "extern \"C\" __global__ void f(double* a) { a[0] = " + value + "; }";
        return compile_device_code(text, "f.cu", "sm_90").image;
    };
    const auto plain = image("a[1] * a[2] + a[3]");
    EXPECT_EQ(plain, image("__dadd_rn(__dmul_rn(a[1], a[2]), a[3])"));
    EXPECT_NE(plain, image("fma(a[1], a[2], a[3])"));
}

} // namespace
} // namespace farfield::jit
