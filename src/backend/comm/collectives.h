// Collective calls made of messages between pairs of ranks, for transports that have no better ones and for
// sizes that theirs do not take.
#pragma once

#include "backend/comm/transport.h"

namespace farfield::comm {

inline constexpr int first_own_tag = 10000; ///< tags of callers are below

void barrier_by_messages(Transport& transport);
/// Along a binomial tree.
void broadcast_by_messages(Transport& transport, Bytes data, int root);
/// Around a ring: each rank hands on what it received last.
void all_gather_by_messages(Transport& transport, ConstBytes mine, Bytes all,
                            std::span<const std::size_t> sizes);

} // namespace farfield::comm
