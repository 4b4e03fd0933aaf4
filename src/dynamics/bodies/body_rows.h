// The bodies of a simulation that a rank has: all of them, or neighbouring rows.
#pragma once

#include "backend/comm/agree.h"

#include <farfield/simulation.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

class BodyRows {
public:
    /// All of them.
    BodyRows() = default;
    /// Neighbouring ones, about as many on each rank, of the bodies that all ranks are given.
    BodyRows(comm::Transport& ranks, const Bodies& all);

    /// Null where this process has all bodies.
    [[nodiscard]] comm::Transport* ranks() const { return ranks_; }
    [[nodiscard]] bool are_all() const { return ranks_ == nullptr; }
    /// The first of this rank.
    [[nodiscard]] std::int64_t first() const;
    /// How many all ranks have, of which `here` are this one's.
    [[nodiscard]] std::int64_t all(const Bodies& here) const;
    /// The body of row 0 of all. @pre there is one
    [[nodiscard]] std::uint64_t first_id(const Bodies& here) const;

    /// This rank's of the rows of all.
    [[nodiscard]] Bodies of(const Bodies& all) const;
    /// Every rank gets all rows; an array that has the room keeps its place.
    template <class T>
    void to_all(const std::vector<T>& mine, std::vector<T>& all, std::int64_t width) const {
        const auto rows = comm::gathered_parts(*ranks_, std::span<const T>(mine), width, begins_);
        all.resize(rows.size());
        std::copy(rows.begin(), rows.end(), all.begin());
    }
    /// Rank 0 alone gets them, into an array that has the room.
    template <class T>
    void to_root(const std::vector<T>& mine, std::vector<T>& all, std::int64_t width) const {
        const auto room = ranks_->rank() == 0 ? std::span<T>(all) : std::span<T>();
        comm::bring_to_root(*ranks_, std::span<const T>(mine), room, width, begins_);
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
    comm::Transport* ranks_ = nullptr;
    std::vector<std::int64_t> begins_{0}; ///< of each rank, and at the end how many there are
    std::uint64_t first_id_ = 0;
};

} // namespace farfield
