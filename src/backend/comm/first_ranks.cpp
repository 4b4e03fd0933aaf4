#include "backend/comm/first_ranks.h"

#include "backend/comm/collectives.h"

#include <algorithm>
#include <cstdlib>

namespace farfield::comm {

int FirstRanks::local_size() const {
    const int before = rank() - local_rank(); // ranks of other hosts
    return std::min(all_.local_size(), count_ - before);
}

MessageHandle FirstRanks::send(ConstBytes data, int to, int tag) {
    ++sent_.messages;
    sent_.bytes += static_cast<std::int64_t>(data.size());
    return all_.send(data, to, tag);
}

void FirstRanks::barrier() { barrier_by_messages(*this); }

void FirstRanks::broadcast(Bytes data, int root) { broadcast_by_messages(*this, data, root); }

void FirstRanks::all_gather(ConstBytes mine, Bytes all, std::span<const std::size_t> sizes) {
    all_gather_by_messages(*this, mine, all, sizes);
}

void FirstRanks::abort(int code) {
    all_.abort(code);
    std::abort(); // which compilers would not know it does
}

} // namespace farfield::comm
