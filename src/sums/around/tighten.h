// How a sum inside another one is computed again where what was made of it misses its tolerance.
#pragma once

#include <farfield/sum.h>

#include <span>

namespace farfield {

/// True for an error that is left alone. It has to be well below the tolerance, as a sample may miss the
/// targets that are off most, unless a way is asked for by name: that way may have no smaller tolerance.
bool keeps(const SumOptions& asked, double error);

/// Changes `inner`, whose sum led to `report` and to an error of what was made of it, so that it computes
/// more exactly. False where it cannot. @param asked  the options of the user, with the tolerance that was
/// missed
bool tighten(SumOptions& inner, const SumOptions& asked, const SumReport& report, double error);

/// The largest of the errors; infinite where one is not a number.
double largest_error(std::span<const OutputError> errors);

} // namespace farfield
