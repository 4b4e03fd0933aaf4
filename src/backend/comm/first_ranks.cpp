#include "backend/comm/first_ranks.h"

#include <algorithm>

namespace farfield::comm {

int FirstRanks::local_size() const {
    const int before = rank() - local_rank(); // ranks of other hosts
    return std::min(RelayedRanks::local_size(), count_ - before);
}

MessageHandle FirstRanks::send(ConstBytes data, int to, int tag) {
    ++sent_.messages;
    sent_.bytes += static_cast<std::int64_t>(data.size());
    return RelayedRanks::send(data, to, tag);
}

} // namespace farfield::comm
