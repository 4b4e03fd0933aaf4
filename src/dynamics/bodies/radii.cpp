#include "dynamics/bodies/radii.h"

#include "backend/threads/parallel.h"
#include "base/aligned.h"
#include "dynamics/bodies/reductions.h"
#include "math/compensated_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace farfield {
namespace {

double distance2(const Bodies& bodies, std::size_t i, const std::array<double, 3>& centre) {
    const double dx = bodies.position[3 * i] - centre[0];
    const double dy = bodies.position[3 * i + 1] - centre[1];
    const double dz = bodies.position[3 * i + 2] - centre[2];
    return dx * dx + dy * dy + dz * dz;
}

/// The bodies in a sphere that shrinks and moves: those once outside stay outside. Bodies are looked at in
/// blocks of neighbours in memory. A block is left alone as long as none of its bodies can be outside, by how
/// far the farthest was when it was last looked at and by the way that the centre has gone since.
class ShrinkingSphere {
public:
    ShrinkingSphere(const Bodies& bodies, int threads)
        : bodies_(bodies), threads_(threads), count_(bodies.size()),
          blocks_((bodies.mass.size() + bodies_a_block - 1) / bodies_a_block) {
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            const auto rows = std::min(bodies.mass.size() - bodies_a_block * b, bodies_a_block);
            blocks_[b].inside = ~std::uint64_t{0} >> (bodies_a_block - rows);
        }
        look_at_all();
        has_mass_ = move();
        look_at_all(); // from the centre of all
        radius2_ = farthest2();
    }

    [[nodiscard]] bool has_mass() const { return has_mass_; }
    [[nodiscard]] std::int64_t count() const { return count_; }
    [[nodiscard]] const std::array<double, 3>& centre() const { return centre_; }
    /// Neither endless nor as small as numbers are.
    [[nodiscard]] bool can_shrink() const {
        return radius2_ >= std::numeric_limits<double>::min() && std::isfinite(radius2_);
    }

    /// How many bodies are outside now that were not before.
    std::int64_t shrink(double factor) {
        radius2_ *= factor * factor;
        const double radius = std::sqrt(radius2_);
        const double safely_inside = radius - relative_rounding * radius - way_ - way_rounding * way_;
        const auto left = look_at([&](const Block& block) { return !(block.reach <= safely_inside); });
        count_ -= left;
        if (left == 0) skip_spheres(factor);
        return left;
    }

    /// To the centre of mass of the bodies inside. False where they have no mass: then it stays.
    bool move() {
        const double mass = sum([](const Block& block) { return block.mass; });
        if (!(mass > 0.0)) return false;
        auto to = centre_;
        double moved2 = 0.0;
        for (std::size_t k = 0; k < 3; ++k) {
            to[k] = sum([&](const Block& block) { return block.moment[k]; }) / mass;
            moved2 += (to[k] - centre_[k]) * (to[k] - centre_[k]);
        }
        centre_ = to;
        way_ += std::sqrt(moved2) * (1.0 + relative_rounding);
        return true;
    }

private:
    static constexpr std::size_t bodies_a_block = 64; // one bit each
    struct Block {
        std::uint64_t inside = 0; ///< by body, the first the lowest bit
        double mass = 0.0;
        std::array<double, 3> moment{};
        double farthest2 = 0.0;
        /// Of the farthest body the distance when it was found, less the centre's way until then.
        double reach = 0.0;
    };
    // Above what distances, and a way of some hundred steps, lose by rounding.
    static constexpr double relative_rounding = 1e-9, way_rounding = 1e-12;

    template <class Term>
    [[nodiscard]] double sum(const Term& term) const {
        return pairwise_sum(0, std::ssize(blocks_),
                            [&](std::int64_t b) { return term(blocks_[static_cast<std::size_t>(b)]); });
    }
    void look_at_all() {
        look_at([](const Block&) { return true; });
    }
    /// Those that have all that are inside now.
    void skip_spheres(double factor) {
        look_at_all();
        const double farthest = farthest2();
        while (can_shrink() && radius2_ * factor * factor >= farthest) radius2_ *= factor * factor;
    }
    /// @pre all blocks have been looked at from here
    [[nodiscard]] double farthest2() const {
        double farthest = 0.0;
        for (const auto& block : blocks_) farthest = std::max(farthest, block.farthest2);
        return farthest;
    }
    /// At blocks that may have bodies outside. How many have left.
    template <class May>
    std::int64_t look_at(const May& may_have) {
        constexpr std::size_t blocks_a_task = 128;
        const auto left = parallel_results(
            threads_, blocks_.size(),
            [&](std::size_t begin, std::size_t end) {
                std::int64_t left_here = 0;
                for (auto b = begin; b < end; ++b)
                    if (blocks_[b].inside != 0 && may_have(blocks_[b])) left_here += look_at_one(b);
                return left_here;
            },
            blocks_a_task);
        return std::accumulate(left.begin(), left.end(), std::int64_t{0});
    }
    std::int64_t look_at_one(std::size_t b) {
        const auto before = blocks_[b].inside;
        Block now{.inside = before};
        for (auto rest = before; rest != 0; rest &= rest - 1) {
            const auto bit = static_cast<std::size_t>(std::countr_zero(rest));
            const auto i = bodies_a_block * b + bit;
            const double here = distance2(bodies_, i, centre_);
            if (here > radius2_) {
                now.inside &= ~(std::uint64_t{1} << bit);
                continue;
            }
            now.farthest2 = std::max(now.farthest2, here);
            now.mass += bodies_.mass[i];
            for (std::size_t k = 0; k < 3; ++k)
                now.moment[k] += bodies_.mass[i] * bodies_.position[3 * i + k];
        }
        now.reach = std::sqrt(now.farthest2) * (1.0 + relative_rounding) - way_;
        blocks_[b] = now;
        return std::popcount(before) - std::popcount(now.inside);
    }

    const Bodies& bodies_;
    int threads_;
    std::array<double, 3> centre_{};
    double radius2_ = std::numeric_limits<double>::infinity();
    double way_ = 0.0; ///< of the centre so far
    std::int64_t count_;
    std::vector<Block> blocks_;
    bool has_mass_ = false;
};

/// Masses by the distance from a centre.
class MassByDistance {
public:
    MassByDistance(const Bodies& bodies, const std::array<double, 3>& centre, int threads)
        : bodies_(bodies), distances2_(bodies.mass.size()),
          bits_(bodies.size() < few_bodies ? 1 : bucket_bits), masses_(std::size_t{1} << bits_) {
        parallel_parts(threads, distances2_.size(), [&](std::size_t begin, std::size_t end) {
            for (auto i = begin; i < end; ++i) distances2_[i] = distance2(bodies, i, centre);
        });
        for (std::size_t i = 0; i < distances2_.size(); ++i)
            masses_[bucket_of(distances2_[i])].add(bodies.mass[i]);
    }

    /// Where the mass inside first reaches `wanted`; 0 where it never does. @pre no mass is negative
    [[nodiscard]] double radius_of(double wanted) const {
        CompensatedSum inside;
        for (std::size_t bucket = 0; bucket < masses_.size(); ++bucket) {
            const double before = inside.value();
            inside.add(masses_[bucket].value());
            if (inside.value() >= wanted) return std::sqrt(reached_in(bucket, wanted - before));
        }
        return 0.0;
    }

private:
    /// Squares of distances whose exponents and first bits behind the point are the same share a bucket; few
    /// bodies have one for all.
    static constexpr int bucket_bits = 16;
    static constexpr std::int64_t few_bodies = 4096;
    [[nodiscard]] std::size_t bucket_of(double distance2) const {
        return std::bit_cast<std::uint64_t>(distance2) >> (64 - bits_);
    }

    /// Of the bodies of a bucket, which have so much mass but for rounding.
    [[nodiscard]] double reached_in(std::size_t bucket, double wanted) const {
        std::vector<std::pair<double, std::size_t>> sorted;
        for (std::size_t i = 0; i < distances2_.size(); ++i)
            if (bucket_of(distances2_[i]) == bucket) sorted.emplace_back(distances2_[i], i);
        std::sort(sorted.begin(), sorted.end());
        CompensatedSum inside;
        for (const auto& [here, i] : sorted) {
            inside.add(bodies_.mass[i]);
            if (inside.value() >= wanted) return here;
        }
        return sorted.empty() ? 0.0 : sorted.back().first;
    }

    const Bodies& bodies_;
    RawVector<double> distances2_;
    int bits_;                           ///< of a distance, its sign the first, that tell its bucket
    std::vector<CompensatedSum> masses_; ///< by bucket
};

} // namespace

// Power et al. (2003, MNRAS 338, 14): spheres that shrink around the centre of mass of what is in them.
std::array<double, 3> density_centre(const Bodies& bodies, int threads) {
    constexpr double shrinkage = 0.9;      // of the radius from one sphere to the next
    constexpr std::int64_t fewest = 100;   // bodies in the last sphere, or
    constexpr std::int64_t fraction = 100; // one of so many
    ShrinkingSphere sphere(bodies, threads);
    const auto enough = std::max(fewest, bodies.size() / fraction);
    while (sphere.has_mass() && sphere.count() > enough && sphere.can_shrink()) {
        if (sphere.shrink(shrinkage) == 0) continue;
        if (sphere.count() < enough || !sphere.move()) break;
    }
    return sphere.centre();
}

std::array<double, 3> lagrangian_radii(const Bodies& bodies, int threads) {
    constexpr std::array<double, 3> fractions{0.1, 0.5, 0.9};
    constexpr double tolerance = 1e-12;
    const double all =
        pairwise_sum(threads, 0, bodies.size(), [&](std::int64_t i) { return bodies.mass[i]; });
    if (!(all > 0.0)) return {};
    const MassByDistance masses(bodies, density_centre(bodies, threads), threads);
    std::array<double, 3> radii{};
    for (std::size_t k = 0; k < radii.size(); ++k)
        radii[k] = masses.radius_of((fractions[k] - tolerance) * all);
    return radii;
}

} // namespace farfield
