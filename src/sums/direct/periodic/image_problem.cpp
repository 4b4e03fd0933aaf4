#include "sums/direct/periodic/image_problem.h"

#include "base/spelling.h"
#include "sums/lattice/images/far_images.h"
#include "sums/method/refuse.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace farfield {
namespace {

constexpr double share_of_tolerance = 0.2, usual_image_tolerance = 1e-6;
constexpr double usual_goal_of_pairs = 1e-12;
/// The least error beside near images' fields that rounding leaves.
constexpr double least_of_near_images = 3e-15;
/// Of operators: a multiply-add, a number of the sums over the lattice, and the sums for an offset.
constexpr double seconds_a_product = 4e-10, seconds_a_number = 2e-8, seconds_an_offset = 2e-2;

double shortest_period(const SumProblem& problem) {
    double shortest = HUGE_VAL;
    for (const double length : problem.period)
        if (length > 0.0) shortest = std::min(shortest, length);
    return shortest;
}

/// The field of a charge and its next images, about, with which the box's cancels in part.
double near_field(const SumProblem& problem) {
    const double length = shortest_period(problem);
    return length / std::pow(std::hypot(length, problem.softening), 3);
}

/// The box's softened field beside that of near images. Along three axes it is that of the longest waves,
/// 4πε K₁(kε)/V, and vanishes as e^(−kε); along open axes it falls off as near images' does.
double what_is_left(const SumProblem& problem) {
    if (problem.softening == 0.0 || !problem.is_periodic_box()) return 1.0;
    const double longest = *std::max_element(problem.period.begin(), problem.period.end());
    const double k = 2.0 * std::numbers::pi / longest;
    const double volume = problem.period[0] * problem.period[1] * problem.period[2];
    const double waves = std::sqrt(2.0) * 4.0 * std::numbers::pi * problem.softening *
                         std::cyl_bessel_k(1.0, k * problem.softening) / volume;
    return std::min(1.0, waves / near_field(problem));
}

/// Its tolerance is the box's.
SumProblem open_problem(SumProblem problem, int exponent) {
    if (const double left = what_is_left(problem); left < 1.0)
        problem.tolerance = left * (problem.tolerance > 0.0 ? problem.tolerance : usual_image_tolerance);
    problem.period = {};
    problem.boundary = Boundary::tin_foil;
    problem.background = Background::none;
    problem.softening = std::ldexp(problem.softening, exponent);
    return problem;
}

double total_seconds(const SumProblem& problem, const ImageGrid& grid, const ImageShape& shape, int exponent,
                     const OpenSeconds& seconds) {
    const auto images =
        static_cast<std::int64_t>((grid.copies() - 1.0) * static_cast<double>(problem.sources));
    const auto far = far_costs(problem, grid, shape);
    return seconds(rim_problem(problem, exponent, images)) +
           problem.executions * far.products * seconds_a_product + far.operator_seconds;
}

/// Of points that are not known yet.
ImageGrid expected_grid(const SumProblem& problem, const ImageShape& shape, const OpenSeconds& seconds) {
    Lengths extent{};
    const double longest = *std::max_element(problem.period.begin(), problem.period.end());
    for (std::size_t k = 0; k < 3; ++k)
        extent[k] = problem.period[k] > 0.0 ? problem.period[k] : std::min(longest, shortest_period(problem));
    const auto grid =
        best_image_grid(problem.period, {}, extent, shape.separation,
                        [&](const ImageGrid& one) { return total_seconds(problem, one, shape, 0, seconds); });
    return grid ? *grid : image_grid(problem.period, {}, extent, longest, shape.separation);
}

} // namespace

SumProblem home_problem(const SumProblem& problem, int exponent) { return open_problem(problem, exponent); }

SumProblem rim_problem(const SumProblem& problem, int exponent, std::int64_t images) {
    auto out = open_problem(problem, exponent);
    out.self = false;
    out.sources = images;
    return out;
}

SumOptions open_options(const SumOptions& given, int exponent) {
    auto options = given;
    options.period = {};
    options.boundary = Boundary::tin_foil;
    options.background = Background::none;
    options.softening = std::ldexp(options.softening, exponent);
    return options;
}

SumOptions rim_options(const SumOptions& given, int exponent) {
    auto options = open_options(given, exponent);
    if (options.variant == Variant::symmetric) options.variant = Variant::automatic;
    return options;
}

namespace {

/// Of images at least `nearest` away.
bool softens_images(const SumProblem& problem, double goal, double nearest) {
    if (problem.softening == 0.0) return false;
    // beside a background every image's softening shifts the mean of the potential, which is to be 0
    if (problem.background != Background::none) return true;
    return problem.softening > nearest * std::sqrt(goal / 1.5); // 3ε²/2r² of the field
}

} // namespace

bool softens_far_images(const SumProblem& problem, double goal) {
    return softens_images(problem, goal, 0.25 * shortest_period(problem));
}

// Up to about a third of a period, the difference takes polynomials of no higher degree than the kernel (0 to
// 1e-6, SoftOperator).
FarSoftening far_softening(const SumProblem& problem, const ImageShape& shape) {
    constexpr double most_beside = 0.25;
    const double period = shortest_period(problem);
    if (!softens_images(problem, shape.goal, shape.separation * period)) return FarSoftening::none;
    return problem.softening <= most_beside * period ? FarSoftening::beside_harmonics : FarSoftening::whole;
}

ImageGrid soft_tree_grid(const Lengths& period, double low, int separation) {
    return image_grid(period, {low, low, low}, period, period[0], separation);
}

SoftKernel soft_kernel(FarSoftening way, double softening) {
    return {.softening = softening, .beside_harmonics = way == FarSoftening::beside_harmonics};
}

double refined_goal(double goal, double factor) {
    int exponent = 0; // 2^(exponent − 1) is the power of 2 below
    std::frexp(goal / factor, &exponent);
    const int of_four = exponent - 1 - ((exponent - 1) & 1);
    return std::max(least_soft_image_goal, std::ldexp(1.0, of_four));
}

int more_image_orders(double factor, int separation) {
    constexpr double any = 1e-6;
    return 1 + image_order(any / factor, separation) - image_order(any, separation);
}

SoftGoal soft_goal(const SumProblem& problem, double goal, int exponent) {
    const double share = goal * what_is_left(problem);
    return {.value = share / std::ldexp(std::hypot(shortest_period(problem), problem.softening), exponent),
            .gradient = share * std::ldexp(near_field(problem), -2 * exponent)};
}

FarCosts far_costs(const SumProblem& problem, const ImageGrid& grid, const ImageShape& shape) {
    const auto cells = static_cast<double>(grid.count());
    FarCosts out;
    out.is_soft = softens_far_images(problem, shape.goal);
    if (out.is_soft) {
        const int degree = soft_degree(shape.goal, shape.separation);
        out.products = cells * cells * soft_work_of_a_pair(degree);
        out.functions = soft_powers(degree);
        out.numbers = grid.operators() * out.functions;
        out.operator_seconds = soft_operator_seconds(grid, degree);
        return out;
    }
    out.products = cells * cells * image_work_of_a_pair(shape.order);
    out.functions = (shape.order + 1.0) * (shape.order + 1.0);
    out.numbers = grid.operators() * image_numbers_of_a_pair(shape.order);
    out.operator_seconds = out.numbers * seconds_a_number + grid.offsets() * seconds_an_offset;
    return out;
}

FarCosts soft_tree_costs(const SumProblem& problem, const ImageShape& shape) {
    const auto way = far_softening(problem, shape);
    if (way == FarSoftening::none) return {};
    const double nearest = shape.separation * shortest_period(problem);
    const double beside = problem.softening / nearest;
    const double size = way == FarSoftening::whole ? 1.0 : std::min(1.0, 1.5 * beside * beside);
    const int degree = soft_degree(shape.goal / size, shape.separation);
    FarCosts out;
    out.is_soft = true;
    out.products = soft_work_of_a_pair(degree);
    out.functions = out.numbers = soft_powers(degree);
    out.operator_seconds =
        soft_operator_seconds(soft_tree_grid(problem.period, 0.0, shape.separation), degree);
    return out;
}

double far_seconds(double work, int threads) { return work * seconds_a_product / threads; }

double far_point_seconds(const SumProblem& problem, const FarCosts& costs) {
    constexpr double seconds_a_function = 1.5e-10; // at a point
    return seconds_a_function * costs.functions *
           (static_cast<double>(problem.sources) + 4.0 * static_cast<double>(problem.targets));
}

double image_goal(const SumProblem& problem) {
    if (problem.tolerance > 0.0) return share_of_tolerance * problem.tolerance;
    return is_wide(problem.precision) ? usual_goal_of_pairs : 1e-8;
}

ImageGrid choose_image_grid(const SumProblem& problem, const Lengths& period, const Lengths& low,
                            const Lengths& extent, const ImageShape& shape, int exponent,
                            const OpenSeconds& seconds) {
    const auto grid = best_image_grid(period, low, extent, shape.separation, [&](const ImageGrid& one) {
        return total_seconds(problem, one, shape, exponent, seconds);
    });
    if (grid) return *grid;
    throw InvalidArgument(fmt::format(
        "{}: the box and the points in it are too long and thin for the expansions of far images; use {}",
        spelled("period"),
        problem.is_periodic_box() ? spelled("method", "ewald") : "points that extend less along open axes"));
}

double image_seconds(const SumProblem& problem, const ImageShape& shape, const OpenSeconds& seconds) {
    const auto grid = expected_grid(problem, shape, seconds);
    return seconds(home_problem(problem, 0)) + total_seconds(problem, grid, shape, 0, seconds) +
           problem.executions * far_point_seconds(problem, far_costs(problem, grid, shape));
}

double image_bytes(const SumProblem& problem, const ImageShape& shape, const OpenSeconds& seconds,
                   const std::function<double(const SumProblem&)>& bytes) {
    const auto grid = expected_grid(problem, shape, seconds);
    const auto n = static_cast<double>(problem.sources), m = static_cast<double>(problem.targets);
    const auto images = static_cast<std::int64_t>((grid.copies() - 1.0) * n);
    // points as given, wrapped, by cells, from the middle; images with their rows and strengths; results
    const double points = 8.0 * (14.0 * n + (problem.self ? 0.0 : 13.0 * m) + 4.0 * m);
    return points + 40.0 * static_cast<double>(images) + bytes(home_problem(problem, 0)) +
           bytes(rim_problem(problem, 0, images)) + 8.0 * far_costs(problem, grid, shape).numbers;
}

std::string why_no_image_sum(std::string_view method, const SumProblem& problem, const SumOptions& options,
                             const DeviceChoice& device) {
    if (problem.kernel->loop != PairLoop::inverse_distance) return why_no_period(method);
    if (device.gpus.size() > 1)
        return fmt::format("method '{}' sums periodic boxes on one GPU; use {}", method,
                           spelled("device", fmt::format("cuda:{}", device.gpus.front())));
    if (options.guaranteed)
        return fmt::format("{}: periodic sums have no bounds; leave it out", spelled("guaranteed"));
    if (options.dipoles)
        return fmt::format("method '{}' has no dipoles in periodic boxes; leave them out", method);
    if (options.outputs.has(Output::hessian))
        return fmt::format("method '{}' has no output 'hessian' in periodic boxes; leave it out", method);
    if (problem.tolerance > 0.0 && problem.tolerance < least_image_goal / share_of_tolerance)
        return fmt::format("{} is less than {:g}, the least that periodic sums keep",
                           spelled("tolerance", fmt::format("{:g}", problem.tolerance)),
                           least_image_goal / share_of_tolerance);
    const double asked = problem.tolerance > 0.0 ? problem.tolerance : usual_image_tolerance;
    if (asked * what_is_left(problem) < least_of_near_images)
        return fmt::format(
            "{}: images cancel but for {:.1e} of their fields in this box, too little to keep the "
            "tolerance; use {}",
            spelled("softening", fmt::format("{:g}", problem.softening)), what_is_left(problem),
            spelled("method", "ewald"));
    if (problem.sources >= std::int64_t{1} << 28 || problem.targets >= std::int64_t{1} << 28)
        return fmt::format("method '{}' takes fewer than 268435456 points of a periodic box", method);
    return {};
}

} // namespace farfield
