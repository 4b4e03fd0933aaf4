// Animated PNG (https://www.w3.org/TR/png-3, "APNG"): one file that browsers play, and that others show as a
// still picture, the first frame.
#pragma once

#include "io/picture/canvas.h"

#include <cstddef>
#include <vector>

namespace farfield::picture {

/// Collects frames of one size; of each, only what differs from the one before is kept.
class Animation {
public:
    /// Each frame is shown for `milliseconds`.
    explicit Animation(int milliseconds) : milliseconds_(milliseconds) {}

    void add(const Canvas& frame);
    [[nodiscard]] std::size_t frames() const { return frames_.size(); }
    /// The file; the animation repeats for ever. At least one frame was added.
    [[nodiscard]] std::vector<std::byte> bytes() const;

private:
    struct Frame {
        int left = 0;
        int top = 0;
        int width = 0;
        int height = 0;
        std::vector<std::byte> data; ///< compressed, as in IDAT
    };

    int milliseconds_;
    std::vector<Canvas> last_;      ///< the last frame, if any
    std::vector<std::byte> header_; ///< content of IHDR
    std::vector<Frame> frames_;
};

} // namespace farfield::picture
