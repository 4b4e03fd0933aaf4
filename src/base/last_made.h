// Things that are costly to make and good for more than one use: the last few, by what they depend on.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

namespace farfield {

/// What was asked for last. Threads that ask for the same wait for the one that makes it.
template <class Key, class Made>
class LastMade {
public:
    template <class Make>
    std::shared_ptr<const Made> find(const Key& key, const Make& make) {
        constexpr std::size_t kept = 3;
        const std::lock_guard lock(mutex_);
        for (const auto& [of, made] : last_)
            if (of == key) return made;
        last_.emplace_front(key, std::make_shared<const Made>(make()));
        if (last_.size() > kept) last_.pop_back();
        return last_.front().second;
    }

    /// Null where it is not there (any more).
    std::shared_ptr<const Made> known(const Key& key) {
        const std::lock_guard lock(mutex_);
        for (const auto& [of, made] : last_)
            if (of == key) return made;
        return nullptr;
    }

private:
    std::mutex mutex_;
    std::deque<std::pair<Key, std::shared_ptr<const Made>>> last_;
};

} // namespace farfield
