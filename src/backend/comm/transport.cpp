#include "backend/comm/collectives.h"

#include <algorithm>
#include <numeric>

namespace farfield::comm {
namespace {

constexpr int barrier_tag = first_own_tag, broadcast_tag = first_own_tag + 1, gather_tag = first_own_tag + 2,
              add_tag = first_own_tag + 3, part_tag = first_own_tag + 4, rows_tag = first_own_tag + 5;

template <class Container>
Container resized_from_rank(Transport& transport, Container values, int root) {
    const auto size = from_rank(transport, static_cast<std::uint64_t>(values.size()), root);
    values.resize(size);
    transport.broadcast(std::as_writable_bytes(std::span(values)), root);
    return values;
}

} // namespace

// Dissemination: after round k a rank has heard, through others, of 2^k ranks before it.
void barrier_by_messages(Transport& transport) {
    const int size = transport.size();
    for (int distance = 1; distance < size; distance *= 2) {
        std::byte there{}, here{};
        const auto sent =
            transport.send(ConstBytes(&there, 1), (transport.rank() + distance) % size, barrier_tag);
        transport.receive(Bytes(&here, 1), (transport.rank() - distance + size) % size, barrier_tag)->wait();
        sent->wait();
    }
}

void broadcast_by_messages(Transport& transport, Bytes data, int root) {
    const int size = transport.size();
    const int place = (transport.rank() - root + size) % size; // the root's is 0
    int bit = 1;
    while (bit < size && (place & bit) == 0) bit *= 2;
    if (place != 0) transport.receive(data, (place - bit + root) % size, broadcast_tag)->wait();
    for (bit /= 2; bit > 0; bit /= 2)
        if (place + bit < size) transport.send(data, (place + bit + root) % size, broadcast_tag)->wait();
}

void all_gather_by_messages(Transport& transport, ConstBytes mine, Bytes all,
                            std::span<const std::size_t> sizes) {
    const int size = transport.size(), rank = transport.rank();
    std::vector<std::size_t> begins(sizes.size());
    std::size_t begin = 0;
    for (std::size_t r = 0; r < sizes.size(); ++r) {
        begins[r] = begin;
        begin += sizes[r];
    }
    const auto part = [&](int of) {
        const auto r = static_cast<std::size_t>((of + size) % size);
        return all.subspan(begins[r], sizes[r]);
    };
    std::copy(mine.begin(), mine.end(), part(rank).begin());
    for (int step = 0; step + 1 < size; ++step) {
        const auto sent = transport.send(part(rank - step), (rank + 1) % size, gather_tag);
        transport.receive(part(rank - step - 1), (rank - 1 + size) % size, gather_tag)->wait();
        sent->wait();
    }
}

std::vector<MessageHandle> begin_exchange(Transport& transport, std::span<const ConstBytes> to,
                                          std::span<const Bytes> from, int tag, std::size_t each) {
    const auto rank_of = [&](std::size_t n) { return static_cast<int>(n / each); };
    std::vector<MessageHandle> messages;
    for (std::size_t n = 0; n < from.size(); ++n)
        if (rank_of(n) != transport.rank() && !from[n].empty())
            messages.push_back(transport.receive(from[n], rank_of(n), tag));
    for (std::size_t n = 0; n < to.size(); ++n)
        if (rank_of(n) != transport.rank() && !to[n].empty())
            messages.push_back(transport.send(to[n], rank_of(n), tag));
    for (auto n = each * static_cast<std::size_t>(transport.rank()), k = n; n < k + each; ++n)
        std::copy(to[n].begin(), to[n].end(), from[n].begin());
    return messages;
}

void exchange(Transport& transport, std::span<const ConstBytes> to, std::span<const Bytes> from, int tag,
              std::size_t each) {
    for (const auto& message : begin_exchange(transport, to, from, tag, each)) message->wait();
}

// Each rank adds up a part, which it gets from all others.
void add_over_ranks(Transport& transport, std::span<std::int32_t> values) {
    const int size = transport.size();
    if (size == 1) return;
    const auto begins = equal_parts(transport, std::ssize(values));
    const auto part = [&](int rank) {
        const auto r = static_cast<std::size_t>(rank);
        return values.subspan(static_cast<std::size_t>(begins[r]),
                              static_cast<std::size_t>(begins[r + 1] - begins[r]));
    };
    const auto mine = part(transport.rank());
    std::vector<std::int32_t> others(mine.size() * static_cast<std::size_t>(size));
    std::vector<ConstBytes> to;
    std::vector<Bytes> from;
    for (int rank = 0; rank < size; ++rank) {
        const bool own = rank == transport.rank();
        const auto there =
            std::span(others).subspan(mine.size() * static_cast<std::size_t>(rank), mine.size());
        to.push_back(own ? ConstBytes() : bytes_of(part(rank)));
        from.push_back(own ? Bytes() : bytes_of(there));
    }
    exchange(transport, to, from, add_tag);
    for (std::size_t i = 0; i < others.size(); ++i) mine[i % mine.size()] += others[i];
    std::vector<std::int64_t> counts;
    counts.reserve(static_cast<std::size_t>(size));
    for (int rank = 0; rank < size; ++rank) counts.push_back(std::ssize(part(rank)));
    const auto all = all_gathered(transport, std::span<const std::int32_t>(mine), counts);
    std::copy(all.begin(), all.end(), values.begin());
}

void share_rows(Transport& transport, std::span<double> array, std::int64_t width,
                std::span<const std::int64_t> begins) {
    const auto part = [&](int of) {
        const auto r = static_cast<std::size_t>(of);
        return array.subspan(static_cast<std::size_t>(width * begins[r]),
                             static_cast<std::size_t>(width * (begins[r + 1] - begins[r])));
    };
    std::vector<ConstBytes> to;
    std::vector<Bytes> from;
    for (int rank = 0; rank < transport.size(); ++rank) {
        const bool own = rank == transport.rank();
        to.push_back(own ? ConstBytes() : bytes_of(part(transport.rank())));
        from.push_back(own ? Bytes() : bytes_of(part(rank)));
    }
    exchange(transport, to, from, rows_tag); // in place
}

std::string text_from_rank(Transport& transport, std::string text, int root) {
    return resized_from_rank(transport, std::move(text), root);
}

std::vector<std::byte> bytes_from_rank(Transport& transport, std::vector<std::byte> bytes, int root) {
    return resized_from_rank(transport, std::move(bytes), root);
}

std::vector<double> values_from_rank(Transport& transport, std::vector<double> values, int root) {
    return resized_from_rank(transport, std::move(values), root);
}

std::vector<std::int64_t> equal_parts(const Transport& transport, std::int64_t rows) {
    std::vector<std::int64_t> begins;
    for (int rank = 0; rank <= transport.size(); ++rank) begins.push_back(rows * rank / transport.size());
    return begins;
}

std::vector<double> part_from_root(Transport& transport, std::vector<double> all, std::int64_t width) {
    const auto rows = from_rank(transport, std::ssize(all) / width);
    const auto begins = equal_parts(transport, rows);
    const auto size_of = [&](std::size_t rank) {
        return static_cast<std::size_t>((begins[rank + 1] - begins[rank]) * width);
    };
    const auto rank = static_cast<std::size_t>(transport.rank());
    if (rank != 0) {
        std::vector<double> part(size_of(rank));
        if (!part.empty()) transport.receive(bytes_of(std::span(part)), 0, part_tag)->wait();
        return part;
    }
    std::vector<MessageHandle> messages;
    for (std::size_t r = 1; r + 1 < begins.size(); ++r) {
        const auto part =
            std::span<const double>(all).subspan(static_cast<std::size_t>(begins[r] * width), size_of(r));
        if (!part.empty()) messages.push_back(transport.send(bytes_of(part), static_cast<int>(r), part_tag));
    }
    for (const auto& message : messages) message->wait();
    all.resize(size_of(0));
    return all;
}

void bring_to_root(Transport& transport, ConstBytes mine, Bytes all, std::span<const std::size_t> sizes) {
    constexpr std::size_t most = std::size_t{64} << 20;
    const auto in_parts = [&](std::size_t size, const auto& carry) {
        for (std::size_t k = 0; k < size; k += most) carry(k, std::min(most, size - k))->wait();
    };
    if (transport.rank() != 0) {
        in_parts(mine.size(), [&](std::size_t begin, std::size_t count) {
            return transport.send(mine.subspan(begin, count), 0, part_tag);
        });
        return;
    }
    if (mine.data() != all.data()) std::copy(mine.begin(), mine.end(), all.begin());
    std::size_t first = sizes[0];
    for (std::size_t r = 1; r < sizes.size(); ++r) {
        in_parts(sizes[r], [&](std::size_t begin, std::size_t count) {
            return transport.receive(all.subspan(first + begin, count), static_cast<int>(r), part_tag);
        });
        first += sizes[r];
    }
}

std::vector<double> parts_on_root(Transport& transport, std::vector<double> mine) {
    const auto sizes = all_values(transport, mine.size() * sizeof(double));
    const auto count = mine.size();
    if (transport.rank() == 0)
        mine.resize(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}) / sizeof(double));
    const std::span<double> all(mine);
    bring_to_root(transport, bytes_of(std::span<const double>(all.first(count))), bytes_of(all), sizes);
    if (transport.rank() != 0) mine.clear();
    return mine;
}

bool any_rank(Transport& transport, bool mine) {
    if (transport.size() == 1) return mine;
    const auto all = all_values(transport, static_cast<std::uint8_t>(mine));
    return std::any_of(all.begin(), all.end(), [](auto value) { return value != 0; });
}

bool any_rank(Transport* transport, bool mine) {
    return transport != nullptr ? any_rank(*transport, mine) : mine;
}

} // namespace farfield::comm
