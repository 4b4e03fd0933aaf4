// What the tables of `farfield reproduce fmm-strategies` share: measurements, each made once.
#pragma once

#include "studies/fmm_strategies/strategies.h"
#include "studies/reproduce.h"
#include "studies/study_device.h"
#include "studies/study_table.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace farfield::strategies {

/// The slides' numbers: "Total Runtime Distribution", N = 103000, p = 10, d = 4, Tesla K40, in percent.
struct SplitShare {
    std::string_view pass;
    double percent;
};
constexpr std::int64_t slides_points = 103000;
constexpr int slides_order = 10, slides_depth = 4;
inline constexpr std::array slides_split{SplitShare{"P2P", 39.61}, SplitShare{"P2M", 3.95},
                                         SplitShare{"M2M", 2.50},  SplitShare{"M2L", 48.24},
                                         SplitShare{"L2L", 2.18},  SplitShare{"forces", 3.52}};
constexpr double slides_least_gain = 2.0, slides_most_gain = 7.0;

struct MeasuredTime {
    double seconds = 0;
    double error = 0;
};

/// Times strategies on the GPU, or the host's loops on the CPU.
class Measurements {
public:
    Measurements(const ReproduceOptions& options, const StudyDevice& device);

    [[nodiscard]] bool has_gpu() const { return device_.gpu.has_value(); }
    [[nodiscard]] const std::vector<int>& orders() const { return orders_; }
    [[nodiscard]] const std::vector<int>& depths() const { return depths_; }
    [[nodiscard]] int deepest() const { return depths_.back(); }
    [[nodiscard]] const ReproduceOptions& options() const { return options_; }
    [[nodiscard]] const Charges& charges() const { return charges_; }
    [[nodiscard]] StudyValue missing() const { return StudyValue::none(device_.missing); }
    /// Fused multiply-adds a second that were measured; 0 without a GPU.
    [[nodiscard]] double peak(bool is_double) const { return is_double ? peak_double_ : peak_float_; }

    MeasuredTime time(Strategy strategy, int order, int depth, bool is_double = true);
    /// The index arithmetic of `full` alone.
    double indices(int order, int depth);
    /// The host's loops: those of sampled boxes, taken for all.
    double host(int order, int depth);
    /// Seconds by pass of a fast multipole sum of the slides' points, order and depth on the GPU, in double.
    [[nodiscard]] std::map<std::string, double, std::less<>> whole_sum() const;

    void tell(const std::string& what) const {
        if (options_.progress) options_.progress(what);
    }

private:
    struct Prepared {
        Problem problem;
        std::vector<LevelBox> boxes;
        std::vector<Moment> exact;
        double host_seconds = 0; ///< of all boxes
        std::optional<StrategyRuns> in_double{}, in_float{};
    };
    Prepared& prepared(int order, int depth);
    StrategyRuns& runs(Prepared& problem, bool is_double);
    template <class Run>
    double median_seconds(Run&& run) const;

    const ReproduceOptions& options_;
    const StudyDevice& device_;
    Charges charges_;
    std::vector<int> orders_, depths_;
    double peak_double_ = 0, peak_float_ = 0;
    std::optional<Prepared> current_; ///< the last one: moments of all are not kept
    std::map<std::tuple<Strategy, int, int, bool>, MeasuredTime> times_;
    std::map<std::pair<int, int>, double> indices_, host_;
};

/// Seconds by order at the deepest tree, and the optimal lines.
StudyTable times_table(Measurements& measured);
StudyTable gain_table(Measurements& measured);
/// The fastest of the slides' and of all, for every order and depth.
std::vector<StudyTable> winner_tables(Measurements& measured);
StudyTable indices_table(Measurements& measured);
/// p³ against p⁴, in double and float.
StudyTable cubed_table(Measurements& measured);
StudyTable split_table(Measurements& measured);
StudyTable memory_table(Measurements& measured);
StudyTable sparse_table(Measurements& measured);

} // namespace farfield::strategies
