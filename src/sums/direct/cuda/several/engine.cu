// SumEngine: the parts, what each of them computes, and who queues it.
#include "sums/direct/cuda/several/engine.cuh"

#include "backend/comm/gpu_messages.h"
#include "backend/cuda/devices.h"
#include "backend/cuda/stream.h"
#include "backend/threads/crew.h"
#include "base/spelling.h"
#include "sums/direct/cuda/launch.cuh"
#include "sums/direct/cuda/several/exchange.cuh"
#include "sums/direct/cuda/several/peer_ranks.cuh"
#include "sums/direct/cuda/several/ranks_exchange.cuh"

#include <farfield/error.h>

#include <string>
#include <utility>

namespace farfield::cuda {

namespace {

EngineOptions checked(const EngineOptions& options) {
    const auto parts =
        options.ranks != nullptr ? static_cast<std::size_t>(options.ranks->size()) : options.devices.size();
    if (options.ranks != nullptr && options.devices.size() != 1)
        throw InvalidArgument(std::to_string(options.devices.size()) + " GPUs for one rank; name one");
    if (parts < 1 || parts > most_groups)
        throw InvalidArgument(std::to_string(parts) + " GPUs for one sum; name 1 to " +
                              std::to_string(most_groups));
    if (options.n < 0)
        throw InvalidArgument(std::to_string(options.n) + " bodies; the number must be at least 0");
    if (options.rung != Rung::symmetric && options.rung != Rung::register_tile)
        throw InvalidArgument(spelled("variant", info_of(options.rung).name) +
                              " cannot be divided among GPUs; use 'symmetric' or 'register-tile'");
    return options;
}

// Leaves the calling thread with the GPU that it had; without a driver it had none.
class KeepDevice {
public:
    KeepDevice() {
        if (cudaGetDevice(&device_) != cudaSuccess) device_ = -1, cudaGetLastError();
    }
    ~KeepDevice() {
        if (device_ >= 0) cudaSetDevice(device_);
    }
    KeepDevice(const KeepDevice&) = delete;
    KeepDevice& operator=(const KeepDevice&) = delete;

private:
    int device_ = -1;
};

} // namespace

template <class PointType>
struct SumEngine<PointType>::Impl {
    using Real = typename PointType::real;

    // The memory of one part. Built, and used, with its GPU current.
    struct Part {
        DeviceArray<PointType> points;
        DeviceArray<Vec4<Real>> sums;
        DeviceArray<Vec4<double>> stack;
        Workspace workspace;
        Share share;
        PointTask<PointType> task;
        std::vector<const Vec4<double>*> subtrees; ///< of all parts, for its bodies
        Stream stream;
    };

    explicit Impl(const EngineOptions& the_options) : options(checked(the_options)) {
        const KeepDevice keep;
        for (int device : options.devices) use_device(device); // all there?
        if (options.ranks != nullptr) {
            prepare_rank(*options.ranks);
            return;
        }
        const int count = static_cast<int>(options.devices.size());
        options.exchange = usable_exchange(options.exchange, options.devices);
        for (int p = 0; p < count; ++p) add_part(p, p, count);
        if (count == 1) return;
        std::vector<ExchangePart> exchanged;
        for (const auto& each : parts) {
            exchanged.push_back(exchanged_part(each));
            const auto& own = memory[static_cast<std::size_t>(each.index)].share.subtrees;
            subtrees.insert(subtrees.end(), own.begin(), own.end());
        }
        exchange = std::make_unique<PartsExchange>(options.exchange, options.n, sizeof(PointType), exchanged);
        for (int p = 0; p < count; ++p)
            memory[static_cast<std::size_t>(p)].subtrees = exchange->subtrees_for(p);
        if (options.multi_gpu == MultiGpu::threads) crew = std::make_unique<Crew>(count);
    }

    ExchangePart exchanged_part(const EnginePart<PointType>& each) {
        auto& part = memory[static_cast<std::size_t>(each.index)];
        return {.device = each.device,
                .begin = each.begin,
                .end = each.end,
                .points = reinterpret_cast<std::byte*>(each.points),
                .stack = part.stack.data(),
                .subtrees = static_cast<int>(part.share.subtrees.size()),
                .stream = each.stream};
    }

    // What the other ranks have follows from their numbers.
    void prepare_rank(comm::Transport& ranks) {
        const int count = ranks.size();
        add_part(0, ranks.rank(), count);
        std::vector<int> begins{0}, counts;
        for (int p = 0; p < count; ++p) {
            begins.push_back(interval_of_part(options.n, p, count).end);
            const auto of_part = options.rung == Rung::symmetric && options.n > 0
                                     ? symmetric_share<PointType>(options.n, p, count).subtrees
                                     : std::vector<Subtree>();
            counts.push_back(static_cast<int>(of_part.size()));
            subtrees.insert(subtrees.end(), of_part.begin(), of_part.end());
        }
        const auto own = exchanged_part(parts.front());
        const bool sends_gpu_memory = comm::sends_gpu_memory(ranks, options.mpi_gpu);
        const bool may_read = options.exchange == Exchange::automatic || options.exchange == Exchange::peer;
        if (may_read) exchange = PeerRanks::open(ranks, sizeof(PointType), own, begins, counts);
        if (exchange == nullptr && options.exchange == Exchange::peer && options.n > 0)
            throw BackendUnavailable(
                "the GPUs of these ranks cannot read each other's memory, which the exchange "
                "'peer' needs; use 'host' or 'auto'");
        options.exchange = exchange != nullptr ? Exchange::peer : Exchange::host;
        if (exchange == nullptr)
            exchange = std::make_unique<RanksExchange>(ranks, sizeof(PointType), own, std::move(begins),
                                                       std::move(counts), sends_gpu_memory);
        memory.front().subtrees = exchange->subtrees_for(0);
    }

    /// @param index  among the parts of this process, p among all
    void add_part(int index, int p, int count) {
        const int device = options.devices[static_cast<std::size_t>(index)];
        const auto range = interval_of_part(options.n, p, count);
        const auto n = static_cast<std::size_t>(options.n);
        use_device(device);
        Part part;
        part.points = DeviceArray<PointType>(n);
        part.sums = DeviceArray<Vec4<Real>>(static_cast<std::size_t>(range.size()));
        part.task = {.sources = part.points.data(),
                     .targets = part.points.data(),
                     .n_sources = options.n,
                     .n_targets = options.n,
                     .softening2 = static_cast<Real>(options.softening * options.softening),
                     .outputs = options.outputs,
                     .sums = part.sums.data()};
        if (n > 0) prepare(part, range, p, count);
        parts.push_back({.index = index,
                         .device = device,
                         .begin = range.begin,
                         .end = range.end,
                         .points = part.points.data(),
                         .sums = part.sums.data(),
                         .stream = part.stream.get()});
        memory.push_back(std::move(part));
    }

    void prepare(Part& part, Interval range, int p, int count) {
        // In the stream of the part: it does not wait for the default stream, in which a late clearing would
        // meet points that have been written.
        check(cudaMemsetAsync(part.points.data(), 0, part.points.bytes(), part.stream.get()),
              "clearing the points");
        if (options.rung == Rung::symmetric) {
            part.share = symmetric_share<PointType>(options.n, p, count);
            part.stack = DeviceArray<Vec4<double>>(static_cast<std::size_t>(part.share.depth) *
                                                   static_cast<std::size_t>(options.n));
            prepare_symmetric(part.task, part.share, part.workspace);
            return;
        }
        part.task.targets += range.begin;
        part.task.first_target = range.begin;
        part.task.n_targets = range.size();
        part.task.all_targets = options.n;
        if (range.size() > 0) prepare_register_tile(part.task, part.workspace);
    }

    // The sums of one part, or those of its subtrees.
    void launch(Part& part) {
        if (options.rung == Rung::symmetric)
            launch_symmetric_share(part.task, part.share, part.workspace, part.stack.data(),
                                   part.stream.get());
        else if (part.task.n_targets > 0)
            launch_register_tile(part.task, part.workspace, part.stream.get());
    }

    // Register tiles need the others' points alone: once they are here, the others may overwrite them.
    void take_points_and_launch(int p) {
        auto& part = memory[static_cast<std::size_t>(p)];
        exchange->take_points(p);
        if (options.rung == Rung::register_tile) exchange->offer_subtrees(p);
        launch(part);
        if (options.rung == Rung::symmetric) exchange->offer_subtrees(p);
    }

    void take_subtrees(int p) {
        auto& part = memory[static_cast<std::size_t>(p)];
        exchange->take_subtrees(p);
        if (options.rung == Rung::symmetric)
            launch_subtrees(part.subtrees, subtrees, static_cast<int>(part.sums.size()), part.sums.data(),
                            part.stream.get());
    }

    void on_parts(const std::function<void(int)>& work) {
        const auto with_device = [&](int p) {
            check(cudaSetDevice(options.devices[static_cast<std::size_t>(p)]), "selecting a GPU");
            work(p);
        };
        if (crew != nullptr) return crew->run(with_device);
        const KeepDevice keep;
        for (int p = 0; p < static_cast<int>(parts.size()); ++p) with_device(p);
    }

    EngineOptions options;
    std::vector<Part> memory;
    std::vector<EnginePart<PointType>> parts;
    std::vector<Subtree> subtrees; ///< of all parts
    std::unique_ptr<StepExchange> exchange;
    std::unique_ptr<Crew> crew;
};

template <class PointType>
SumEngine<PointType>::SumEngine(const EngineOptions& options) : impl_(std::make_unique<Impl>(options)) {}
template <class PointType>
SumEngine<PointType>::SumEngine(SumEngine&&) noexcept = default;
template <class PointType>
SumEngine<PointType>& SumEngine<PointType>::operator=(SumEngine&&) noexcept = default;

template <class PointType>
SumEngine<PointType>::~SumEngine() {
    if (impl_ == nullptr) return;
    for (const auto& part : impl_->parts) cudaStreamSynchronize(part.stream);
}

template <class PointType>
const EngineOptions& SumEngine<PointType>::options() const {
    return impl_->options;
}

template <class PointType>
std::span<EnginePart<PointType>> SumEngine<PointType>::parts() {
    return impl_->parts;
}

template <class PointType>
void SumEngine<PointType>::run_on_parts(const std::function<void(int)>& work) {
    impl_->on_parts(work);
}

template <class PointType>
void SumEngine<PointType>::compute() {
    auto& impl = *impl_;
    if (impl.options.n == 0) return;
    if (!impl.exchange) {
        impl.on_parts([&](int p) { impl.launch(impl.memory[static_cast<std::size_t>(p)]); });
        return;
    }
    impl.on_parts([&](int p) { impl.exchange->offer_points(p); });
    impl.on_parts([&](int p) { impl.take_points_and_launch(p); });
    impl.on_parts([&](int p) { impl.take_subtrees(p); });
}

template <class PointType>
void SumEngine<PointType>::synchronize() {
    for (const auto& part : impl_->memory) part.stream.synchronize();
}

template class SumEngine<Point<float>>;
template class SumEngine<Point<double>>;
template class SumEngine<MixedPoint>;

} // namespace farfield::cuda
