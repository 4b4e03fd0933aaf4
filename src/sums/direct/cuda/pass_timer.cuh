// The times of passes that are queued on several streams.
#pragma once

#include "backend/cuda/stream.h"

#include <farfield/sum.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::cuda {

/// Times between marks, of each stream since its mark before.
class PassTimer {
public:
    PassTimer() = default;
    explicit PassTimer(cudaStream_t stream) { begin(stream); }
    /// Forgets all marks; events are kept, as making them takes the host longer than queueing a pass.
    void restart(cudaStream_t stream) {
        used_ = 0;
        begin(stream);
    }
    void begin(cudaStream_t stream) { mark({}, stream); }
    void mark(std::string_view name, cudaStream_t stream) {
        if (used_ == marks_.size()) marks_.emplace_back();
        auto& mark = marks_[used_++];
        mark.name = name;
        mark.stream = stream;
        mark.event.record(stream);
    }
    /// Seconds of each that has a name, those of one name together; waits for them.
    [[nodiscard]] std::vector<PassTime> seconds() const {
        std::vector<PassTime> out;
        const auto end = marks_.begin() + static_cast<std::ptrdiff_t>(used_);
        for (auto mark = marks_.begin(); mark != end; ++mark) {
            if (mark->name.empty()) continue;
            auto before = mark;
            do --before;
            while (before->stream != mark->stream);
            const double seconds = 1e-3 * Event::milliseconds(before->event, mark->event);
            const auto known = std::find_if(out.begin(), out.end(),
                                            [&](const PassTime& pass) { return pass.name == mark->name; });
            if (known == out.end())
                out.push_back({mark->name, seconds});
            else
                known->seconds += seconds;
        }
        return out;
    }
    /// Seconds from the first mark to the last.
    [[nodiscard]] double total() const {
        return 1e-3 * Event::milliseconds(marks_.front().event, marks_[used_ - 1].event);
    }

private:
    struct Mark {
        std::string name;
        cudaStream_t stream = nullptr;
        Event event;
    };
    std::deque<Mark> marks_;
    std::size_t used_ = 0; ///< of the marks
};

} // namespace farfield::cuda
