#include "sums/ewald/ewald_sum.h"

#include "sums/ewald/waves.h"

#include <cstdint>
#include <memory>

namespace farfield {
namespace {

class WavePart : public SmoothPart {
public:
    WavePart(const PeriodicFrame& frame, const Cutoffs& cutoffs, Isa isa, int threads)
        : cutoff_(cutoffs.wave), waves_(frame, cutoffs, isa, threads) {}

    void set_points(const LatticePoints& sources, const LatticePoints& targets, bool self) override {
        sources_ = &sources;
        targets_ = self ? &sources : &targets;
    }
    void add(std::span<const double> strengths, const LatticeResults& results, WorkWatch& watch,
             const std::function<void(std::string_view)>& pass) override {
        waves_.set_sources(*sources_, strengths, watch);
        pass("structure factors");
        waves_.add(*targets_, results, watch);
        pass("waves");
    }
    [[nodiscard]] double work() const override {
        return static_cast<double>((*sources_)[0].size() + (*targets_)[0].size()) *
               static_cast<double>(waves_.count());
    }
    void describe(LatticeReport& report, double scale) const override {
        report.wave_cutoff = cutoff_ * scale;
        report.waves = waves_.count();
    }

private:
    double cutoff_;
    Waves waves_;
    const LatticePoints *sources_ = nullptr, *targets_ = nullptr;
};

} // namespace

double ewald_seconds_alone(const SumProblem& problem, const Cutoffs& cutoffs, const CostTable& table) {
    const PeriodicFrame frame(problem);
    const auto n = static_cast<double>(problem.sources), m = static_cast<double>(problem.targets);
    const double pairs = m * near_images(frame, n, cutoffs);
    // structure factors take about half of what sums at targets take
    const double waves = (0.5 * n + m) * wave_count(frame, cutoffs.wave);
    return pairs * cost_of(table, "lattice.cpu.pair_seconds") +
           waves * cost_of(table, "ewald.cpu.wave_seconds");
}

Cutoffs ewald_cutoffs(const SumProblem& problem, double goal, const CostTable& table) {
    const PeriodicFrame frame(problem);
    return best_cutoffs(frame, static_cast<double>(problem.sources), goal,
                        [&](const Cutoffs& cutoffs) { return ewald_seconds_alone(problem, cutoffs, table); });
}

EwaldSum::EwaldSum(const SumProblem& problem, const Cutoffs& cutoffs, Isa isa, int threads)
    : LatticeSum(problem, cutoffs.splitting, cutoffs.near,
                 std::make_unique<WavePart>(PeriodicFrame(problem), cutoffs, isa, threads), isa, threads) {}

} // namespace farfield
