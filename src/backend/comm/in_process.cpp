#include "backend/comm/in_process.h"

#include "backend/comm/collectives.h"
#include "backend/cuda/host_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>

namespace farfield::comm {
namespace {

/// What the ranks share: messages that were sent and not received yet.
class Hub {
public:
    Hub(int size, bool gpu_memory) : size_(size), gpu_memory_(gpu_memory) {}
    [[nodiscard]] int size() const { return size_; }
    [[nodiscard]] bool gpu_memory() const { return gpu_memory_; }

    void post(int from, int to, int tag, ConstBytes data) {
        const std::lock_guard lock(mutex_);
        require_all();
        copy(boxes_[{from, to, tag}].emplace_back(data.size()), data);
        arrived_.notify_all();
    }

    /// Fills `data` with the next message of that kind: false where there is none yet and `wait` is false.
    bool take(int from, int to, int tag, Bytes data, bool wait) {
        std::unique_lock lock(mutex_);
        auto& box = boxes_[{from, to, tag}];
        if (wait) arrived_.wait(lock, [&] { return failed_ || !box.empty(); });
        require_all();
        if (box.empty()) return false;
        const auto& next = box.front();
        if (next.size() != data.size())
            throw InternalError(fmt::format("rank {} expects {} bytes of rank {} with tag {}, and gets {}",
                                            to, data.size(), from, tag, next.size()));
        copy(data, next);
        box.pop_front();
        return true;
    }

    /// The first failure is the one that counts.
    void fail(std::exception_ptr error) {
        const std::lock_guard lock(mutex_);
        if (!failed_) error_ = std::move(error);
        failed_ = true;
        arrived_.notify_all();
    }

    void throw_failure() const {
        if (error_) std::rethrow_exception(error_);
    }

private:
    void copy(Bytes to, ConstBytes from) const {
        if (gpu_memory_)
            cuda::copy_anywhere(to, from);
        else
            std::copy(from.begin(), from.end(), to.begin());
    }

    void require_all() const {
        if (failed_) throw RankFailed("another rank has given up");
    }

    int size_;
    bool gpu_memory_;
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::map<std::tuple<int, int, int>, std::deque<std::vector<std::byte>>> boxes_;
    bool failed_ = false;
    std::exception_ptr error_;
};

class Sent : public Message {
public:
    void wait() override {}
    bool done() override { return true; }
};

class Expected : public Message {
public:
    Expected(Hub& hub, int from, int to, int tag, Bytes data)
        : hub_(hub), from_(from), to_(to), tag_(tag), data_(data) {}
    void wait() override {
        if (!done_) done_ = hub_.take(from_, to_, tag_, data_, true);
    }
    bool done() override {
        if (!done_) done_ = hub_.take(from_, to_, tag_, data_, false);
        return done_;
    }

private:
    Hub& hub_;
    int from_, to_, tag_;
    Bytes data_;
    bool done_ = false;
};

class ThreadTransport : public Transport {
public:
    ThreadTransport(std::shared_ptr<Hub> hub, int rank) : hub_(std::move(hub)), rank_(rank) {}
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return hub_->size(); }
    [[nodiscard]] int local_rank() const override { return rank_; }
    [[nodiscard]] int local_size() const override { return hub_->size(); }
    [[nodiscard]] bool takes_gpu_memory() const override { return hub_->gpu_memory(); }
    [[nodiscard]] MessageHandle send(ConstBytes data, int to, int tag) override {
        hub_->post(rank_, to, tag, data);
        return std::make_unique<Sent>();
    }
    [[nodiscard]] MessageHandle receive(Bytes data, int from, int tag) override {
        return std::make_unique<Expected>(*hub_, from, rank_, tag, data);
    }
    void barrier() override { barrier_by_messages(*this); }
    void broadcast(Bytes data, int root) override { broadcast_by_messages(*this, data, root); }
    void all_gather(ConstBytes mine, Bytes all, std::span<const std::size_t> sizes) override {
        all_gather_by_messages(*this, mine, all, sizes);
    }
    [[noreturn]] void abort(int code) override {
        throw RankFailed(fmt::format("rank {} has ended the job with exit code {}", rank_, code));
    }

private:
    std::shared_ptr<Hub> hub_;
    int rank_;
};

} // namespace

void run_ranks(int ranks, const std::function<void(std::shared_ptr<Transport>)>& work, bool gpu_memory) {
    const auto hub = std::make_shared<Hub>(ranks, gpu_memory);
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            try {
                work(std::make_shared<ThreadTransport>(hub, rank));
            } catch (...) {
                hub->fail(std::current_exception());
            }
        });
    for (auto& thread : threads) thread.join();
    hub->throw_failure();
}

void run_ranks(int ranks, const std::function<void(Transport&)>& work) {
    run_ranks(ranks, [&](const std::shared_ptr<Transport>& transport) { work(*transport); });
}

} // namespace farfield::comm
