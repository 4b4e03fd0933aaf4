#include "sums/ewald/ewald_sum.h"

#include "sums/ewald/waves.h"

#include <cstdint>
#include <memory>

namespace farfield {
namespace {

class WavePart : public SmoothPart {
public:
    WavePart(const PeriodicFrame& frame, const Cutoffs& cutoffs, Isa isa, int threads, comm::Transport* ranks)
        : cutoff_(cutoffs.wave), waves_(frame, cutoffs, isa, threads, ranks) {}

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
        return static_cast<double>((*sources_)[0].size()) * static_cast<double>(waves_.own_count()) +
               static_cast<double>((*targets_)[0].size()) * work_of_target();
    }
    [[nodiscard]] double work_of_target() const override { return static_cast<double>(waves_.count()); }
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

EwaldRates ewald_rates(const CostTable& table) {
    // structure factors take about half of what sums at targets take
    return {.pair = cost_of(table, "lattice.cpu.pair_seconds"),
            .wave = cost_of(table, "ewald.cpu.wave_seconds"),
            .of_sources = 0.5};
}

// In units of what a pair of a direct sum in double takes; measured on an H100.
EwaldRates ewald_rates_on_gpu(const CostTable& table, std::string_view gpu) {
    const double unit = 1.0 / cost_of_gpu(table, "direct.gpu.MODEL.double.pairs_per_second", gpu);
    return {.pair = 8.5 * unit, .wave = 1.0 * unit, .of_sources = 0.9};
}

double ewald_seconds(const SumProblem& problem, const Cutoffs& cutoffs, const EwaldRates& rates) {
    const PeriodicFrame frame(problem);
    const auto n = static_cast<double>(problem.sources), m = static_cast<double>(problem.targets);
    const double pairs = m * near_images(frame, n, cutoffs);
    const double waves = (rates.of_sources * n + m) * wave_count(frame, cutoffs.wave);
    return pairs * rates.pair + waves * rates.wave;
}

Cutoffs ewald_cutoffs(const SumProblem& problem, double goal, const EwaldRates& rates) {
    const PeriodicFrame frame(problem);
    return best_cutoffs(frame, static_cast<double>(problem.sources), goal,
                        [&](const Cutoffs& cutoffs) { return ewald_seconds(problem, cutoffs, rates); });
}

EwaldSum::EwaldSum(const SumProblem& problem, const Cutoffs& cutoffs, Isa isa, int threads,
                   comm::Transport* ranks)
    : LatticeSum(problem, cutoffs.splitting, cutoffs.near,
                 std::make_unique<WavePart>(PeriodicFrame(problem), cutoffs, isa, threads, ranks), isa,
                 threads, ranks) {}

} // namespace farfield
