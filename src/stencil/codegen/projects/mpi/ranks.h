// What ranks of MPI share: the rows of each, the rows of others that a function reads, results and files.
#pragma once

#include "fields.h"

#include <mpi.h>

#include <set>
#include <tuple>

struct Ranks {
    int rank = 0;
    int count = 1;

    Ranks() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &count);
    }
};

// By grid and rank; a rank may have no rows.
using Division = std::vector<std::vector<Rows>>;

// The rows of a grid with about the same sum of costs for each rank.
inline std::vector<Rows> divide(const std::vector<double>& costs, int ranks) {
    double all = 0;
    for (const double cost : costs) all += cost;
    std::vector<Rows> parts;
    long long row = 0;
    const auto rows = static_cast<long long>(costs.size());
    double before = 0;
    for (int r = 0; r < ranks; ++r) {
        Rows part{row, row};
        const double until = all * (r + 1) / ranks;
        for (; row < rows && before + 0.5 * costs[row] < until; ++row) before += costs[row];
        if (r == ranks - 1) row = rows;
        part.last = row;
        parts.push_back(part);
    }
    return parts;
}

// Costs of a grid's rows, of which each rank knows its own.
inline void share_costs(const std::vector<Rows>& parts, std::vector<double>& costs) {
    std::vector<int> counts, places;
    for (const auto& part : parts) {
        counts.push_back(static_cast<int>(part.last - part.first));
        places.push_back(static_cast<int>(part.first));
    }
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, costs.data(), counts.data(), places.data(), MPI_DOUBLE, MPI_COMM_WORLD);
}

// The rows of other ranks that a function reads for the rows of each: what is sent and what is received, in the same order.
class Exchange {
public:
    Exchange(const Function& function, int grid, const Division& division, const Ranks& ranks) : ranks_(ranks) {
        for (int reader = 0; reader < ranks.count; ++reader)
            for (const auto& [owner, buffer, other_copy, row] : reads(function, division[grid][reader], grid, division)) {
                if (owner == ranks.rank) sent_.push_back({reader, buffer, other_copy, row});
                if (reader == ranks.rank) received_.push_back({owner, buffer, other_copy, row});
            }
    }

    // `versions` of the buffers: those that are as they were at the last call are left out.
    void run(Memory& memory, const std::vector<long long>& versions) {
        std::vector<std::vector<char>> out(ranks_.count), in(ranks_.count);
        seen_.resize(versions.size(), -1);
        const auto is_new = [&](const Piece& piece) { return versions[piece.buffer] != seen_[piece.buffer]; };
        for (const auto& piece : sent_) {
            if (!is_new(piece)) continue;
            const char* row = memory.row(piece.buffer, piece.other_copy, piece.row);
            out[piece.rank].insert(out[piece.rank].end(), row, row + Memory::row_size(buffers[piece.buffer]));
        }
        for (const auto& piece : received_)
            if (is_new(piece)) in[piece.rank].resize(in[piece.rank].size() + Memory::row_size(buffers[piece.buffer]));
        std::vector<MPI_Request> requests;
        for (int r = 0; r < ranks_.count; ++r) {
            if (!in[r].empty())
                MPI_Irecv(in[r].data(), length(in[r]), MPI_BYTE, r, 0, MPI_COMM_WORLD, &requests.emplace_back());
            if (!out[r].empty())
                MPI_Isend(out[r].data(), length(out[r]), MPI_BYTE, r, 0, MPI_COMM_WORLD, &requests.emplace_back());
        }
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
        std::vector<std::size_t> at(ranks_.count, 0);
        for (const auto& piece : received_) {
            if (!is_new(piece)) continue;
            const auto size = Memory::row_size(buffers[piece.buffer]);
            std::memcpy(memory.row(piece.buffer, piece.other_copy, piece.row), in[piece.rank].data() + at[piece.rank], size);
            at[piece.rank] += size;
        }
        for (const auto* pieces : {&sent_, &received_})
            for (const auto& piece : *pieces) seen_[piece.buffer] = versions[piece.buffer];
    }

private:
    struct Piece {
        int rank; // that it goes to or comes from
        int buffer;
        bool other_copy;
        long long row;
    };

    static int length(const std::vector<char>& message) {
        if (message.size() > 2147483647) give_up("a message between two ranks is longer than 2 GiB; take more ranks");
        return static_cast<int>(message.size());
    }

    static int owner_of(const std::vector<Rows>& parts, long long row) {
        int rank = 0;
        while (row >= parts[rank].last) ++rank;
        return rank;
    }

    static std::set<std::tuple<int, int, bool, long long>> reads(const Function& function, Rows rows, int grid,
                                                                 const Division& division) {
        std::set<std::tuple<int, int, bool, long long>> found;
        for (auto row = rows.first; row < rows.last; ++row)
            for (const auto& slot : function.slots) {
                if (slot.buffer == scratch_row || buffers[slot.buffer].axis >= 0) continue; // values along an axis: all have all
                const auto& buffer = buffers[slot.buffer];
                const auto& shape = grids[buffer.grid].shape;
                const auto y = Memory::inside(row % grids[grid].shape[1] + slot.row_offset, shape[1], buffer.boundary[1]);
                const auto z = Memory::inside(row / grids[grid].shape[1] + slot.plane_offset, shape[2], buffer.boundary[2]);
                const auto read = y + shape[1] * z;
                if (y < 0 || z < 0 || (buffer.grid == grid && read >= rows.first && read < rows.last)) continue;
                found.emplace(owner_of(division[buffer.grid], read), slot.buffer, slot.other_copy, read);
            }
        return found;
    }

    Ranks ranks_;
    std::vector<Piece> sent_, received_;
    std::vector<long long> seen_;
};

// What the rows of all ranks gave, one after the other, on rank 0; nothing on others.
inline std::vector<double> gather(const std::vector<double>& own, const std::vector<Rows>& parts, long long results_a_row,
                                  const Ranks& ranks) {
    std::vector<int> counts, places;
    for (const auto& part : parts) {
        counts.push_back(static_cast<int>(part.last - part.first));
        places.push_back(static_cast<int>(part.first));
    }
    std::vector<double> all(ranks.rank == 0 ? parts.back().last * results_a_row : 0);
    MPI_Datatype row;
    MPI_Type_contiguous(static_cast<int>(results_a_row), MPI_DOUBLE, &row);
    MPI_Type_commit(&row);
    MPI_Gatherv(own.data(), counts[ranks.rank], row, all.data(), counts.data(), places.data(), row, 0, MPI_COMM_WORLD);
    MPI_Type_free(&row);
    return all;
}

// All ranks write their rows into one file.
inline void write_npy(int number, Memory& memory, const std::vector<Rows>& parts, const Ranks& ranks) {
    const auto& buffer = buffers[number];
    const auto name = std::string(buffer.name) + ".npy";
    const auto header = npy_header(buffer);
    bool good = true;
    if (ranks.rank == 0) {
        std::ofstream file(name, std::ios::binary);
        file << header;
        file.close();
        good = static_cast<bool>(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File file;
    good = MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_WRONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS && good;
    if (good) {
        const auto rows = parts[ranks.rank];
        MPI_Datatype row;
        MPI_Type_contiguous(static_cast<int>(Memory::row_size(buffer)), MPI_BYTE, &row);
        MPI_Type_commit(&row);
        const auto place = static_cast<MPI_Offset>(header.size() + rows.first * Memory::row_size(buffer));
        const char* values = rows.first < rows.last ? memory.row(number, false, rows.first) : nullptr;
        good = MPI_File_write_at_all(file, place, values, static_cast<int>(rows.last - rows.first), row, MPI_STATUS_IGNORE) == MPI_SUCCESS;
        MPI_Type_free(&row);
        good = MPI_File_close(&file) == MPI_SUCCESS && good;
    }
    if (good) return;
    std::fprintf(stderr, "%s cannot be written\n", name.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
}
