// The ways to spread M2L over a GPU that `farfield reproduce fmm-strategies` compares, without a CUDA header.
#pragma once

#include "studies/fmm_strategies/problem.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace farfield::strategies {

enum class Strategy { full, sequential, dynamic1, dynamic2, dynamic3, tiles, rotated };

struct StrategyInfo {
    Strategy strategy;
    std::string_view name;
    std::string_view source; ///< the slide; empty: not of the slides
    bool launches;           ///< kernels from the GPU
};
inline constexpr std::array strategy_table{
    StrategyInfo{Strategy::full, "full parallelization", "Full parallelization – all loops", false},
    StrategyInfo{Strategy::sequential, "sequential inner loop", "M2L Runtime – Sequential Inner Loop", false},
    StrategyInfo{Strategy::dynamic1, "dynamic 1", "Dynamic Scheme 1", true},
    StrategyInfo{Strategy::dynamic2, "dynamic 2", "Dynamic Scheme 2", true},
    StrategyInfo{Strategy::dynamic3, "dynamic 3", "Dynamic Scheme 3", true},
    StrategyInfo{Strategy::tiles, "matrix tiles, p⁴", "", false},
    StrategyInfo{Strategy::rotated, "rotations, p³", "", false},
};

/// M2L of one problem on the current GPU, over and over. @throws BackendUnavailable, DeviceError.
class StrategyRuns {
public:
    StrategyRuns(const Problem& problem, bool is_double);
    StrategyRuns(StrategyRuns&&) noexcept;
    StrategyRuns& operator=(StrategyRuns&&) noexcept;
    ~StrategyRuns();

    /// Milliseconds of all levels by events, the launches that the host makes among them; µ begins at 0.
    double run(Strategy strategy);
    /// The index arithmetic of `full` alone, which leaves µ as it is.
    double run_indices();
    /// µ of the last run, all boxes.
    [[nodiscard]] std::vector<Moment> fetch() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace farfield::strategies
