// A rank's end that counts what goes through it.
#pragma once

#include "backend/comm/transport.h"

#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <utility>

namespace farfield::test {

/// Counts the bytes that a rank sends, and those that it gets of others.
class CountingTransport : public comm::Transport {
public:
    explicit CountingTransport(std::shared_ptr<comm::Transport> inner) : inner_(std::move(inner)) {}
    [[nodiscard]] std::size_t sent() const { return sent_; }
    [[nodiscard]] std::size_t received() const { return received_; }
    [[nodiscard]] int rank() const override { return inner_->rank(); }
    [[nodiscard]] int size() const override { return inner_->size(); }
    [[nodiscard]] int local_rank() const override { return inner_->local_rank(); }
    [[nodiscard]] int local_size() const override { return inner_->local_size(); }
    [[nodiscard]] comm::MessageHandle send(comm::ConstBytes data, int to, int tag) override {
        sent_ += data.size();
        return inner_->send(data, to, tag);
    }
    [[nodiscard]] comm::MessageHandle receive(comm::Bytes data, int from, int tag) override {
        received_ += data.size();
        return inner_->receive(data, from, tag);
    }
    void barrier() override { inner_->barrier(); }
    void broadcast(comm::Bytes data, int root) override {
        if (rank() != root) received_ += data.size();
        inner_->broadcast(data, root);
    }
    void all_gather(comm::ConstBytes mine, comm::Bytes all, std::span<const std::size_t> sizes) override {
        sent_ += mine.size();
        received_ += all.size() - mine.size();
        inner_->all_gather(mine, all, sizes);
    }
    [[noreturn]] void abort(int code) override {
        inner_->abort(code);
        std::terminate();
    }

private:
    std::shared_ptr<comm::Transport> inner_;
    std::size_t sent_ = 0, received_ = 0;
};

} // namespace farfield::test
