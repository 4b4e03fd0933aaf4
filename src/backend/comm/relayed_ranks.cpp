#include "backend/comm/relayed_ranks.h"

#include "backend/comm/collectives.h"

#include <cstdlib>

namespace farfield::comm {

void RelayedRanks::barrier() { barrier_by_messages(*this); }

void RelayedRanks::broadcast(Bytes data, int root) { broadcast_by_messages(*this, data, root); }

void RelayedRanks::all_gather(ConstBytes mine, Bytes all, std::span<const std::size_t> sizes) {
    all_gather_by_messages(*this, mine, all, sizes);
}

void RelayedRanks::abort(int code) {
    all_.abort(code);
    std::abort(); // which compilers would not know it does
}

} // namespace farfield::comm
