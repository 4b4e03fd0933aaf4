// Seconds of passes that are at work more than once.
#pragma once

#include <farfield/sum.h>

#include <algorithm>

namespace farfield {

/// To the pass of that name, which may have been at work before.
inline void add_seconds(SumReport& report, const char* name, double seconds) {
    const auto same = std::find_if(report.passes.begin(), report.passes.end(),
                                   [&](const PassTime& pass) { return pass.name == name; });
    if (same != report.passes.end())
        same->seconds += seconds;
    else
        report.passes.push_back({name, seconds});
}

} // namespace farfield
