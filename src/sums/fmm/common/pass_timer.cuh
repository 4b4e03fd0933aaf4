// The times of passes that are queued on several streams.
#pragma once

#include "backend/cuda/stream.h"

#include <farfield/sum.h>

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
    /// Seconds of each that has a name; waits for them.
    [[nodiscard]] std::vector<PassTime> seconds() const {
        std::vector<PassTime> out;
        for (auto mark = marks_.begin(); mark != marks_.end(); ++mark) {
            if (mark->name.empty()) continue;
            auto before = mark;
            do --before;
            while (before->stream != mark->stream);
            out.push_back({mark->name, 1e-3 * Event::milliseconds(before->event, mark->event)});
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
