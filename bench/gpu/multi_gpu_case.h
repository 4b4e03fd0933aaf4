// One measurement of a sum divided among GPUs, for the bench, which has no CUDA header.
#pragma once

#include "exact.h"

#include <farfield/sum.h>

#include <vector>

namespace farfield::cuda {

struct MultiGpuCase {
    std::vector<int> devices;
    MultiGpu multi_gpu = MultiGpu::threads;
    Exchange exchange = Exchange::peer;
    Precision precision = Precision::float32; ///< or float64
    double softening = 0.01;
    int runs = 5;
};

struct MultiGpuTimes {
    std::vector<double> step_ms;     ///< a run each: points exchanged, sums, partial sums exchanged
    std::vector<double> exchange_ms; ///< the exchanges alone, without sums between them; empty for one GPU
    int steps = 0;                   ///< steps a run, queued without waiting; its time is divided by them
    double exchanged_bytes = 0;      ///< received by each GPU, a step
    std::vector<double> field;       ///< 3N, unsigned; exactly as computed
};

/// Time by the host's clock, from the first step queued to the last GPU's end.
MultiGpuTimes measure(const gpu_test::Cloud& cloud, const MultiGpuCase& bench_case);

} // namespace farfield::cuda
