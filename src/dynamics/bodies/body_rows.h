// The bodies of a simulation that a rank has: all of them, or some rows.
#pragma once

#include "backend/comm/agree.h"
#include "sums/points/homes.h"

#include <farfield/simulation.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace farfield {

class BodyRows {
public:
    /// All of them.
    BodyRows() = default;
    static const BodyRows& all_of_them();
    /// Neighbouring ones, about as many on each rank, of the bodies that all ranks are given.
    BodyRows(comm::Transport& ranks, const Bodies& all);

    /// Null where this process has all bodies.
    [[nodiscard]] comm::Transport* ranks() const { return ranks_; }
    [[nodiscard]] bool are_all() const { return ranks_ == nullptr; }
    /// How many all ranks have, of which `here` are this one's.
    [[nodiscard]] std::int64_t all(const Bodies& here) const;
    /// Body i of this rank is this row of all.
    [[nodiscard]] std::int64_t row(std::size_t i) const;
    /// Of this rank's bodies, where it has not all.
    [[nodiscard]] std::span<const std::int64_t> rows() const { return rows_; }
    /// They are those of the start, which rise from rank to rank.
    [[nodiscard]] bool are_first() const { return are_first_; }
    /// The body of row 0 of all. @pre there is one
    [[nodiscard]] std::uint64_t first_id(const Bodies& here) const;
    /// The ranks that had them first, each neighbouring rows.
    [[nodiscard]] Homes first_homes() const;
    /// This rank's of the rows of all.
    [[nodiscard]] Bodies of(const Bodies& all) const;

    // Calls of all ranks.

    /// Every rank gets the rows of all; an array that has the room keeps its place.
    template <class T>
    void to_all(const std::vector<T>& mine, std::vector<T>& all, std::int64_t width) const {
        all.resize(static_cast<std::size_t>(count_ * width));
        place(comm::all_gathered(*ranks_, std::span<const std::int64_t>(rows_), counts_),
              comm::gathered_parts(*ranks_, std::span<const T>(mine), width, begins()), all);
    }
    /// Rank 0 alone gets them, in an array that has the room.
    template <class T>
    void to_root(const std::vector<T>& mine, std::vector<T>& all, std::int64_t width) const {
        const auto parts = begins();
        std::vector<T> arrived(ranks_->rank() == 0 ? static_cast<std::size_t>(count_ * width) : 0);
        comm::bring_to_root(*ranks_, std::span<const T>(mine), std::span<T>(arrived), width, parts);
        if (ranks_->rank() == 0) place(rows_of_all_, arrived, all);
    }

    /// The sum of one term of each body, of which `terms` are this rank's: the same bits as where one rank
    /// has all.
    [[nodiscard]] double sum(const std::vector<double>& terms) const;
    /// Does the work. Where one rank throws, all do.
    template <class Work>
    void together(const Work& work) const {
        if (are_all()) return work();
        comm::together(*ranks_, work);
    }

private:
    friend class BodyMoves;

    [[nodiscard]] std::vector<std::int64_t> begins() const;
    /// Tells all how many rows each has, and rank 0 which.
    void announce();
    template <class T>
    static void place(const std::vector<std::int64_t>& rows, const std::vector<T>& from,
                      std::vector<T>& all) {
        const auto width = rows.empty() ? 0 : from.size() / rows.size();
        for (std::size_t i = 0; i < rows.size(); ++i)
            std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(i * width), width,
                        all.begin() + rows[i] * static_cast<std::ptrdiff_t>(width));
    }

    comm::Transport* ranks_ = nullptr;
    std::int64_t count_ = 0; ///< of all bodies
    std::uint64_t first_id_ = 0;
    bool are_first_ = true;
    std::vector<std::int64_t> rows_;        ///< of this rank
    std::vector<std::int64_t> counts_;      ///< by rank
    std::vector<std::int64_t> rows_of_all_; ///< on rank 0: those of one rank after the other
};

/// Bodies on their way to other ranks: first the rows, then each array of theirs.
class BodyMoves {
public:
    /// In which a rank has its bodies then: as their rows rise; or as they come, from one rank after the
    /// other.
    enum class Order : std::uint8_t { rows, arrival };

    /// Of all ranks. @param homes  of this rank's bodies
    BodyMoves(BodyRows& rows, Homes homes, Order order);

    template <class T>
    void move(std::vector<T>& values, std::int64_t width) const {
        auto arrived = comm::exchanged(*ranks_, leaving(values, width), tag);
        if (order_.empty()) {
            values = std::move(arrived);
            return;
        }
        const auto w = static_cast<std::size_t>(width);
        values.resize(w * order_.size());
        for (std::size_t i = 0; i < order_.size(); ++i)
            std::copy_n(arrived.begin() + static_cast<std::ptrdiff_t>(w * order_[i]), w,
                        values.begin() + static_cast<std::ptrdiff_t>(w * i));
    }

private:
    static constexpr int tag = 230;

    template <class T>
    [[nodiscard]] std::vector<std::vector<T>> leaving(const std::vector<T>& values,
                                                      std::int64_t width) const {
        const auto w = static_cast<std::ptrdiff_t>(width);
        std::vector<std::vector<T>> out(homes_.begins.size() - 1);
        for (std::size_t r = 0; r < out.size(); ++r) {
            const auto begin = static_cast<std::size_t>(homes_.begins[r]);
            const auto end = static_cast<std::size_t>(homes_.begins[r + 1]);
            out[r].resize((end - begin) * static_cast<std::size_t>(w));
            auto to = out[r].begin();
            for (auto k = begin; k < end; ++k) to = std::copy_n(values.begin() + w * homes_.order[k], w, to);
        }
        return out;
    }

    comm::Transport* ranks_;
    Homes homes_;
    std::vector<std::size_t> order_; ///< body i arrives as number order_[i]; empty: as i
};

} // namespace farfield
