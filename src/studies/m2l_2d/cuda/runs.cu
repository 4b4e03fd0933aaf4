#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"
#include "studies/m2l_2d/cuda/device_problem.cuh"

#include <farfield/error.h>

#include <algorithm>
#include <complex>

namespace farfield::m2l2d {
namespace {

constexpr int launches_in_a_row = 8;

std::vector<Value> in_float(const std::vector<Number>& numbers) {
    std::vector<Value> out;
    out.reserve(numbers.size());
    for (const auto& number : numbers)
        out.push_back({static_cast<float>(number.re), static_cast<float>(number.im)});
    return out;
}

template <class T>
cuda::DeviceArray<T> on_gpu(const std::vector<T>& values, const cuda::Stream& stream) {
    cuda::DeviceArray<T> out(values.size());
    cuda::copy(out.data(), values.data(), values.size(), stream.get());
    return out;
}
cuda::DeviceArray<Value> on_gpu(const std::vector<Number>& numbers, const cuda::Stream& stream) {
    return on_gpu(in_float(numbers), stream);
}

void enqueue(const Launch& launch, DeviceProblem problem, cudaStream_t stream) {
    void* arguments[] = {&problem};
    cuda::check(cudaLaunchKernel(launch.function, launch.blocks, launch.threads, arguments,
                                 static_cast<std::size_t>(launch.shared_bytes), stream),
                "launching translations");
}

// A kernel that asks for more shared memory than any GPU gives unasked.
void prepare(const Launch& launch) {
    if (launch.shared_bytes > 0)
        cuda::check(cudaFuncSetAttribute(launch.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         launch.shared_bytes),
                    "preparing a kernel");
}

// Milliseconds of one of several in a row; the first row warms up.
template <class Work>
double median_milliseconds(const cuda::Stream& stream, int repeats, int in_a_row, const Work& work) {
    std::vector<double> times;
    for (int run = -1; run < repeats; ++run) {
        cuda::Event start, end;
        start.record(stream);
        for (int n = 0; n < in_a_row; ++n) work();
        end.record(stream);
        const double time = cuda::Event::milliseconds(start, end) / in_a_row;
        if (run >= 0) times.push_back(time);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

} // namespace

struct TranslationRuns::Impl {
    explicit Impl(const Problem& problem)
        : terms(problem.terms), depth(problem.depth), by_box(on_gpu(problem.field, stream)),
          in_group(on_gpu(in_groups(problem.potential, terms, depth), stream)), locals(in_group.size()),
          written(in_group.size() * list_size), powers(on_gpu(offset_powers(terms), stream)),
          logs(on_gpu(offset_logs(), stream)), operands(on_gpu(tensor_operands(terms), stream)) {
        stream.synchronize();
    }

    [[nodiscard]] DeviceProblem problem_of(Form form) {
        return {depth,          form == Form::paper ? by_box.data() : in_group.data(),
                written.data(), locals.data(),
                powers.data(),  logs.data(),
                operands.data()};
    }
    [[nodiscard]] Launch launch_of(Variant variant, bool is_fused) const {
        if (variant == Variant::staged) return staged_launch(terms, depth);
        if (variant == Variant::tensor) return tensor_launch(terms, depth);
        if (info_of(variant).form == Form::paper) return paper_launch(variant, terms, depth);
        return is_fused ? gather_launch(variant, terms, depth) : spread_launch(variant, terms, depth);
    }
    double timed(const Launch& launch, Form form, int repeats) {
        prepare(launch);
        const auto problem = problem_of(form);
        return median_milliseconds(stream, repeats, launches_in_a_row,
                                   [&] { enqueue(launch, problem, stream.get()); });
    }

    cuda::Stream stream; // first: the arrays are filled in its order
    int terms, depth;
    cuda::DeviceArray<Value> by_box, in_group, locals, written, powers, logs;
    cuda::DeviceArray<TensorOperand> operands;
    Form form = Form::paper; ///< of the last run
};

TranslationRuns::TranslationRuns(const Problem& problem) {
    if (std::find(terms_measured.begin(), terms_measured.end(), problem.terms) == terms_measured.end())
        throw InternalError("a number of terms without kernels");
    impl_ = std::make_unique<Impl>(problem);
}
TranslationRuns::TranslationRuns(TranslationRuns&&) noexcept = default;
TranslationRuns& TranslationRuns::operator=(TranslationRuns&&) noexcept = default;
TranslationRuns::~TranslationRuns() = default;

TranslationTime TranslationRuns::write_all(Variant variant, int repeats) {
    auto& own = *impl_;
    own.form = info_of(variant).form;
    // what an earlier variant left is no result
    cuda::check(cudaMemsetAsync(own.written.data(), 0xff, own.written.bytes(), own.stream.get()), "clearing");
    TranslationTime time;
    time.kernel = own.timed(own.launch_of(variant, false), own.form, repeats);
    time.reduction = own.timed(own.form == Form::paper ? paper_reduction(own.terms, own.depth)
                                                       : groups_reduction(own.terms, own.depth),
                               own.form, repeats);
    return time;
}

double TranslationRuns::fused(Variant variant, int repeats) {
    if (!info_of(variant).fuses) throw InternalError("a variant that does not fuse");
    auto& own = *impl_;
    own.form = info_of(variant).form;
    cuda::check(cudaMemsetAsync(own.locals.data(), 0xff, own.locals.bytes(), own.stream.get()), "clearing");
    return own.timed(own.launch_of(variant, true), own.form, repeats);
}

TransferTime TranslationRuns::transfers(int repeats) {
    auto& own = *impl_;
    const auto size = own.by_box.size();
    cuda::PinnedArray<Value> host(size);
    cuda::DeviceArray<Value> to(size);
    const auto timed = [&](Value* out, const Value* in) {
        return median_milliseconds(own.stream, repeats, 1,
                                   [&] { cuda::copy(out, in, size, own.stream.get()); });
    };
    std::fill(host.data(), host.data() + size, Value{1.0f, 1.0f});
    const double in = timed(to.data(), host.data());
    return {in, timed(host.data(), own.locals.data())};
}

double TranslationRuns::fill(int repeats) {
    auto& own = *impl_;
    return median_milliseconds(own.stream, repeats, launches_in_a_row, [&] {
        cuda::check(cudaMemsetAsync(own.written.data(), 0, own.written.bytes(), own.stream.get()),
                    "filling memory");
    });
}

cuda::RungResources TranslationRuns::resources(Variant variant, bool is_fused) const {
    const auto launch = impl_->launch_of(variant, is_fused);
    prepare(launch);
    cudaFuncAttributes attributes{};
    cuda::check(cudaFuncGetAttributes(&attributes, launch.function), "reading the properties of a kernel");
    const auto threads = static_cast<int>(launch.threads.x * launch.threads.y * launch.threads.z);
    cuda::RungResources found{.registers = attributes.numRegs,
                              .shared_bytes =
                                  static_cast<int>(attributes.sharedSizeBytes) + launch.shared_bytes,
                              .local_bytes = static_cast<int>(attributes.localSizeBytes),
                              .threads = threads};
    cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found.blocks, launch.function, threads,
                                                              static_cast<std::size_t>(launch.shared_bytes)),
                "counting the blocks of a kernel");
    return found;
}

std::string TranslationRuns::kernel_name(Variant variant, bool is_fused) const {
    const char* name = nullptr;
    cuda::check(cudaFuncGetName(&name, impl_->launch_of(variant, is_fused).function), "naming a kernel");
    return name;
}

std::vector<Number> TranslationRuns::fetch() const {
    auto& own = *impl_;
    std::vector<Value> values(own.locals.size());
    cuda::copy(values.data(), own.locals.data(), values.size(), own.stream.get());
    own.stream.synchronize();
    std::vector<Number> numbers;
    numbers.reserve(values.size());
    for (const auto& value : values) numbers.push_back({value.re, value.im});
    return own.form == Form::paper ? numbers : by_boxes(numbers, own.terms, own.depth);
}

double rated_memory_bytes() {
    int device = 0, kilohertz = 0, bits = 0;
    cuda::check(cudaGetDevice(&device), "finding the current GPU");
    cuda::check(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, device), "asking the GPU");
    cuda::check(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device), "asking the GPU");
    return 2e3 * kilohertz * bits / 8; // both edges of the clock
}

} // namespace farfield::m2l2d
