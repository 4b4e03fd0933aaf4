// Messages between ranks: the processes of an MPI job, or threads of one process that play them
// (in_process.h). What is exchanged where is planned elsewhere, as pure data; this only carries it.
#pragma once

#include <farfield/error.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace farfield::comm {

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

/// Another rank has given up.
class RankFailed : public Error {
public:
    using Error::Error;
};

/// A message under way. Its memory must stay until it is `done` or waited for.
class Message {
public:
    Message() = default;
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;
    virtual ~Message() = default; ///< of one that was not waited for: waits
    virtual void wait() = 0;
    [[nodiscard]] virtual bool done() = 0; ///< looks, without waiting
};
using MessageHandle = std::unique_ptr<Message>;

/// One rank's end. Calls are made by one thread at a time; collective ones by every rank, in the same order.
/// Each may throw RankFailed where another rank has given up.
class Transport {
public:
    Transport() = default;
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;
    virtual ~Transport() = default;

    [[nodiscard]] virtual int rank() const = 0;
    [[nodiscard]] virtual int size() const = 0;
    /// Among the ranks of this host.
    [[nodiscard]] virtual int local_rank() const = 0;
    [[nodiscard]] virtual int local_size() const = 0;

    /// Whether `send` and `receive` take memory of this rank's GPU. What was queued on the GPU before must be
    /// done.
    [[nodiscard]] virtual bool takes_gpu_memory() const { return false; }

    /// Messages from one rank to another with the same tag (0 … 9999) arrive in the order of their sending.
    /// The receiver knows the size.
    [[nodiscard]] virtual MessageHandle send(ConstBytes data, int to, int tag) = 0;
    [[nodiscard]] virtual MessageHandle receive(Bytes data, int from, int tag) = 0;

    virtual void barrier() = 0;
    virtual void broadcast(Bytes data, int root) = 0;
    /// `all`: the ranks' `mine`, one after the other; rank r's has sizes[r] bytes.
    virtual void all_gather(ConstBytes mine, Bytes all, std::span<const std::size_t> sizes) = 0;

    /// Ends every rank of the job, this one included, with that exit code. A thread that plays a rank throws
    /// RankFailed instead, and so do the others in their next call.
    [[noreturn]] virtual void abort(int code) = 0;
};

/// The bytes of numbers or of a plain structure.
template <class T>
ConstBytes bytes_of(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    return std::as_bytes(values);
}
template <class T>
Bytes bytes_of(std::span<T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    return std::as_writable_bytes(values);
}

/// One value of each rank, by rank.
template <class T>
std::vector<T> all_values(Transport& transport, const T& mine) {
    std::vector<T> all(static_cast<std::size_t>(transport.size()));
    const std::vector<std::size_t> sizes(all.size(), sizeof(T));
    transport.all_gather(bytes_of(std::span(&mine, 1)), bytes_of(std::span(all)), sizes);
    return all;
}

/// Added up from rank 0 on: the same on all ranks.
template <class T>
T sum_of_ranks(Transport& transport, T mine) {
    T sum{};
    for (const auto& value : all_values(transport, mine)) sum += value;
    return sum;
}

/// The ranks' values, one after the other; rank r has counts[r] of them.
template <class T>
std::vector<T> all_gathered(Transport& transport, std::span<const T> mine,
                            std::span<const std::int64_t> counts) {
    std::vector<std::size_t> sizes;
    sizes.reserve(counts.size());
    std::int64_t total = 0;
    for (const auto count : counts) {
        sizes.push_back(static_cast<std::size_t>(count) * sizeof(T));
        total += count;
    }
    std::vector<T> all(static_cast<std::size_t>(total));
    transport.all_gather(bytes_of(mine), bytes_of(std::span(all)), sizes);
    return all;
}

/// The same of rows of `width` values, of which rank r has [begins[r], begins[r + 1]).
template <class T>
std::vector<T> gathered_parts(Transport& transport, std::span<const T> mine, std::int64_t width,
                              std::span<const std::int64_t> begins) {
    std::vector<std::int64_t> counts;
    counts.reserve(begins.size());
    for (std::size_t r = 0; r + 1 < begins.size(); ++r) counts.push_back(width * (begins[r + 1] - begins[r]));
    return all_gathered(transport, mine, counts);
}

/// Sends to[n], and receives from[n], for n from 0; n / each is the rank. A rank's own are copied. What a
/// rank receives must have the sizes that others send; those of 0 bytes are no messages.
void exchange(Transport& transport, std::span<const ConstBytes> to, std::span<const Bytes> from, int tag,
              std::size_t each = 1);
/// The same as messages that are to be waited for; until then the memory must stay.
[[nodiscard]] std::vector<MessageHandle> begin_exchange(Transport& transport, std::span<const ConstBytes> to,
                                                        std::span<const Bytes> from, int tag,
                                                        std::size_t each = 1);

/// Rank r gets to[r]. @returns what this rank gets, of one rank after the other
template <class T>
std::vector<T> exchanged(Transport& transport, const std::vector<std::vector<T>>& to, int tag) {
    const auto ranks = to.size(), rank = static_cast<std::size_t>(transport.rank());
    std::vector<std::int64_t> sizes;
    sizes.reserve(ranks);
    for (const auto& values : to) sizes.push_back(std::ssize(values));
    const auto all = all_gathered(transport, std::span<const std::int64_t>(sizes),
                                  std::vector(ranks, static_cast<std::int64_t>(ranks)));
    std::vector<std::size_t> begins{0};
    for (std::size_t r = 0; r < ranks; ++r)
        begins.push_back(begins.back() + static_cast<std::size_t>(all[r * ranks + rank]));
    std::vector<T> out(begins.back());
    std::vector<ConstBytes> leaving;
    std::vector<Bytes> coming;
    for (std::size_t r = 0; r < ranks; ++r) {
        leaving.push_back(bytes_of(std::span<const T>(to[r])));
        coming.push_back(bytes_of(std::span(out).subspan(begins[r], begins[r + 1] - begins[r])));
    }
    exchange(transport, leaving, coming, tag);
    return out;
}

/// The value of one rank, on all.
template <class T>
T from_rank(Transport& transport, T value, int root = 0) {
    transport.broadcast(bytes_of(std::span(&value, 1)), root);
    return value;
}
/// The same where there may be one rank alone: null.
template <class T>
T from_rank(Transport* transport, T value, int root = 0) {
    return transport != nullptr ? from_rank(*transport, value, root) : value;
}

/// Adds up the numbers of all ranks, place by place: all ranks get the sums.
void add_over_ranks(Transport& transport, std::span<std::int32_t> values);

/// Rank r has rows [begins[r], begins[r + 1]) of an array of `width` numbers a row: all get all.
void share_rows(Transport& transport, std::span<double> array, std::int64_t width,
                std::span<const std::int64_t> begins);

/// The text, or the bytes, of one rank, whose size the others need not know.
std::string text_from_rank(Transport& transport, std::string text, int root = 0);
std::vector<std::byte> bytes_from_rank(Transport& transport, std::vector<std::byte> bytes, int root = 0);

/// The numbers of one rank, as many as it has.
std::vector<double> values_from_rank(Transport& transport, std::vector<double> values, int root = 0);

/// Of `rows` rows the first of each rank, in equal parts, and at the end their number.
std::vector<std::int64_t> equal_parts(const Transport& transport, std::int64_t rows);
/// Rank r gets its equal part of the rows that rank 0 has.
std::vector<double> part_from_root(Transport& transport, std::vector<double> all, std::int64_t width);
/// The inverse: rank 0 gets all rows; the others none.
std::vector<double> parts_on_root(Transport& transport, std::vector<double> mine);

/// Rank 0 gets `all`, the ranks' `mine` one after the other, in messages of at most 64 MiB; the others give
/// an empty one. @param sizes  of `mine` by rank
void bring_to_root(Transport& transport, ConstBytes mine, Bytes all, std::span<const std::size_t> sizes);
/// The same of rows of `width` values, of which rank r has [begins[r], begins[r + 1]).
template <class T>
void bring_to_root(Transport& transport, std::span<const T> mine, std::span<T> all, std::int64_t width,
                   std::span<const std::int64_t> begins) {
    std::vector<std::size_t> sizes;
    for (std::size_t r = 0; r + 1 < begins.size(); ++r)
        sizes.push_back(static_cast<std::size_t>((begins[r + 1] - begins[r]) * width) * sizeof(T));
    bring_to_root(transport, bytes_of(mine), bytes_of(all), sizes);
}

/// True on all ranks where it is true on any.
bool any_rank(Transport& transport, bool mine);
/// The same where there may be one rank alone: null.
bool any_rank(Transport* transport, bool mine);

} // namespace farfield::comm
