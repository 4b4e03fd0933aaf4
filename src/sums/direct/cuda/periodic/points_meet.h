// What a sum over a whole periodic box throws where points meet.
#pragma once

#include <farfield/error.h>

namespace farfield::cuda {

/// Points of a periodic tree meet, and sums where they do are not finite: says so to who can sum them
/// otherwise.
class PointsMeet : public InternalError {
public:
    PointsMeet() : InternalError("points of a periodic tree meet") {}
};

} // namespace farfield::cuda
