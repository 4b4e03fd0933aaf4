// The parts of a mesh [z][y][x] that ranks have: planes of one z while points spread onto them and lines
// along x and y are transformed, rows of one y in all planes while lines along z are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield {
namespace comm {
class Transport;
} // namespace comm

class MeshRanks {
public:
    /// `ranks`: null where this process is alone, and has all planes and rows.
    MeshRanks(const std::array<std::int32_t, 3>& mesh, comm::Transport* ranks);

    struct Part {
        std::int64_t begin = 0, end = 0;
        [[nodiscard]] std::int64_t size() const { return end - begin; }
    };
    [[nodiscard]] const Part& planes() const { return planes_[rank_]; }
    [[nodiscard]] const Part& rows() const { return rows_[rank_]; }

    /// A rank that has its planes of the array, of rows of `width` numbers, gets its rows of all others; and
    /// back. All ranks call these, which do nothing where there is one.
    void planes_to_rows(std::span<double> array, std::int64_t width) const;
    void rows_to_planes(std::span<double> array, std::int64_t width) const;

    /// What all ranks `need`, a number for each plane: not 0 for those that a rank is to get.
    [[nodiscard]] std::vector<std::uint8_t> needs_of_all(std::span<const std::uint8_t> mine) const;
    /// A rank that has its planes gets those that it needs.
    void share_planes(std::span<double> mesh, std::int64_t width, std::span<const std::uint8_t> needs) const;

private:
    /// leaving(rank, body) and coming(rank, body) call body(run) for runs of numbers of the array.
    template <class Leaving, class Coming>
    void exchange(std::span<double> array, const Leaving& leaving, const Coming& coming) const;
    /// For those planes' part of those rows.
    template <class Body>
    void for_crossing(const Part& planes, const Part& rows, std::int64_t width, const Body& body) const;

    comm::Transport* ranks_;
    std::size_t rank_ = 0;
    std::int64_t rows_of_a_plane_, planes_of_all_;
    std::vector<Part> planes_, rows_; ///< of each rank
};

} // namespace farfield
