// The smooth part of a periodic sum, Σ q erf(αR)/R over all images but for its mean over the box: what a
// method has of its own beside near images and corrections. Ranks share it: each has all sources and targets
// of its own, and calls `add` when the others do.
#pragma once

#include "backend/threads/work_watch.h"
#include "sums/lattice/near_sum.h"

#include <farfield/sum.h>

#include <functional>
#include <span>
#include <string_view>

namespace farfield {

class SmoothPart {
public:
    SmoothPart() = default;
    SmoothPart(const SmoothPart&) = delete;
    SmoothPart& operator=(const SmoothPart&) = delete;
    virtual ~SmoothPart() = default;

    /// In the box. The points stay where they are until others come. `self`: targets are the sources, and
    /// `targets` are none.
    virtual void set_points(const LatticePoints& sources, const LatticePoints& targets, bool self) = 0;

    /// *Adds* to all targets, each source to itself as well. Calls `pass` with a name after each pass.
    virtual void add(std::span<const double> strengths, const LatticeResults& results, WorkWatch& watch,
                     const std::function<void(std::string_view)>& pass) = 0;

    /// What `add` tells the watch, in all; a near image counts 1.
    [[nodiscard]] virtual double work() const = 0;
    /// Of that, what a target takes.
    [[nodiscard]] virtual double work_of_target() const = 0;

    /// In the caller's units, with `scale` of the frame.
    virtual void describe(LatticeReport& report, double scale) const = 0;
};

} // namespace farfield
