// What share the evaluation of Hermite series has of a whole transform on a CPU, for `farfield reproduce
// hermite`: the paper's interactions 1 and 2 (direct, Hermite) between boxes of the plane, by plain loops.
#pragma once

#include "studies/reproduce.h"
#include "studies/study_table.h"

#include <cstdint>
#include <vector>

namespace farfield::hermite {

/// Gaussians of sources at as many targets, half of both evenly spread over the unit square and half in
/// dense clouds. The square has boxes of side √2σ; a target meets those within some boxes of its own.
class WholeTransform {
public:
    WholeTransform(int terms, std::int64_t points);

    /// Seconds of the parts, each on so many threads.
    struct Seconds {
        double expansions = 0, hermite = 0, direct = 0;
        [[nodiscard]] double all() const { return expansions + hermite + direct; }
    };
    Seconds run(int threads);
    [[nodiscard]] const std::vector<float>& potentials() const { return potentials_; }

    /// The largest error at some targets against the sum over all sources in double, over the greatest |G|.
    [[nodiscard]] double error(int threads) const;
    [[nodiscard]] double sources_a_box() const;
    /// Of the pairs of a source and a target within reach, those in series.
    [[nodiscard]] double share_in_series() const;

private:
    struct Points { ///< sorted by boxes
        std::vector<float> x, y;
        std::vector<std::int64_t> begin; ///< boxes + 1
    };
    template <int p>
    Seconds run_of(int threads);
    template <int p>
    void expand(std::int64_t box);
    template <int p>
    void add_series(std::int64_t target_box);
    void add_pairs(std::int64_t target_box);
    template <class Visit>
    void for_each_near(std::int64_t target_box, bool in_series, const Visit& visit) const;
    [[nodiscard]] bool is_in_series(std::int64_t box) const;
    [[nodiscard]] Points sorted(std::uint32_t purpose, std::int64_t points) const;
    [[nodiscard]] float centre(std::int64_t index) const;

    int terms_, side_, reach_;
    float inverse_width_;
    Points sources_, targets_;
    std::vector<float> charges_, moments_, potentials_;
};

/// Shares for all numbers of terms, beside the paper's.
StudyTable whole_transform_table(const ReproduceOptions& options);

} // namespace farfield::hermite
