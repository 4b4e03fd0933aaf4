// The first line of a test that needs a GPU: skips the test, with the reason, on a machine without one.
#pragma once

#include <farfield/device.h>

#include <gtest/gtest.h>

#define NEEDS_GPU()                                                                                          \
    if (::farfield::gpus().empty()) GTEST_SKIP() << ::farfield::why_no_gpu()
