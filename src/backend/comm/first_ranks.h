// The first ranks of a job as a job of their own, in which the others take no part. It counts what they send.
#pragma once

#include "backend/comm/relayed_ranks.h"

#include <cstdint>

namespace farfield::comm {

class FirstRanks : public RelayedRanks {
public:
    /// What this rank has sent, in messages and by collective calls.
    struct Traffic {
        std::int64_t messages = 0;
        std::int64_t bytes = 0;
    };

    /// @pre all.rank() < count ≤ all.size()
    FirstRanks(Transport& all, int count) : RelayedRanks(all), count_(count) {}

    [[nodiscard]] const Traffic& sent() const { return sent_; }

    [[nodiscard]] int size() const override { return count_; }
    /// Launchers fill one host after the other.
    [[nodiscard]] int local_size() const override;
    [[nodiscard]] MessageHandle send(ConstBytes data, int to, int tag) override;

private:
    int count_;
    Traffic sent_;
};

} // namespace farfield::comm
