// Far images through expansions: the same sums from any division of a box into cells.
#include "sums/direct/cuda/periodic/image_costs.h"
#include "sums/kernels/kernel.h"
#include "sums/lattice/images/cell_formulas.h"
#include "sums/lattice/images/far_images.h"
#include "sums/lattice/images/line_pair.h"
#include "sums/lattice/images/soft_images.h"

#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace farfield {
namespace {

struct Box {
    Lengths period{}, extent{};
};

std::vector<Box> boxes() {
    return {{{1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}},
            {{1.0, 1.7, 1.2}, {1.0, 1.7, 1.2}},
            {{1.0, 0.0, 1.4}, {1.0, 0.6, 1.4}},
            {{0.0, 1.0, 0.0}, {1.3, 1.0, 0.8}}};
}

struct Charges {
    LatticePoints points;
    std::vector<double> strengths;
};

Charges charges_in(const Box& box, std::size_t n) {
    std::mt19937 engine(3);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    Charges out;
    double total = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < 3; ++k) out.points[k].push_back(box.extent[k] * uniform(engine));
        out.strengths.push_back(i + 1 < n ? uniform(engine) - 0.5 : -total);
        total += out.strengths.back();
    }
    return out;
}

/// Adds Σ q/√(r² + ε²), and its negative gradient, of sources one by one.
void add_pair(const Charges& charges, std::size_t target, const std::array<double, 3>& source, double q,
              std::vector<double>& sums, double softening = 0.0) {
    std::array<double, 3> d{};
    double square = softening * softening;
    for (std::size_t k = 0; k < 3; ++k) {
        d[k] = charges.points[k][target] - source[k];
        square += d[k] * d[k];
    }
    const double inverse = 1.0 / std::sqrt(square);
    sums[4 * target] += q * inverse;
    for (std::size_t k = 0; k < 3; ++k) sums[4 * target + 1 + k] += q * d[k] * inverse / square;
}

/// The periodic sum: potential and field of each point.
std::vector<double> whole_sum(const Charges& charges, const ImageGrid& grid, int order,
                              double softening = 0.0) {
    const auto n = charges.strengths.size();
    std::vector<double> sums(4 * n), potential(n), field(3 * n);
    const auto rim = rim_images(grid, charges.points, 0, std::ssize(charges.points[0]));
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j)
            if (j != i)
                add_pair(charges, i, {charges.points[0][j], charges.points[1][j], charges.points[2][j]},
                         charges.strengths[j], sums, softening);
        for (std::size_t j = 0; j < rim.of.size(); ++j)
            add_pair(charges, i, {rim.points[3 * j], rim.points[3 * j + 1], rim.points[3 * j + 2]},
                     charges.strengths[static_cast<std::size_t>(rim.of[j])], sums, softening);
    }
    FarImages far(grid, order, Isa::automatic, 2);
    far.set_points(charges.points, {});
    WorkWatch watch(far.work(), {}, {});
    far.add(charges.strengths, {potential.data(), field.data()}, watch);
    for (std::size_t i = 0; i < n; ++i) {
        sums[4 * i] += potential[i];
        for (std::size_t k = 0; k < 3; ++k) sums[4 * i + 1 + k] += field[3 * i + k];
    }
    return sums;
}

TEST(FarImages, GiveTheSameSumsFromAnyGrid) {
    for (const auto& box : boxes()) {
        const auto charges = charges_in(box, 40);
        // one cell, and a wide rim
        const auto exact = whole_sum(charges, image_grid(box.period, {}, box.extent, 2.0, 2), 40);
        for (const int separation : {1, 2})
            for (const double width : {1.0, 0.5, 1.0 / 3.0}) {
                // L2 of points at random: by image_order 1.6e-11 at separation 1, 1e-9 at separation 2 for
                // any points; ten times the larger one
                const auto grid = image_grid(box.period, {}, box.extent, width, separation);
                const auto sums = whole_sum(charges, grid, separation == 1 ? 30 : 22);
                double off = 0.0, all = 0.0;
                for (std::size_t i = 0; i < sums.size(); ++i) {
                    off += (sums[i] - exact[i]) * (sums[i] - exact[i]);
                    all += exact[i] * exact[i];
                }
                EXPECT_LT(std::sqrt(off / all), 1e-8) << box.period[0] << ' ' << width << ' ' << separation;
            }
    }
}

/// Potentials and fields that far images alone bring.
template <class Images>
std::vector<double> far_sums(Images images, const Charges& charges) {
    const auto n = charges.strengths.size();
    std::vector<double> out(4 * n, 0.0);
    WorkWatch watch(images.work(), {}, {});
    images.add(charges.strengths, {out.data(), out.data() + n}, watch);
    return out;
}

// Along any axes, harmonics with what they lack of the softened kernel are what polynomials carry by
// themselves; charged boxes, too, where there is a background.
TEST(SoftImages, BesideHarmonicsAreTheRest) {
    for (const auto& box : boxes()) {
        const bool closed = box.period[0] * box.period[1] * box.period[2] > 0.0;
        auto charges = charges_in(box, 30);
        if (closed) charges.strengths.back() += 2.0;
        const auto grid = image_grid(box.period, {}, box.extent, 1.0, 1);
        FarImages harmonics(grid, 22, Isa::automatic, 2);
        harmonics.set_points(charges.points, {});
        const auto of_harmonics = far_sums(std::move(harmonics), charges);
        for (const double softening : {0.02, 0.3}) {
            const auto soft = [&](bool beside_harmonics) {
                SoftImages images(grid, {.softening = softening, .beside_harmonics = beside_harmonics},
                                  {.value = 1e-6, .gradient = 1e-6}, 2);
                images.set_points(charges.points, nullptr);
                return far_sums(std::move(images), charges);
            };
            const auto whole = soft(false), beside = soft(true);
            double off = 0.0, all = 0.0, shown = 0.0;
            for (std::size_t i = 0; i < whole.size(); ++i) {
                off += std::pow(of_harmonics[i] + beside[i] - whole[i], 2);
                shown += std::pow(of_harmonics[i] - whole[i], 2);
                all += whole[i] * whole[i];
            }
            EXPECT_LT(std::sqrt(off / all), 3e-6) << box.period[0] << ' ' << softening;
            EXPECT_GT(std::sqrt(shown / all), 1e-5) << box.period[0] << ' ' << softening;
        }
    }
}

TEST(FarImages, OfALineAreThoseOfTheClosedForm) {
    const auto box = boxes().back();
    const auto charges = charges_in(box, 20);
    const auto sums = whole_sum(charges, image_grid(box.period, {}, box.extent, 0.5, 2), 40);
    for (std::size_t i = 0; i < charges.strengths.size(); ++i) {
        std::array<double, 4> exact{};
        for (std::size_t j = 0; j < charges.strengths.size(); ++j) {
            std::array<double, 3> d{};
            for (std::size_t k = 0; k < 3; ++k) d[k] = charges.points[k][i] - charges.points[k][j];
            d[1] -= std::round(d[1]);
            const auto pair = line_pair(d[1], d[0] * d[0] + d[2] * d[2], 1.0, i != j);
            exact[0] += charges.strengths[j] * pair.potential;
            exact[1] += charges.strengths[j] * pair.across * d[0];
            exact[2] += charges.strengths[j] * pair.along;
            exact[3] += charges.strengths[j] * pair.across * d[2];
        }
        for (std::size_t k = 0; k < 4; ++k)
            EXPECT_NEAR(sums[4 * i + k], exact[k], 1e-12 * (1.0 + std::abs(exact[k])));
    }
}

// Whatever is not near lies (separation + 1) widths from all cells of the box, along one axis.
TEST(ImageGrid, FarImagesAreFar) {
    for (const auto& box : boxes())
        for (const int separation : {1, 2})
            for (const double width : {2.0, 1.0, 0.5, 0.3, 0.25}) {
                const auto grid = image_grid(box.period, {}, box.extent, width, separation);
                double copies = 1.0;
                for (std::size_t k = 0; k < 3; ++k) {
                    int images = 0;
                    EXPECT_LE(grid.side(k), grid.width);
                    for (int cell = 0; cell < grid.cells[k]; ++cell) {
                        const auto near = grid.near(cell, k);
                        EXPECT_LE(near.first, 0);
                        EXPECT_GE(near.last, 0);
                        images += near.last - near.first + 1;
                        if (!grid.is_periodic(k)) continue;
                        for (int target = 0; target < grid.cells[k]; ++target)
                            for (const int n : {near.first - 1, near.last + 1})
                                EXPECT_GE(std::abs(target - cell - n * grid.cells[k]) * grid.side(k),
                                          (separation + 1.0) * grid.width * (1.0 - 1e-8));
                    }
                    copies *= static_cast<double>(images) / grid.cells[k];
                }
                EXPECT_NEAR(grid.copies(), copies, 1e-12);
            }
    EXPECT_FALSE(best_image_grid({1.0, 0.0, 0.0}, {}, {1.0, 1e9, 0.0}, 1, [](const ImageGrid&) {
                     return 1.0;
                 }).has_value());
}

// What loops on GPUs are told of a grid is what it says itself.
TEST(GridView, IsTheGrid) {
    std::mt19937 engine(7);
    std::uniform_real_distribution<double> uniform(-0.1, 1.1);
    for (const auto& box : boxes())
        for (const int separation : {1, 2})
            for (const double width : {2.0, 0.5, 0.3}) {
                const auto grid = image_grid(box.period, {0.25, -1.0, 3.0}, box.extent, width, separation);
                const GridView view(grid);
                EXPECT_EQ(view.count(), grid.count());
                for (int number = 0; number < grid.count(); ++number) {
                    const auto cell = grid.cell_of(number);
                    const int plain[3] = {cell[0], cell[1], cell[2]};
                    EXPECT_EQ(view.number_of(plain), number);
                    for (std::size_t k = 0; k < 3; ++k) {
                        EXPECT_EQ(view.axes[k].centre(cell[k]), grid.centre(cell)[k]);
                        EXPECT_EQ(view.axes[k].first_near(cell[k]), grid.near(cell[k], k).first);
                        EXPECT_EQ(view.axes[k].last_near(cell[k]), grid.near(cell[k], k).last);
                    }
                }
                for (int i = 0; i < 200; ++i)
                    for (std::size_t k = 0; k < 3; ++k) {
                        const double x = grid.low[k] + grid.extent[k] * uniform(engine);
                        EXPECT_EQ(view.axes[k].cell_of(x), grid.cell_of(x, k)) << x;
                    }
            }
}

// Along open axes boxes of GPUs hold their points with little to spare, and stay while these move a little.
TEST(GpuImageGrid, IsRoundedUpAlongOpenAxes) {
    std::mt19937 engine(9);
    std::uniform_real_distribution<double> uniform(-3.0, 3.0);
    for (int i = 0; i < 100; ++i) {
        const Lengths period{0.0, 1.5, 0.0};
        const double low = uniform(engine), high = low + std::abs(uniform(engine));
        const auto box = rounded_extent(period, {low, 0.0, -0.5}, {high, 1.0, 0.75});
        EXPECT_LE(box.low[0], low);
        EXPECT_GE(box.low[0] + box.extent[0], high);
        EXPECT_LE(box.extent[0], high - low + 2.0 * 0.125);
        EXPECT_EQ(box.low[1], 0.0);
        EXPECT_EQ(box.extent[1], 0.0);
        EXPECT_EQ(box.low[2], -0.5);
        EXPECT_EQ(box.extent[2], 1.25);
        EXPECT_EQ(box, rounded_extent(period, {low, 0.0, -0.49}, {high, 1.0, 0.74}));
    }
}

// More executions pay for smaller cells; of points that move operators cost nothing.
TEST(GpuImageGrid, HasSmallerCellsForMoreExecutions) {
    SumProblem problem;
    problem.kernel = &coulomb_kernel();
    problem.sources = problem.targets = 1000000;
    problem.period = {1.0, 1.0, 1.0};
    const auto seconds = [](const SumProblem& open) {
        return open.executions * 2e-9 * static_cast<double>(open.sources);
    };
    const auto cells = [&] {
        return choose_gpu_image_grid(problem, problem.period, {}, {.separation = 1, .order = 11}, 0, seconds)
            .count();
    };
    const int once = cells();
    problem.executions = 100.0;
    const int often = cells();
    EXPECT_GT(often, once);
    problem.executions = 1.0;
    problem.moves = true;
    EXPECT_EQ(cells(), often);
    const ImageShape shape{.separation = 1, .order = 11};
    const double bytes = gpu_image_bytes(problem, shape, seconds, [](const SumProblem& open) {
        return 100.0 * static_cast<double>(open.sources);
    });
    EXPECT_GT(bytes, 100.0 * 1e6 * (1.0 + 2.375)); // home and rim
    EXPECT_LT(bytes, 1e9);
}

} // namespace
} // namespace farfield
