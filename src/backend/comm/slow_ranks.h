// Ranks as if each were a host of its own and slow links lay between them: to measure here what a network
// does.
#pragma once

#include "backend/comm/transport.h"

#include "base/stopwatch.h"

namespace farfield::comm {

/// What a rank can send.
struct LinkRates {
    double latency = 0.0;   ///< seconds of a message of no length
    double bandwidth = 0.0; ///< bytes a second, > 0
};

/// Bytes that may leave now: they come in at a rate, and no more than `capacity` wait.
class TokenBucket {
public:
    TokenBucket(double rate, double capacity) : rate_(rate), capacity_(capacity), tokens_(capacity) {}

    /// Takes so many at `now`, in seconds from any start, never earlier than before.
    /// @returns when they are all there; calls that follow wait for that, too
    double take(double bytes, double now);

private:
    double rate_, capacity_, tokens_;
    double at_ = 0.0; ///< of `tokens_`, which are below 0 where they were taken ahead of time
};

class SlowRanks : public Transport {
public:
    /// `all` must stay, and be used by nobody else meanwhile. Each message leaves when the link to all other
    /// ranks has carried those before it and this one.
    SlowRanks(Transport& all, const LinkRates& rates);

    [[nodiscard]] int rank() const override { return all_.rank(); }
    [[nodiscard]] int size() const override { return all_.size(); }
    [[nodiscard]] int local_rank() const override { return all_.local_rank(); }
    /// One: nobody reads the memory of another.
    [[nodiscard]] int local_size() const override { return 1; }
    [[nodiscard]] MessageHandle send(ConstBytes data, int to, int tag) override;
    [[nodiscard]] MessageHandle receive(Bytes data, int from, int tag) override {
        return all_.receive(data, from, tag);
    }
    void barrier() override;
    void broadcast(Bytes data, int root) override;
    void all_gather(ConstBytes mine, Bytes all, std::span<const std::size_t> sizes) override;
    [[noreturn]] void abort(int code) override;

private:
    Transport& all_;
    LinkRates rates_;
    TokenBucket bucket_;
    Stopwatch watch_;
};

} // namespace farfield::comm
