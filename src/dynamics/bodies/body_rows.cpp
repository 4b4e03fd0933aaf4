#include "dynamics/bodies/body_rows.h"

#include "dynamics/bodies/reductions.h"

namespace farfield {
namespace {

template <class T>
std::vector<T> part(const std::vector<T>& all, std::size_t width, const std::vector<std::int64_t>& rows) {
    std::vector<T> out;
    if (all.empty()) return out;
    out.reserve(width * rows.size());
    for (const auto row : rows) {
        const auto begin = all.begin() + row * static_cast<std::ptrdiff_t>(width);
        out.insert(out.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
    }
    return out;
}

} // namespace

BodyRows::BodyRows(comm::Transport& ranks, const Bodies& all)
    : ranks_(&ranks), count_(all.size()), first_id_(all.id.front()) {
    const auto parts = comm::equal_parts(ranks, count_);
    const auto rank = static_cast<std::size_t>(ranks.rank());
    rows_.resize(static_cast<std::size_t>(parts[rank + 1] - parts[rank]));
    std::iota(rows_.begin(), rows_.end(), parts[rank]);
    announce();
}

const BodyRows& BodyRows::all_of_them() {
    static const BodyRows all;
    return all;
}

std::int64_t BodyRows::all(const Bodies& here) const { return are_all() ? here.size() : count_; }

std::int64_t BodyRows::row(std::size_t i) const {
    return are_all() ? static_cast<std::int64_t>(i) : rows_[i];
}

std::uint64_t BodyRows::first_id(const Bodies& here) const { return are_all() ? here.id.front() : first_id_; }

Homes BodyRows::first_homes() const {
    Homes out;
    out.order.resize(rows_.size());
    std::iota(out.order.begin(), out.order.end(), 0);
    const auto row = [this](std::int32_t i) { return rows_[static_cast<std::size_t>(i)]; };
    std::sort(out.order.begin(), out.order.end(),
              [&](std::int32_t a, std::int32_t b) { return row(a) < row(b); });
    for (const auto first : comm::equal_parts(*ranks_, count_))
        out.begins.push_back(std::partition_point(out.order.begin(), out.order.end(),
                                                  [&](std::int32_t i) { return row(i) < first; }) -
                             out.order.begin());
    return out;
}

Bodies BodyRows::of(const Bodies& all) const {
    return {.position = part(all.position, 3, rows_),
            .velocity = part(all.velocity, 3, rows_),
            .mass = part(all.mass, 1, rows_),
            .charge = part(all.charge, 1, rows_),
            .id = part(all.id, 1, rows_)};
}

std::vector<std::int64_t> BodyRows::begins() const {
    std::vector<std::int64_t> out{0};
    for (const auto count : counts_) out.push_back(out.back() + count);
    return out;
}

void BodyRows::announce() {
    counts_ = comm::all_values(*ranks_, std::ssize(rows_));
    rows_of_all_.resize(ranks_->rank() == 0 ? static_cast<std::size_t>(count_) : 0);
    comm::bring_to_root(*ranks_, std::span<const std::int64_t>(rows_), std::span(rows_of_all_), 1, begins());
}

double BodyRows::sum(const std::vector<double>& terms) const {
    const auto sum_of = [](const std::vector<double>& of) {
        return pairwise_sum(0, std::ssize(of),
                            [&](std::int64_t i) { return of[static_cast<std::size_t>(i)]; });
    };
    if (are_all()) return sum_of(terms);
    std::vector<double> all(ranks_->rank() == 0 ? static_cast<std::size_t>(count_) : 0);
    to_root(terms, all, 1);
    return comm::from_rank(*ranks_, sum_of(all));
}

BodyMoves::BodyMoves(BodyRows& rows, Homes homes, Order order)
    : ranks_(rows.ranks_), homes_(std::move(homes)) {
    const auto arrived = comm::exchanged(*ranks_, leaving(rows.rows_, 1), tag);
    rows.are_first_ = order == Order::rows; // the homes are those of the start then
    if (order == Order::arrival) {
        rows.rows_ = arrived;
    } else {
        order_.resize(arrived.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::sort(order_.begin(), order_.end(),
                  [&](std::size_t a, std::size_t b) { return arrived[a] < arrived[b]; });
        rows.rows_.clear();
        for (const auto k : order_) rows.rows_.push_back(arrived[k]);
    }
    rows.announce();
}

} // namespace farfield
