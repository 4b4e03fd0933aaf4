// How much stronger than evenly spread points' the fields are that pairs at close range make: points at
// random have such pairs, and relative errors are relative to fields with them.
#pragma once

#include "sums/method/problem.h"

#include <span>

namespace farfield {
namespace comm {
class Transport;
}

/// The root of the mean square of the field that its nearest source gives a target, in units of 1/a² with a =
/// (V/N)^⅓, for strengths of 1; each target counts 1 at least. Targets that lie on sources have none of
/// these. N×3 and M×3 as the caller gave them; `targets` empty: the sources. `ranks` share the targets and
/// get the same bits; null: this process is alone.
double near_field_strength(const SumProblem& problem, std::span<const double> sources,
                           std::span<const double> targets, int threads, comm::Transport* ranks = nullptr);

} // namespace farfield
