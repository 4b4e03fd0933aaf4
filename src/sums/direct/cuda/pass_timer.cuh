// The times of passes that are queued on several streams.
#pragma once

#include "backend/cuda/stream.h"

#include <farfield/sum.h>

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::cuda {

/// Times between marks, of each stream since its mark before.
class PassTimer {
public:
    explicit PassTimer(cudaStream_t stream) { begin(stream); }
    void begin(cudaStream_t stream) { mark({}, stream); }
    void mark(std::string_view name, cudaStream_t stream) {
        marks_.push_back({std::string(name), stream, Event()});
        marks_.back().event.record(stream);
    }
    /// Seconds of each that has a name, those of one name together; waits for them.
    [[nodiscard]] std::vector<PassTime> seconds() const {
        std::vector<PassTime> out;
        for (auto mark = marks_.begin(); mark != marks_.end(); ++mark) {
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
        return 1e-3 * Event::milliseconds(marks_.front().event, marks_.back().event);
    }

private:
    struct Mark {
        std::string name;
        cudaStream_t stream;
        Event event;
    };
    std::deque<Mark> marks_;
};

} // namespace farfield::cuda
