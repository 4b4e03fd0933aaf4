#include "stencil/runtime/ranks/rim_exchange.h"

#include "backend/comm/gpu_messages.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace farfield::stencil::ranks {
namespace {

constexpr int rims_tag = 1, ready_tag = 4, taken_tag = 5;

std::size_t bytes_of_piece(const ir::Program& program, const BufferCells& piece) {
    const auto precision = program.buffers[static_cast<std::size_t>(piece.buffer)].precision;
    return static_cast<std::size_t>(piece.cells.count()) *
           (precision == Precision::single_precision ? sizeof(float) : sizeof(double));
}

class RimMessages : public RimExchange {
public:
    RimMessages(comm::Transport& transport, const ir::Program& program, const ExchangePlan& plan,
                Executor& part)
        : transport_(transport), program_(program), plan_(plan), part_(part), sent_(room_for(plan.sends)),
          received_(room_for(plan.receives)) {}

    void bring() override {
        std::vector<comm::MessageHandle> arriving;
        std::vector<comm::MessageHandle> leaving;
        for (std::size_t i = 0; i < plan_.receives.size(); ++i)
            arriving.push_back(transport_.receive(received_[i], plan_.receives[i].peer, rims_tag));
        for (std::size_t i = 0; i < plan_.sends.size(); ++i) {
            each_piece(plan_.sends[i], sent_[i], [&](const BufferCells& piece, std::span<std::byte> bytes) {
                part_.read_cells(piece.buffer, piece.cells, bytes);
            });
            leaving.push_back(transport_.send(sent_[i], plan_.sends[i].peer, rims_tag));
        }
        for (std::size_t i = 0; i < arriving.size(); ++i) {
            arriving[i]->wait();
            each_piece(plan_.receives[i], received_[i],
                       [&](const BufferCells& piece, std::span<std::byte> bytes) {
                           part_.write_cells(piece.buffer, piece.cells, bytes, false);
                       });
        }
        for (const auto& message : leaving) message->wait();
    }
    std::string_view name() const override { return "by messages"; }

private:
    using Bytes = std::vector<std::vector<std::byte>>; ///< by transfer

    Bytes room_for(const std::vector<Transfer>& transfers) const {
        Bytes out;
        out.reserve(transfers.size());
        for (const auto& transfer : transfers) {
            std::size_t bytes = 0;
            for (const auto& piece : transfer.pieces) bytes += bytes_of_piece(program_, piece);
            out.emplace_back(bytes);
        }
        return out;
    }
    template <class Visit>
    void each_piece(const Transfer& transfer, std::vector<std::byte>& bytes, const Visit& visit) const {
        std::size_t at = 0;
        for (const auto& piece : transfer.pieces) {
            const auto size = bytes_of_piece(program_, piece);
            visit(piece, std::span(bytes).subspan(at, size));
            at += size;
        }
    }

    comm::Transport& transport_;
    const ir::Program& program_;
    const ExchangePlan& plan_;
    Executor& part_;
    Bytes sent_, received_;
};

/// Messages that hold the memory of GPUs in place of copies. Sender and receiver have the same stretches.
class RimsInPlace : public RimExchange {
public:
    RimsInPlace(comm::Transport& transport, const ExchangePlan& plan, PeerFields& fields)
        : transport_(transport), plan_(plan), fields_(fields) {}

    void bring() override {
        fields_.wait(); // cells that leave are there, and nobody reads those that arrive
        std::vector<comm::MessageHandle> messages;
        each_stretch(plan_.receives, [&](int peer, std::span<std::byte> memory) {
            messages.push_back(transport_.receive(memory, peer, rims_tag));
        });
        each_stretch(plan_.sends, [&](int peer, std::span<std::byte> memory) {
            messages.push_back(transport_.send(memory, peer, rims_tag));
        });
        for (const auto& message : messages) message->wait();
    }
    std::string_view name() const override { return "by messages from GPU to GPU"; }

    /// Messages of an exchange.
    std::size_t messages() const {
        std::size_t count = 0;
        const auto add = [&](int, std::span<std::byte>) { ++count; };
        each_stretch(plan_.receives, add);
        each_stretch(plan_.sends, add);
        return count;
    }

private:
    template <class Visit>
    void each_stretch(const std::vector<Transfer>& transfers, const Visit& visit) const {
        for (const auto& transfer : transfers)
            for (const auto& piece : transfer.pieces)
                fields_.each_stretch(piece.buffer, piece.cells,
                                     [&](std::span<std::byte> memory) { visit(transfer.peer, memory); });
    }

    comm::Transport& transport_;
    const ExchangePlan& plan_;
    PeerFields& fields_;
};

/// Each rank takes its rims from the others' memory once they say that they have done their steps, and does
/// steps again once all have taken.
class RimCopies : public RimExchange {
public:
    RimCopies(comm::Transport& transport, const ExchangePlan& plan, PeerFields& fields)
        : transport_(transport), plan_(plan), fields_(fields) {}

    // Ranks need not end together: after `bring` nobody reads the memory of another any more.
    ~RimCopies() override { fields_.close(); }

    /// False where a rank cannot read the memory of another; the same on all ranks.
    bool open() {
        const auto mine = fields_.offer();
        const auto sizes = comm::all_values(transport_, static_cast<std::int64_t>(mine.size()));
        const auto all = comm::all_gathered(transport_, std::span<const std::byte>(mine),
                                            std::span<const std::int64_t>(sizes));
        bool opened = true;
        for (const auto& transfer : plan_.receives) {
            std::size_t first = 0;
            for (int rank = 0; rank < transfer.peer; ++rank)
                first += static_cast<std::size_t>(sizes[static_cast<std::size_t>(rank)]);
            const auto size = static_cast<std::size_t>(sizes[static_cast<std::size_t>(transfer.peer)]);
            opened = opened && fields_.open(transfer.peer, std::span(all).subspan(first, size));
        }
        return !comm::any_rank(transport_, !opened);
    }

    void bring() override {
        const auto current = fields_.current_copies();
        std::vector<std::vector<std::int32_t>> theirs(plan_.receives.size());
        std::vector<comm::MessageHandle> ready, told;
        for (std::size_t i = 0; i < theirs.size(); ++i) {
            theirs[i].resize(current.size());
            ready.push_back(
                transport_.receive(comm::bytes_of(std::span(theirs[i])), plan_.receives[i].peer, ready_tag));
        }
        for (const auto& transfer : plan_.sends)
            told.push_back(
                transport_.send(comm::bytes_of(std::span(std::as_const(current))), transfer.peer, ready_tag));
        for (std::size_t i = 0; i < ready.size(); ++i) {
            ready[i]->wait();
            for (const auto& piece : plan_.receives[i].pieces)
                fields_.take(plan_.receives[i].peer, piece.buffer, piece.cells,
                             theirs[i][static_cast<std::size_t>(piece.buffer)]);
        }
        fields_.wait();
        std::byte nothing{};
        std::vector<std::byte> taken(plan_.sends.size());
        std::vector<comm::MessageHandle> waited;
        for (std::size_t i = 0; i < taken.size(); ++i)
            waited.push_back(transport_.receive(std::span(&taken[i], 1), plan_.sends[i].peer, taken_tag));
        for (const auto& transfer : plan_.receives)
            told.push_back(transport_.send(std::span(&nothing, 1), transfer.peer, taken_tag));
        for (const auto& message : waited) message->wait();
        for (const auto& message : told) message->wait();
    }
    std::string_view name() const override { return "by peer copies"; }

private:
    comm::Transport& transport_;
    const ExchangePlan& plan_;
    PeerFields& fields_;
};

} // namespace

std::unique_ptr<RimExchange> make_rim_exchange(comm::Transport& transport, const ir::Program& program,
                                               const ExchangePlan& plan, Executor& part, MpiGpu mpi_gpu) {
    auto* const fields = part.peer_fields();
    if (comm::any_rank(transport, fields == nullptr))
        return std::make_unique<RimMessages>(transport, program, plan, part);
    const bool sends_gpu_memory = comm::sends_gpu_memory(transport, mpi_gpu);
    if (!comm::any_rank(transport, transport.local_size() != transport.size())) {
        auto copies = std::make_unique<RimCopies>(transport, plan, *fields);
        if (copies->open()) return copies;
    }
    if (sends_gpu_memory) {
        // where planes are cut each is a message of its own: many small ones are slower than one copy of all
        constexpr std::size_t most_messages = 128;
        auto rims = std::make_unique<RimsInPlace>(transport, plan, *fields);
        const bool few = !comm::any_rank(transport, rims->messages() > most_messages);
        if (few || mpi_gpu == MpiGpu::on) return rims;
    }
    return std::make_unique<RimMessages>(transport, program, plan, part);
}

} // namespace farfield::stencil::ranks
