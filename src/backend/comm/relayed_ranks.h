// Ranks whose messages another transport carries, and whose collective calls are made of messages.
#pragma once

#include "backend/comm/transport.h"

namespace farfield::comm {

class RelayedRanks : public Transport {
public:
    /// `all` must stay, and be used by nobody else meanwhile.
    explicit RelayedRanks(Transport& all) : all_(all) {}

    [[nodiscard]] int rank() const override { return all_.rank(); }
    [[nodiscard]] int size() const override { return all_.size(); }
    [[nodiscard]] int local_rank() const override { return all_.local_rank(); }
    [[nodiscard]] int local_size() const override { return all_.local_size(); }
    [[nodiscard]] bool takes_gpu_memory() const override { return all_.takes_gpu_memory(); }
    [[nodiscard]] MessageHandle send(ConstBytes data, int to, int tag) override {
        return all_.send(data, to, tag);
    }
    [[nodiscard]] MessageHandle receive(Bytes data, int from, int tag) override {
        return all_.receive(data, from, tag);
    }
    void barrier() override;
    void broadcast(Bytes data, int root) override;
    void all_gather(ConstBytes mine, Bytes all, std::span<const std::size_t> sizes) override;
    [[noreturn]] void abort(int code) override;

private:
    Transport& all_;
};

} // namespace farfield::comm
