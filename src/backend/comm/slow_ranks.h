// Ranks as if each were a host of its own and slow links lay between them: to measure here what a network
// does.
#pragma once

#include "backend/comm/relayed_ranks.h"

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

class SlowRanks : public RelayedRanks {
public:
    /// Each message leaves when the link to all other ranks has carried those before it and this one.
    SlowRanks(Transport& all, const LinkRates& rates);

    /// One: nobody reads the memory of another.
    [[nodiscard]] int local_size() const override { return 1; }
    [[nodiscard]] MessageHandle send(ConstBytes data, int to, int tag) override;

private:
    LinkRates rates_;
    TokenBucket bucket_;
    Stopwatch watch_;
};

} // namespace farfield::comm
