#include "sums/gauss/clusters/farthest_points.h"

#include "backend/threads/parallel.h"
#include "sums/gauss/clusters/point_space.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace farfield {
namespace {

using Place = std::array<double, most_dimensions>;

} // namespace

FarthestPoints::FarthestPoints(std::span<const double> points, int dimension, int threads)
    : points_(points), stride_(static_cast<std::size_t>(dimension)), threads_(threads) {
    centre_ = {0};
    places_.assign(point(0), point(0) + stride_);
    const auto n = static_cast<std::int32_t>(points.size() / stride_);
    std::vector<Member> all;
    all.reserve(static_cast<std::size_t>(n));
    with_dimension(dimension, [&](auto d) {
        for (std::int32_t i = 0; i < n; ++i)
            all.push_back({square_distance<d()>(point(i), places_.data()), i});
    });
    work_ = n;
    add_members(std::move(all), 0);
}

void FarthestPoints::grow(std::size_t count) {
    while (members_.size() < count) {
        const auto widest = std::max_element(radius2_.begin(), radius2_.end()) - radius2_.begin();
        if (radius2_[static_cast<std::size_t>(widest)] == 0.0) return;
        add_cluster(farthest_[static_cast<std::size_t>(widest)]);
    }
}

void FarthestPoints::add_members(std::vector<Member> members, std::int32_t centre) {
    farthest_.push_back(centre);
    radius2_.push_back(0.0);
    for (const auto& member : members) {
        if (member.distance2 <= radius2_.back()) continue;
        radius2_.back() = member.distance2;
        farthest_.back() = member.point;
    }
    members.shrink_to_fit();
    members_.push_back(std::move(members));
}

// A cluster gives points away only if the new centre lies within twice its radius of its own.
void FarthestPoints::add_cluster(std::int32_t centre) {
    const auto old = members_.size();
    places_.insert(places_.end(), point(centre), point(centre) + stride_);
    const double* place = places_.data() + stride_ * old;
    std::vector<Member> taken;
    work_ += 0.5 * static_cast<double>(old);
    with_dimension(static_cast<int>(stride_), [&](auto d) {
        for (std::size_t k = 0; k < old; ++k) {
            const double apart2 = square_distance<d()>(places_.data() + stride_ * k, place);
            if (apart2 < 4.0 * radius2_[k]) take_from<d()>(k, apart2, taken);
        }
    });
    centre_.push_back(centre);
    add_members(std::move(taken), centre);
}

// Likewise for each point, before its distance from the new centre is computed.
template <int D>
void FarthestPoints::take_from(std::size_t cluster, double apart2, std::vector<Member>& taken) {
    auto& members = members_[cluster];
    const double* place = places_.data() + places_.size() - stride_;
    double radius2 = 0.0;
    std::int32_t farthest = centre_[cluster];
    std::size_t left = 0, computed = 0;
    for (const auto& member : members) {
        if (4.0 * member.distance2 > apart2) {
            ++computed;
            const double to_new = square_distance<D>(point(member.point), place);
            if (to_new < member.distance2) {
                taken.push_back({to_new, member.point});
                continue;
            }
        }
        if (member.distance2 > radius2) {
            radius2 = member.distance2;
            farthest = member.point;
        }
        members[left++] = member;
    }
    work_ += 0.25 * static_cast<double>(members.size()) + static_cast<double>(computed);
    members.resize(left);
    if (2 * left < members.capacity()) members.shrink_to_fit();
    radius2_[cluster] = radius2;
    farthest_[cluster] = farthest;
}

template <int D>
void FarthestPoints::set_ball(PointClusters& out, std::size_t k) const {
    Place mean{}, low{}, high{}, middle{};
    low.fill(HUGE_VAL);
    high.fill(-HUGE_VAL);
    const auto& members = members_[k];
    for (const auto& member : members)
        for (std::size_t axis = 0; axis < D; ++axis) {
            const double x = point(member.point)[axis];
            mean[axis] += x;
            low[axis] = std::min(low[axis], x);
            high[axis] = std::max(high[axis], x);
        }
    for (std::size_t axis = 0; axis < D; ++axis) {
        mean[axis] /= static_cast<double>(members.size());
        middle[axis] = 0.5 * low[axis] + 0.5 * high[axis];
    }
    double of_mean = 0.0, of_middle = 0.0;
    for (const auto& member : members) {
        of_mean = std::max(of_mean, square_distance<D>(point(member.point), mean.data()));
        of_middle = std::max(of_middle, square_distance<D>(point(member.point), middle.data()));
    }
    const auto& best = of_mean < of_middle ? mean : middle;
    std::copy_n(best.data(), stride_, out.centre.data() + stride_ * k);
    out.radius[k] = std::sqrt(std::min(of_mean, of_middle));
    auto* next = out.order.data() + out.begin[k];
    for (const auto& member : members) {
        *next++ = member.point;
        out.cluster[static_cast<std::size_t>(member.point)] = static_cast<std::int32_t>(k);
    }
}

PointClusters FarthestPoints::clusters() const {
    PointClusters out;
    out.order.resize(points_.size() / stride_);
    out.cluster.resize(points_.size() / stride_);
    out.begin = {0};
    for (const auto& members : members_)
        out.begin.push_back(out.begin.back() + static_cast<std::int32_t>(members.size()));
    out.radius.resize(count());
    out.centre.resize(count() * stride_);
    with_dimension(static_cast<int>(stride_), [&](auto d) {
        parallel_for(threads_, static_cast<std::int64_t>(count()),
                     [&](std::int64_t k) { set_ball<d()>(out, static_cast<std::size_t>(k)); });
    });
    return out;
}

} // namespace farfield
