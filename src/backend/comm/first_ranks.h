// The first ranks of a job as a job of their own, in which the others take no part. It counts what they send.
#pragma once

#include "backend/comm/transport.h"

#include <cstdint>

namespace farfield::comm {

class FirstRanks : public Transport {
public:
    /// What this rank has sent, in messages and by collective calls.
    struct Traffic {
        std::int64_t messages = 0;
        std::int64_t bytes = 0;
    };

    /// `all` must stay, and be used by nobody else meanwhile. @pre all.rank() < count ≤ all.size()
    FirstRanks(Transport& all, int count) : all_(all), count_(count) {}

    [[nodiscard]] const Traffic& sent() const { return sent_; }

    [[nodiscard]] int rank() const override { return all_.rank(); }
    [[nodiscard]] int size() const override { return count_; }
    [[nodiscard]] int local_rank() const override { return all_.local_rank(); }
    /// Launchers fill one host after the other.
    [[nodiscard]] int local_size() const override;
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
    int count_;
    Traffic sent_;
};

} // namespace farfield::comm
