// Owned streams, events and graphs.
#pragma once

#include "backend/cuda/check.h"

#include <utility>

namespace farfield::cuda {

/// A handle that is destroyed with its owner.
template <class Handle, cudaError_t (*destroy)(Handle)>
class Owned {
public:
    Owned() = default;
    explicit Owned(Handle handle) : handle_(handle) {}
    Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, Handle{})) {}
    Owned& operator=(Owned&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Owned() {
        if (handle_ != Handle{}) destroy(handle_);
    }
    [[nodiscard]] Handle get() const { return handle_; }

private:
    Handle handle_{};
};

/// A queue of work on the current device; it does not wait for the default stream.
class Stream {
public:
    Stream() {
        cudaStream_t stream = nullptr;
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
        stream_ = Owned<cudaStream_t, cudaStreamDestroy>(stream);
    }
    /// One whose thread blocks go before those of streams that are not urgent.
    static Stream urgent() {
        int least = 0, greatest = 0;
        check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "asking the GPU");
        cudaStream_t stream = nullptr;
        check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest), "creating a stream");
        return Stream(stream);
    }
    [[nodiscard]] cudaStream_t get() const { return stream_.get(); }
    /// Waits until all work so far is done. @throws DeviceError for what went wrong in it.
    void synchronize() const { check(cudaStreamSynchronize(get()), "waiting for the GPU"); }

private:
    explicit Stream(cudaStream_t stream) : stream_(stream) {}

    Owned<cudaStream_t, cudaStreamDestroy> stream_;
};

/// A point in a stream that can be waited for and timed.
class Event {
public:
    Event() {
        cudaEvent_t event = nullptr;
        check(cudaEventCreate(&event), "creating an event");
        event_ = Owned<cudaEvent_t, cudaEventDestroy>(event);
    }
    [[nodiscard]] cudaEvent_t get() const { return event_.get(); }
    void record(const Stream& stream) { record(stream.get()); }
    void record(cudaStream_t stream) { check(cudaEventRecord(get(), stream), "recording an event"); }
    /// Work queued on `stream` from now on waits for this event; nothing where it was never recorded.
    void hold(cudaStream_t stream) const {
        check(cudaStreamWaitEvent(stream, get(), 0), "waiting for another stream");
    }
    void synchronize() const { check(cudaEventSynchronize(get()), "waiting for the GPU"); }

    /// Milliseconds from `start` to `end`, both recorded; waits for `end`.
    static double milliseconds(const Event& start, const Event& end) {
        end.synchronize();
        float elapsed = 0;
        check(cudaEventElapsedTime(&elapsed, start.get(), end.get()), "reading a timer");
        return static_cast<double>(elapsed);
    }

private:
    Owned<cudaEvent_t, cudaEventDestroy> event_;
};

/// A point in a stream of the device current at construction that other streams wait for; not timed.
class Signal {
public:
    Signal() {
        cudaEvent_t event = nullptr;
        check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "creating an event");
        event_ = Owned<cudaEvent_t, cudaEventDestroy>(event);
    }
    void record(cudaStream_t stream) { check(cudaEventRecord(event_.get(), stream), "recording an event"); }
    /// What is queued on `stream` from now on waits for the point last recorded.
    void hold(cudaStream_t stream) const {
        check(cudaStreamWaitEvent(stream, event_.get(), 0), "waiting for another stream");
    }

    /// The host waits for it.
    void synchronize() const { check(cudaEventSynchronize(event_.get()), "waiting for the GPU"); }

private:
    Owned<cudaEvent_t, cudaEventDestroy> event_;
};

/// Work recorded once and launched as one unit.
class Graph {
public:
    /// Records what `enqueue()` puts into `stream`; nothing runs yet.
    template <class Enqueue>
    Graph(const Stream& stream, Enqueue&& enqueue) : Graph(stream.get(), std::forward<Enqueue>(enqueue)) {}
    template <class Enqueue>
    Graph(cudaStream_t stream, Enqueue&& enqueue) {
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "recording a graph");
        cudaGraph_t graph = nullptr;
        try {
            enqueue();
        } catch (...) {
            cudaStreamEndCapture(stream, &graph);
            if (graph != nullptr) cudaGraphDestroy(graph);
            throw;
        }
        check(cudaStreamEndCapture(stream, &graph), "recording a graph");
        const Owned<cudaGraph_t, cudaGraphDestroy> recorded(graph);
        cudaGraphExec_t executable = nullptr;
        check(cudaGraphInstantiate(&executable, graph, 0), "building a graph");
        graph_ = Owned<cudaGraphExec_t, cudaGraphExecDestroy>(executable);
    }
    void launch(const Stream& stream) const { launch(stream.get()); }
    void launch(cudaStream_t stream) const {
        check(cudaGraphLaunch(graph_.get(), stream), "launching a graph");
    }

private:
    Owned<cudaGraphExec_t, cudaGraphExecDestroy> graph_;
};

} // namespace farfield::cuda
