#include "backend/comm/slow_ranks.h"

#include "backend/comm/collectives.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace farfield::comm {
namespace {

constexpr double bytes_of_a_frame = 1500.0; // of Ethernet

} // namespace

double TokenBucket::take(double bytes, double now) {
    tokens_ = std::min(capacity_, tokens_ + rate_ * (now - at_)) - bytes;
    at_ = now;
    return tokens_ >= 0.0 ? now : now - tokens_ / rate_;
}

SlowRanks::SlowRanks(Transport& all, const LinkRates& rates)
    : all_(all), rates_(rates), bucket_(rates.bandwidth, bytes_of_a_frame) {}

// Sleeping may last longer than a message: the last part is waited for awake.
MessageHandle SlowRanks::send(ConstBytes data, int to, int tag) {
    const double now = watch_.seconds();
    const double leaves = rates_.latency + bucket_.take(static_cast<double>(data.size()), now);
    constexpr double awake = 2e-4;
    if (leaves - now > awake)
        std::this_thread::sleep_for(std::chrono::duration<double>(leaves - now - awake));
    while (watch_.seconds() < leaves) std::this_thread::yield();
    return all_.send(data, to, tag);
}

void SlowRanks::barrier() { barrier_by_messages(*this); }

void SlowRanks::broadcast(Bytes data, int root) { broadcast_by_messages(*this, data, root); }

void SlowRanks::all_gather(ConstBytes mine, Bytes all, std::span<const std::size_t> sizes) {
    all_gather_by_messages(*this, mine, all, sizes);
}

void SlowRanks::abort(int code) {
    all_.abort(code);
    std::abort(); // which compilers would not know it does
}

} // namespace farfield::comm
