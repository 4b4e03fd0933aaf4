// Von Neumann's analysis at sample cells: where the step around a cell is a linear system with constant
// coefficients, its growth for short waves is compared with that for long ones.
//
// Long waves may grow, as in a laser; that is the program's physics. Short ones that grow faster come from
// the step. A growth of 5e-6 in a step is told apart from none: what is smaller needs 2e5 steps for a factor
// of e, and lies near the accuracy of growth_factor (1e-6). At the limit of leapfrog, where growth rises as
// the root of the excess, it finds a Courant number that is too large by 1e-11; for diffusion, where it is
// proportional, by 5e-6.
#include "stencil/analysis/stability/stability.h"

#include "backend/threads/parallel.h"
#include "stencil/analysis/stability/linear_step.h"
#include "stencil/analysis/stability/sample_cells.h"
#include "stencil/analysis/wording.h"
#include "stencil/front_end/syntax/diagnostic_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <set>
#include <string>

namespace farfield::stencil {
namespace {

constexpr double tolerance = 5e-6;
constexpr double negligible_growth = 1 + 0.9 * tolerance; // how much less a wave grows is of no interest
constexpr double pi = std::numbers::pi;

// Waves to look at, short ones apart: those that have no more than four cells a period along some axis.
struct Waves {
    std::vector<Wave> shorter;
    std::vector<Wave> longer;
};

// A wave and its opposite, -k, have conjugate matrices; of angles a half turn is its own opposite.
bool is_repeated(const std::array<int, 3>& turns, int parts) {
    if (turns[0] != 0 && turns[0] != parts) return false;
    for (const std::size_t axis : {1, 2})
        if (turns[axis] != 0 && turns[axis] != parts) return turns[axis] < 0;
    return false;
}

Waves waves_of(int rank) {
    const int parts = rank == 3 ? 2 : 4; // of a half turn
    Waves out;
    for (int i = 0; i <= parts; ++i)
        for (int j = rank > 1 ? 1 - parts : 0; j <= (rank > 1 ? parts : 0); ++j)
            for (int k = rank > 2 ? 1 - parts : 0; k <= (rank > 2 ? parts : 0); ++k) {
                if (is_repeated({i, j, k}, parts)) continue;
                const Wave wave{i * pi / parts, j * pi / parts, k * pi / parts};
                const bool is_short = std::any_of(wave.begin(), wave.end(),
                                                  [](double angle) { return std::fabs(angle) > 0.49 * pi; });
                (is_short ? out.shorter : out.longer).push_back(wave);
            }
    if (rank == 3)
        for (const double y : {0.0, pi / 4})
            for (const double z : {0.0, pi / 4}) out.longer.push_back({pi / 4, y, z});
    return out;
}

struct GrowingWave {
    Wave wave = {};
    double growth = 1;
};

struct Finding {
    LinearStep step;
    Cell cell = {};
    GrowingWave worst;
};

// The wave that grows most beyond what long waves do; none where the step is stable.
std::optional<GrowingWave> growing_wave(const LinearStep& step, const Waves& waves, double scale = 1) {
    Wave worst = {};
    double growth = 0;
    for (const auto& wave : waves.shorter) {
        const double here = step.growth(wave, scale, negligible_growth);
        if (!(here <= growth)) {
            growth = here;
            worst = wave;
        }
    }
    if (growth <= 1 + tolerance) return std::nullopt;
    double allowed = 1;
    for (const auto& wave : waves.longer) allowed = std::max(allowed, step.growth(wave, scale, allowed));
    // Gain is alike for all waves; errors of the step grow with the wave number.
    const bool as_gain = growth - 1 <= 1.5 * (allowed - 1);
    if (growth <= allowed * (1 + tolerance) && as_gain) return std::nullopt;
    return GrowingWave{worst, growth};
}

// Numbers that are equal for cells with the same system.
std::vector<double> fingerprint(const LinearStep& step) {
    std::vector<double> out;
    for (const auto& kernel : step.kernels) {
        out.push_back(kernel.kernel);
        for (const auto& row : kernel.rows)
            for (const auto& term : row.terms) out.push_back(term.factor);
    }
    return out;
}

class Analysis {
public:
    Analysis(const ir::Program& program, const Domains& domains, int grid)
        : program_(program), grid_(program.grids[static_cast<std::size_t>(grid)]),
          waves_(waves_of(grid_.rank)) {
        const auto samples = sample_cells(program, domains, grid);
        std::vector<std::vector<LinearStep>> steps(samples.size());
        parallel_for(thread_count(0), static_cast<std::int64_t>(samples.size()), [&](std::int64_t i) {
            const auto& sample = samples[static_cast<std::size_t>(i)];
            steps[static_cast<std::size_t>(i)] = linear_steps(program, sample.kernels, sample.cell);
        });
        const auto growing = growing_waves(steps);
        for (std::size_t i = 0; i < samples.size(); ++i)
            for (auto& step : steps[i]) look_at(samples[i], step, growing.at(fingerprint(step)));
    }

    const std::optional<Finding>& worst() const { return worst_; }

    /// The largest part of the change in a step that is stable; none where no step is, or it cannot be told.
    std::optional<double> stable_scale() const {
        const auto& step = worst_->step;
        if (!step.made_of_changes()) return std::nullopt;
        double scale = 1;
        auto growing = std::optional(worst_->worst);
        for (int waves = 0; growing && waves < 4; ++waves) {
            scale = stable_scale(step, growing->wave, scale);
            growing = growing_wave(step, waves_, scale);
        }
        // Without a limit, growth falls with the step and only the tolerance is met.
        const bool shrinking = step.growth(worst_->worst.wave, scale / 2) > 1 + tolerance / 5;
        return growing || shrinking ? std::nullopt : std::optional(scale);
    }

private:
    static double stable_scale(const LinearStep& step, const Wave& wave, double high) {
        double low = 0;
        for (int i = 0; i < 30; ++i) {
            const double middle = (low + high) / 2;
            (step.growth(wave, middle, negligible_growth) <= 1 + tolerance ? low : high) = middle;
        }
        return low;
    }

    // Growth at one sharp maximum of a coefficient is not yet growth of the whole: its surroundings count
    // too.
    bool grows_around(const SampleCell& sample, const LinearStep& step) {
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(grid_.rank); ++axis)
            for (const std::int64_t distance : {-2, 2}) {
                auto cell = sample.cell;
                cell[axis] = std::clamp(cell[axis] + distance, std::int64_t{0}, grid_.shape[axis] - 1);
                const auto parts = linear_steps(program_, sample.kernels, cell);
                const auto same = std::find_if(parts.begin(), parts.end(), [&](const LinearStep& part) {
                    return part.fields == step.fields;
                });
                if (same == parts.end() || !spend(*same) || !growing_wave(*same, waves_)) return false;
            }
        return true;
    }

    using Growing = std::map<std::vector<double>, std::optional<GrowingWave>>; // by fingerprint

    // Of each system once, however many cells have it.
    Growing growing_waves(const std::vector<std::vector<LinearStep>>& steps) {
        Growing out;
        std::vector<std::pair<const LinearStep*, std::optional<GrowingWave>*>> systems;
        for (const auto& of_cell : steps)
            for (const auto& step : of_cell) {
                const auto [place, fresh] = out.try_emplace(fingerprint(step));
                if (fresh && spend(step)) systems.emplace_back(&step, &place->second);
            }
        parallel_for(thread_count(0), static_cast<std::int64_t>(systems.size()), [&](std::int64_t i) {
            const auto& [step, growing] = systems[static_cast<std::size_t>(i)];
            *growing = growing_wave(*step, waves_);
        });
        return out;
    }

    void look_at(const SampleCell& sample, LinearStep& step, const std::optional<GrowingWave>& found) {
        if (!found || (worst_ && found->growth <= worst_->worst.growth)) return;
        if (++attempts_ > most_attempts || !grows_around(sample, step)) return;
        worst_ = Finding{std::move(step), sample.cell, *found};
    }

    // False where too much work was done already.
    bool spend(const LinearStep& step) {
        const auto size = static_cast<double>(step.fields.size());
        work_ += size * size * size * static_cast<double>(waves_.shorter.size() + waves_.longer.size());
        return work_ <= most_work;
    }

    static constexpr int most_attempts = 300;
    static constexpr double most_work = 2e7; // each stands for 20 complex multiplications: under a second

    const ir::Program& program_;
    const ir::Grid& grid_;
    Waves waves_;
    double work_ = 0;
    int attempts_ = 0;
    std::optional<Finding> worst_;
};

std::string wave_text(const ir::Grid& grid, const Wave& wave) {
    std::string out;
    for (std::size_t a = 0; a < static_cast<std::size_t>(grid.rank); ++a) {
        if (wave[a] == 0) continue;
        out += fmt::format("{}{:.3g} cells along {}", out.empty() ? "" : " and ", 2 * pi / std::fabs(wave[a]),
                           grid.axes[a]);
    }
    return out;
}

// Four digits, rounded towards zero so that the number itself is stable.
std::string rounded_to_zero(double value) {
    const double unit = std::pow(10.0, std::floor(std::log10(std::fabs(value))) - 3);
    return fmt::format("{:.4g}", std::trunc(value / unit) * unit);
}

// 2.618; 1 + 2.3e-4 where four digits would show 1.
std::string factor_text(double growth) {
    return growth < 1.01 ? fmt::format("1 + {:.2g}", growth - 1) : fmt::format("{:.4g}", growth);
}

const Update* update_named(const Model& model, const std::string& name) {
    for (const auto& update : model.updates)
        if (update.name == name) return &update;
    for (const auto& source : model.sources)
        if (source.update.name == name) return &source.update;
    return nullptr;
}

// dt, or the one constant of the equations that makes the changes large; empty where there are several.
struct Lever {
    std::string name;
    double value = 0;
};

std::optional<Lever> lever(const ir::Program& program, const Model& model, const LinearStep& step) {
    bool has_dt = false;
    std::set<int> constants;
    for (const auto& kernel : step.kernels) {
        const auto* update =
            update_named(model, program.kernels[static_cast<std::size_t>(kernel.kernel)].name);
        if (update == nullptr) return std::nullopt;
        for (const auto& operation : update->operations)
            lang::for_each_node(*operation.value, [&](const lang::Expr& node) {
                const auto* name = std::get_if<lang::Name>(&node.node);
                if (name == nullptr) return;
                has_dt = has_dt || kind_of(name->symbol) == SymbolKind::time_step;
                if (kind_of(name->symbol) == SymbolKind::constant) constants.insert(name->symbol.index);
            });
    }
    if (has_dt) return Lever{"dt", model.dt};
    if (constants.size() != 1) return std::nullopt;
    const auto& constant = model.constants[static_cast<std::size_t>(*constants.begin())];
    if (std::holds_alternative<bool>(constant.value)) return std::nullopt;
    return Lever{constant.name, lang::as_real(constant.value)};
}

std::string remedy(const ir::Program& program, const Model& model, const LinearStep& step,
                   const std::optional<double>& scale) {
    const auto by = lever(program, model, step);
    const bool known = by && by->value != 0;
    if (scale && known)
        return fmt::format("make {} {} at {}; it is {}", by->name, rounded_to_zero(*scale * by->value),
                           by->value > 0 ? "most" : "least", lang::real_text(by->value));
    if (scale)
        return fmt::format("multiply dt, or the factor of the differences that stands for it, by {} at most",
                           rounded_to_zero(*scale));
    if (step.made_of_changes())
        return "no shorter step helps: check the signs of the differences, and which way they reach";
    return fmt::format("make {} {}, and check the signs of the differences", known ? by->name : "dt",
                       known && by->value < 0 ? "closer to 0" : "smaller");
}

// The read-only values that the equations take in the cell.
std::string values_at(const ir::Program& program, const Finding& finding, int grid) {
    Lineariser lineariser(program, grid, finding.cell, std::vector<bool>(program.buffers.size(), false));
    std::string out;
    std::set<int> told;
    for (const auto& kernel : finding.step.kernels)
        for (const auto& node : program.kernels[static_cast<std::size_t>(kernel.kernel)].code.nodes) {
            if (node.op != ir::Op::load || program.buffers[static_cast<std::size_t>(node.index)].written)
                continue;
            if (!told.insert(node.index).second || told.size() > 4) continue;
            out += fmt::format("{}{} = {:.4g}", out.empty() ? ", where " : ", ",
                               program.buffers[static_cast<std::size_t>(node.index)].name,
                               lineariser.constant_value(node.index, {}));
        }
    return out;
}

} // namespace

void check_stability(const ir::Program& program, const Model& model, const Domains& domains,
                     lang::Diagnostics& diagnostics) {
    for (std::size_t g = 0; g < program.grids.size(); ++g) {
        const Analysis analysis(program, domains, static_cast<int>(g));
        if (!analysis.worst()) continue;
        const auto& finding = *analysis.worst();
        const auto& first = program.kernels[static_cast<std::size_t>(finding.step.kernels.front().kernel)];
        auto& diagnostic = diagnostics.report(
            kinds::unstable, first.span,
            fmt::format("the step is unstable: waves of {} grow by a factor of {} in each step",
                        wave_text(program.grids[g], finding.worst.wave), factor_text(finding.worst.growth)),
            remedy(program, model, finding.step, analysis.stable_scale()));
        diagnostic.notes.push_back({fmt::format("around cell {}{}", cell_text(model.grids[g], finding.cell),
                                                values_at(program, finding, static_cast<int>(g))),
                                    std::nullopt});
        constexpr double slow = 1.01;
        if (finding.worst.growth < slow)
            diagnostic.notes.push_back({fmt::format("they are ten times as large after {:.2g} steps",
                                                    std::log(10) / std::log(finding.worst.growth)),
                                        std::nullopt});
        diagnostic.notes.push_back({"--allow-unstable runs it all the same", std::nullopt});
    }
}

} // namespace farfield::stencil
