#include "backend/comm/slow_ranks.h"

#include <algorithm>
#include <chrono>
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
    : RelayedRanks(all), rates_(rates), bucket_(rates.bandwidth, bytes_of_a_frame) {}

// Sleeping may last longer than a message: the last part is waited for awake.
MessageHandle SlowRanks::send(ConstBytes data, int to, int tag) {
    const double now = watch_.seconds();
    const double leaves = rates_.latency + bucket_.take(static_cast<double>(data.size()), now);
    constexpr double awake = 2e-4;
    if (leaves - now > awake)
        std::this_thread::sleep_for(std::chrono::duration<double>(leaves - now - awake));
    while (watch_.seconds() < leaves) std::this_thread::yield();
    return RelayedRanks::send(data, to, tag);
}

} // namespace farfield::comm
