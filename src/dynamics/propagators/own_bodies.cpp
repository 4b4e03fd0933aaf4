#include "dynamics/propagators/own_bodies.h"

#include "backend/comm/communicator_access.h"

#include <cstdlib>

namespace farfield {
namespace {

MotionState part_of(const MotionState& motion, const BodyRows& rows) {
    MotionState part;
    part.bodies = rows.of(motion.bodies);
    part.force = motion.force;
    return part;
}

} // namespace

OwnBodiesPropagator::OwnBodiesPropagator(const PropagatorOptions& options, const ForceOptions& force,
                                         MotionState& motion, const std::string& note)
    : motion_(motion), force_(force), has_charges_(!motion.bodies.charge.empty()),
      rows_(*CommunicatorAccess::transport(force.communicator), motion.bodies), own_(part_of(motion, rows_)) {
    OwnBodiesPropagator::release();
    steps_.emplace(options, force, own_, note, rows_);
    bring_to_root();
}

void OwnBodiesPropagator::advance(const Steps& steps) {
    is_everywhere_ = false;
    deal();
    steps_->advance(steps);
}

void OwnBodiesPropagator::deal() {
    constexpr double many_away = 0.05, many_apart = 0.2; // of all
    constexpr std::int32_t far = 64;                     // between neighbours, in bodies
    const auto homes = steps_->homes();
    const auto& order = homes.order;
    auto& ranks = *rows_.ranks();
    if (comm::any_rank(ranks, order.size() != own_.bodies.mass.size())) return;
    const auto rank = static_cast<std::size_t>(ranks.rank());
    const auto away = std::ssize(order) - (homes.begins[rank + 1] - homes.begins[rank]);
    std::int64_t apart = 0;
    for (std::size_t i = 1; i < order.size(); ++i) apart += std::abs(order[i] - order[i - 1]) > far ? 1 : 0;
    const auto all = static_cast<double>(rows_.all(own_.bodies));
    const auto all_away = comm::sum_of_ranks(ranks, away);
    const auto all_apart = comm::sum_of_ranks(ranks, apart);
    if (static_cast<double>(all_away) <= many_away * all &&
        static_cast<double>(all_apart) <= many_apart * all)
        return;
    const BodyMoves moves(rows_, homes, BodyMoves::Order::arrival);
    moves.move(own_.bodies.position, 3);
    moves.move(own_.bodies.velocity, 3);
    moves.move(own_.bodies.mass, 1);
    moves.move(own_.bodies.id, 1);
    if (has_charges_) moves.move(own_.bodies.charge, 1);
    moves.move(own_.acceleration, 3);
    moved_ += all_away;
}

std::optional<Diagnostics> OwnBodiesPropagator::fetch() {
    is_everywhere_ = false; // whatever fails
    std::optional<CheckedEnergy> energy;
    if (with_diagnostics_) energy = steps_->checked_energy(); // which may take the last step again
    bring_to_root();
    if (!energy) return std::nullopt;
    auto& ranks = *rows_.ranks();
    Diagnostics row;
    if (ranks.rank() == 0) row = diagnostics_of(motion_.bodies, *energy, force_);
    return comm::from_rank(ranks, row);
}

void OwnBodiesPropagator::bring_to_root() {
    motion_.force = own_.force;
    motion_.acceleration.resize(motion_.bodies.position.size()); // none on ranks that have released theirs
    rows_.to_root(own_.bodies.position, motion_.bodies.position, 3);
    rows_.to_root(own_.bodies.velocity, motion_.bodies.velocity, 3);
    rows_.to_root(own_.acceleration, motion_.acceleration, 3);
}

void OwnBodiesPropagator::update_motion() {
    if (is_everywhere_) return;
    motion_.force = own_.force;
    auto& bodies = motion_.bodies;
    rows_.to_all(own_.bodies.position, bodies.position, 3);
    rows_.to_all(own_.bodies.velocity, bodies.velocity, 3);
    rows_.to_all(own_.acceleration, motion_.acceleration, 3);
    if (is_released_) {
        rows_.to_all(own_.bodies.mass, bodies.mass, 1);
        rows_.to_all(own_.bodies.id, bodies.id, 1);
        if (has_charges_) rows_.to_all(own_.bodies.charge, bodies.charge, 1);
    }
    is_everywhere_ = true;
    is_released_ = false;
}

void OwnBodiesPropagator::release() {
    is_everywhere_ = false;
    is_released_ = true;
    if (rows_.ranks()->rank() == 0) return;
    motion_.bodies = {};
    motion_.acceleration = {};
}

} // namespace farfield
