#include "studies/hermite/whole_transform.h"

#include "backend/threads/parallel.h"
#include "base/random.h"
#include "studies/bench_points.h"
#include "studies/hermite/problem.h"
#include "studies/hermite/seed_tables.h"
#include "studies/hermite/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace farfield::hermite {
namespace {

constexpr double box_side = 0.03; // √2σ
constexpr std::uint64_t clouds = 4;
constexpr double cloud_side = 2 * box_side;
constexpr int operations_of_pair = 20; // of an exponential for the most part
enum Drawn : std::uint32_t { sources_drawn = 16, targets_drawn, charges_drawn, clouds_drawn };

template <class Work>
double clock_of(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Of points by turns one anywhere in the square, and one in a cloud as wide as two boxes.
struct Place {
    float x, y;
};
Place place_of(std::uint32_t purpose, std::uint64_t index) {
    RandomStream random(1, purpose, index);
    const double x = random.next_uniform(), y = random.next_uniform();
    if (index % 2 == 0) return {static_cast<float>(x), static_cast<float>(y)};
    RandomStream cloud(1, clouds_drawn, index / 2 % clouds);
    const double corner_x = cloud.next_uniform() * (1 - cloud_side);
    const double corner_y = cloud.next_uniform() * (1 - cloud_side);
    return {static_cast<float>(corner_x + cloud_side * x), static_cast<float>(corner_y + cloud_side * y)};
}

int box_along(float coordinate, int side) {
    return std::min(static_cast<int>(static_cast<double>(coordinate) / box_side), side - 1);
}

} // namespace

WholeTransform::WholeTransform(int terms, std::int64_t points)
    : terms_(terms), side_(static_cast<int>(std::ceil(1 / box_side))), reach_(terms == 5 ? 3 : 4),
      inverse_width_(static_cast<float>(1 / box_side)), sources_(sorted(sources_drawn, points)),
      targets_(sorted(targets_drawn, points)), potentials_(static_cast<std::size_t>(points)) {
    for (std::int64_t j = 0; j < points; ++j)
        charges_.push_back(
            static_cast<float>(RandomStream(1, charges_drawn, static_cast<std::uint64_t>(j)).next_uniform()));
    moments_.resize((sources_.begin.size() - 1) * static_cast<std::size_t>(terms * terms));
}

auto WholeTransform::sorted(std::uint32_t purpose, std::int64_t points) const -> Points {
    const auto boxes = static_cast<std::size_t>(side_) * static_cast<std::size_t>(side_);
    std::vector<std::vector<Place>> places(boxes);
    for (std::int64_t i = 0; i < points; ++i) {
        const auto place = place_of(purpose, static_cast<std::uint64_t>(i));
        const int box = box_along(place.y, side_) * side_ + box_along(place.x, side_);
        places[static_cast<std::size_t>(box)].push_back(place);
    }
    Points out;
    out.begin.push_back(0);
    for (const auto& of_box : places) {
        for (const auto& place : of_box) {
            out.x.push_back(place.x);
            out.y.push_back(place.y);
        }
        out.begin.push_back(static_cast<std::int64_t>(out.x.size()));
    }
    return out;
}

float WholeTransform::centre(std::int64_t index) const {
    return static_cast<float>((static_cast<double>(index) + 0.5) * box_side);
}

// By operations for a target: p² terms (operations.h) against pairs.
bool WholeTransform::is_in_series(std::int64_t box) const {
    const auto at = static_cast<std::size_t>(box);
    const auto sources = sources_.begin[at + 1] - sources_.begin[at];
    return operations_of_pair * sources > std::int64_t{terms_} * terms_ * (4 * terms_ + 1);
}

template <class Visit>
void WholeTransform::for_each_near(std::int64_t target_box, bool in_series, const Visit& visit) const {
    const int x = static_cast<int>(target_box) % side_, y = static_cast<int>(target_box) / side_;
    for (int v = std::max(y - reach_, 0); v <= std::min(y + reach_, side_ - 1); ++v)
        for (int u = std::max(x - reach_, 0); u <= std::min(x + reach_, side_ - 1); ++u) {
            const std::int64_t box = std::int64_t{v} * side_ + u;
            if (is_in_series(box) == in_series) visit(box);
        }
}

template <int p>
void WholeTransform::expand(std::int64_t box) {
    if (!is_in_series(box)) return;
    const auto at = static_cast<std::size_t>(box);
    float* moments = moments_.data() + at * p * p;
    std::fill_n(moments, p * p, 0.0F);
    for (auto j = sources_.begin[at]; j < sources_.begin[at + 1]; ++j) {
        const auto source = static_cast<std::size_t>(j);
        const float u = (sources_.x[source] - centre(box % side_)) * inverse_width_;
        const float v = (sources_.y[source] - centre(box / side_)) * inverse_width_;
        float power_of_u = charges_[source];
        for (int a = 0; a < p; ++a, power_of_u *= u) {
            float power = power_of_u;
            for (int b = 0; b < p; ++b, power *= v) moments[a * p + b] += power;
        }
    }
}

template <int p>
void WholeTransform::add_series(std::int64_t target_box) {
    static constexpr Polynomials<p> polynomials;
    int factorials[p] = {1};
    for (int n = 1; n < p; ++n) factorials[n] = n * factorials[n - 1];
    const auto at = static_cast<std::size_t>(target_box);
    for_each_near(target_box, true, [&](std::int64_t box) {
        for (auto i = targets_.begin[at]; i < targets_.begin[at + 1]; ++i) {
            const auto target = static_cast<std::size_t>(i);
            potentials_[target] +=
                series<p, true>(moments_.data() + static_cast<std::size_t>(box) * p * p, factorials,
                                polynomials, (targets_.x[target] - centre(box % side_)) * inverse_width_,
                                (targets_.y[target] - centre(box / side_)) * inverse_width_, p);
        }
    });
}

void WholeTransform::add_pairs(std::int64_t target_box) {
    const auto at = static_cast<std::size_t>(target_box);
    for_each_near(target_box, false, [&](std::int64_t box) {
        const auto from = static_cast<std::size_t>(box);
        for (auto i = targets_.begin[at]; i < targets_.begin[at + 1]; ++i) {
            const auto target = static_cast<std::size_t>(i);
            float sum = 0;
            for (auto j = sources_.begin[from]; j < sources_.begin[from + 1]; ++j) {
                const auto source = static_cast<std::size_t>(j);
                const float x = (targets_.x[target] - sources_.x[source]) * inverse_width_;
                const float y = (targets_.y[target] - sources_.y[source]) * inverse_width_;
                sum += charges_[source] * std::exp(-(x * x + y * y));
            }
            potentials_[target] += sum;
        }
    });
}

template <int p>
auto WholeTransform::run_of(int threads) -> Seconds {
    const auto boxes = static_cast<std::int64_t>(sources_.begin.size()) - 1;
    std::fill(potentials_.begin(), potentials_.end(), 0.0F);
    const auto timed = [&](auto&& each) { return clock_of([&] { parallel_for(threads, boxes, each); }); };
    Seconds seconds;
    seconds.expansions = timed([&](std::int64_t box) { expand<p>(box); });
    seconds.hermite = timed([&](std::int64_t box) { add_series<p>(box); });
    seconds.direct = timed([&](std::int64_t box) { add_pairs(box); });
    return seconds;
}

auto WholeTransform::run(int threads) -> Seconds {
    return terms_ == 5 ? run_of<5>(threads) : terms_ == 9 ? run_of<9>(threads) : run_of<12>(threads);
}

double WholeTransform::error(int threads) const {
    constexpr std::size_t sampled = 100;
    const std::size_t step = std::max<std::size_t>(potentials_.size() / sampled, 1);
    const auto samples = static_cast<std::int64_t>(potentials_.size() / step);
    std::vector<double> exact(static_cast<std::size_t>(samples));
    parallel_for(threads, samples, [&](std::int64_t sample) {
        const auto target = static_cast<std::size_t>(sample) * step;
        double sum = 0;
        for (std::size_t j = 0; j < charges_.size(); ++j) {
            const double x = static_cast<double>(targets_.x[target]) - static_cast<double>(sources_.x[j]);
            const double y = static_cast<double>(targets_.y[target]) - static_cast<double>(sources_.y[j]);
            sum += static_cast<double>(charges_[j]) * std::exp(-(x * x + y * y) / (box_side * box_side));
        }
        exact[static_cast<std::size_t>(sample)] = sum;
    });
    double largest = 0, greatest = 0;
    for (std::size_t sample = 0; sample < exact.size(); ++sample) {
        const double error = std::abs(static_cast<double>(potentials_[sample * step]) - exact[sample]);
        if (!(error <= std::numeric_limits<double>::max())) return std::numeric_limits<double>::infinity();
        largest = std::max(largest, error);
        greatest = std::max(greatest, std::abs(exact[sample]));
    }
    return largest / greatest;
}

double WholeTransform::sources_a_box() const {
    return static_cast<double>(charges_.size()) / static_cast<double>(sources_.begin.size() - 1);
}

double WholeTransform::share_in_series() const {
    const auto count = [](const Points& points, std::int64_t box) {
        const auto at = static_cast<std::size_t>(box);
        return static_cast<double>(points.begin[at + 1] - points.begin[at]);
    };
    double pairs[2] = {};
    for (std::int64_t target = 0; target < std::int64_t{side_} * side_; ++target)
        for (const bool in_series : {false, true})
            for_each_near(target, in_series, [&](std::int64_t box) {
                pairs[in_series ? 1 : 0] += count(targets_, target) * count(sources_, box);
            });
    return pairs[1] / (pairs[0] + pairs[1]);
}

StudyTable whole_transform_table(const ReproduceOptions& options) {
    StudyTable table{"Whole transforms on the CPU by plain loops: by points and terms",
                     {"all, s", "expansions, s", "Hermite, s", "direct, s", "Hermite, %", "pairs in it, %",
                      "sources a box"},
                     {}};
    StudyRow paper{"the paper, CPU, in the order of", "How to obtain efficient GPU kernels, 4.2",
                   std::vector<StudyValue>(table.columns.size(), StudyValue::none("-"))};
    paper.values[4] = StudyValue::given(seeds::share_percent);
    table.rows.push_back(std::move(paper));
    const int threads = thread_count(options.threads);
    for (const auto points : {seeds::particles[0], seeds::particles[1], seeds::particles[2]}) {
        const auto size = std::min(points, options.most_points);
        if (points != seeds::particles[0] && (size < points || options.quick)) continue;
        for (const int terms : terms_measured) {
            if (options.progress)
                options.progress(fmt::format("whole transform, p = {}, N = {}", terms, size));
            WholeTransform transform(terms, size);
            const auto seconds = transform.run(threads);
            table.rows.push_back(
                {fmt::format("{}, p = {}", size, terms),
                 {},
                 {StudyValue::of(seconds.all(), transform.error(threads)), StudyValue::of(seconds.expansions),
                  StudyValue::of(seconds.hermite), StudyValue::of(seconds.direct),
                  StudyValue::of(100 * seconds.hermite / seconds.all()),
                  StudyValue::given(100 * transform.share_in_series()),
                  StudyValue::given(transform.sources_a_box())}});
        }
    }
    return table;
}

} // namespace farfield::hermite
