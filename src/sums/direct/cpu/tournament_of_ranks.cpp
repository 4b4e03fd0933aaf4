#include "sums/direct/cpu/sums_of_ranks.h"
#include "sums/direct/cpu/tournament.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"

#include <algorithm>
#include <thread>

namespace farfield {

int SeatsOfRank::rank_of(std::int64_t player, std::int64_t round) const {
    const auto seat = tournament_.seat_of(player, round);
    int rank = static_cast<int>(seat * ranks_ / std::max<std::int64_t>(tournament_.seats(), 1));
    while (seat >= first_seat(rank + 1)) ++rank;
    while (seat < first_seat(rank)) --rank;
    return rank;
}

// Of the blocks that sit here in `round`, those that sit at another rank in `other_round`.
std::vector<SeatsOfRank::Move> SeatsOfRank::moves(std::int64_t round, std::int64_t other_round) const {
    std::vector<Move> out;
    const auto rounds = tournament_.rounds();
    if (std::min(round, other_round) < 0 || std::max(round, other_round) >= rounds) return out;
    for (auto seat = begin(); seat < end(); ++seat) {
        const auto [a, b] = tournament_.players_at(seat, round);
        for (const auto block : {a, b})
            if (tournament_.is_there(block))
                if (const int other = rank_of(block, other_round); other != rank_)
                    out.push_back({block, other});
    }
    std::sort(out.begin(), out.end(), [](const Move& x, const Move& y) { return x.block < y.block; });
    return out;
}

std::vector<SeatsOfRank::Move> SeatsOfRank::leaving_after(std::int64_t round) const {
    return moves(round, round + 1);
}

std::vector<SeatsOfRank::Move> SeatsOfRank::arriving_before(std::int64_t round) const {
    return moves(round, round - 1);
}

std::vector<std::int64_t> SeatsOfRank::held_at_end(int rank) const {
    std::vector<std::int64_t> out;
    for (std::int64_t block = 0; block < tournament_.blocks(); ++block)
        if (rank_of(block, tournament_.rounds() - 1) == rank) out.push_back(block);
    return out;
}

namespace {

constexpr int block_tag = 100;

/// A block's sums on their way, with the wish to stop.
struct Parcel {
    std::vector<double> numbers;
    comm::MessageHandle message;
};

class Player {
public:
    Player(comm::Transport& ranks, const Tournament& tournament, int threads, const TournamentMoves& moves,
           const TournamentSums& sums, const std::function<bool()>& stopped,
           const std::function<void()>& stop)
        : ranks_(ranks), tournament_(tournament), seats_(tournament, ranks.rank(), ranks.size()),
          threads_(threads), moves_(moves), rows_(*sums.sums), points_(sums.points), size_(sums.block_size),
          stopped_(stopped), stop_(stop) {}

    void play() {
        own();
        for (std::int64_t round = 0; round < tournament_.rounds(); ++round) {
            receive();
            // Blocks come to and leave the outer seats, which play first: the inner ones play meanwhile.
            const auto begin = seats_.begin(), end = seats_.end();
            const bool both_ends = end - begin > 1;
            if (begin < end)
                play_seats(round, both_ends ? 2 : 1,
                           [&](std::int64_t k) { return k == 0 ? begin : end - 1; });
            send(round);
            expect(round + 1);
            if (both_ends) play_seats(round, end - begin - 2, [&](std::int64_t k) { return begin + 1 + k; });
        }
        gather();
    }

private:
    void own() {
        std::vector<std::int64_t> blocks;
        for (auto seat = seats_.begin(); seat < seats_.end(); ++seat) {
            const auto [a, b] = tournament_.players_at(seat, 0);
            for (const auto block : {a, b})
                if (tournament_.is_there(block)) blocks.push_back(block);
        }
        parallel_for(threads_, static_cast<std::int64_t>(blocks.size()),
                     [&](std::int64_t k) { moves_.own(blocks[static_cast<std::size_t>(k)]); });
    }

    template <class SeatOf>
    void play_seats(std::int64_t round, std::int64_t count, const SeatOf& seat_of) {
        parallel_for(threads_, count, [&](std::int64_t k) {
            const auto [a, b] = tournament_.players_at(seat_of(k), round);
            if (tournament_.is_there(a) && tournament_.is_there(b)) moves_.meet(a, b);
            if (std::this_thread::get_id() == owner_) look_at_messages();
        });
    }

    // Messages of some size move only while somebody looks at them.
    void look_at_messages() {
        for (auto* parcels : {&sent_, &received_})
            for (auto& parcel : *parcels) (void)parcel.message->done();
    }

    [[nodiscard]] std::pair<std::int64_t, std::int64_t> rows_of(std::int64_t block) const {
        return {block * size_, std::min((block + 1) * size_, points_)};
    }

    void send(std::int64_t round) {
        for (auto& parcel : sent_) parcel.message->wait();
        sent_.clear();
        for (const auto& move : seats_.leaving_after(round)) {
            auto& parcel = sent_.emplace_back();
            const auto [begin, end] = rows_of(move.block);
            rows_.pack(begin, end, parcel.numbers);
            parcel.numbers.push_back(stopped_() ? 1.0 : 0.0);
            parcel.message =
                ranks_.send(comm::bytes_of(std::span<const double>(parcel.numbers)), move.other, block_tag);
        }
    }

    void expect(std::int64_t round) {
        if (round >= tournament_.rounds()) return;
        coming_ = seats_.arriving_before(round);
        received_.resize(coming_.size());
        for (std::size_t k = 0; k < coming_.size(); ++k) {
            const auto [begin, end] = rows_of(coming_[k].block);
            received_[k].numbers.resize(static_cast<std::size_t>((end - begin) * rows_.arrays() + 1));
            received_[k].message =
                ranks_.receive(comm::bytes_of(std::span(received_[k].numbers)), coming_[k].other, block_tag);
        }
    }

    void receive() {
        for (std::size_t k = 0; k < received_.size(); ++k) {
            received_[k].message->wait();
            const auto [begin, end] = rows_of(coming_[k].block);
            rows_.unpack(begin, end, received_[k].numbers);
            if (received_[k].numbers.back() != 0.0) stop_();
        }
        received_.clear();
    }

    void gather() {
        for (auto& parcel : sent_) parcel.message->wait();
        std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> parts;
        for (int rank = 0; rank < ranks_.size(); ++rank) {
            auto& part = parts.emplace_back();
            for (const auto block : seats_.held_at_end(rank)) part.push_back(rows_of(block));
        }
        gather_rows(ranks_, rows_, parts);
    }

    comm::Transport& ranks_;
    const Tournament& tournament_;
    SeatsOfRank seats_;
    int threads_;
    const TournamentMoves& moves_;
    SumRows rows_;
    std::int64_t points_, size_;
    const std::function<bool()>& stopped_;
    const std::function<void()>& stop_;
    std::thread::id owner_ = std::this_thread::get_id(); ///< the one that may look at messages
    std::vector<SeatsOfRank::Move> coming_;
    std::vector<Parcel> sent_, received_;
};

} // namespace

void play_tournament_of_ranks(comm::Transport& ranks, const Tournament& tournament, int threads,
                              const TournamentMoves& moves, const TournamentSums& sums,
                              const std::function<bool()>& stopped, const std::function<void()>& stop) {
    Player(ranks, tournament, threads, moves, sums, stopped, stop).play();
}

} // namespace farfield
