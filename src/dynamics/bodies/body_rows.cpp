#include "dynamics/bodies/body_rows.h"

#include "dynamics/bodies/reductions.h"

namespace farfield {
namespace {

template <class T>
std::vector<T> part(const std::vector<T>& all, std::int64_t width, std::int64_t begin, std::int64_t end) {
    if (all.empty()) return {};
    return {all.begin() + begin * width, all.begin() + end * width};
}

} // namespace

BodyRows::BodyRows(comm::Transport& ranks, const Bodies& all)
    : ranks_(&ranks), begins_(comm::equal_parts(ranks, all.size())), first_id_(all.id.front()) {}

std::int64_t BodyRows::first() const {
    return are_all() ? 0 : begins_[static_cast<std::size_t>(ranks_->rank())];
}

std::int64_t BodyRows::all(const Bodies& here) const { return are_all() ? here.size() : begins_.back(); }

std::uint64_t BodyRows::first_id(const Bodies& here) const { return are_all() ? here.id.front() : first_id_; }

Bodies BodyRows::of(const Bodies& all) const {
    const auto end = begins_[static_cast<std::size_t>(ranks_->rank()) + 1];
    return {.position = part(all.position, 3, first(), end),
            .velocity = part(all.velocity, 3, first(), end),
            .mass = part(all.mass, 1, first(), end),
            .charge = part(all.charge, 1, first(), end),
            .id = part(all.id, 1, first(), end)};
}

double BodyRows::sum(const std::vector<double>& terms) const {
    const auto sum_of = [](const std::vector<double>& of) {
        return pairwise_sum(0, std::ssize(of),
                            [&](std::int64_t i) { return of[static_cast<std::size_t>(i)]; });
    };
    if (are_all()) return sum_of(terms);
    std::vector<double> all(ranks_->rank() == 0 ? static_cast<std::size_t>(begins_.back()) : 0);
    to_root(terms, all, 1);
    return comm::from_rank(*ranks_, sum_of(all));
}

} // namespace farfield
