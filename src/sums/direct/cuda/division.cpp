#include "sums/direct/cuda/division.h"

#include <algorithm>
#include <utility>

namespace farfield::cuda {

namespace {

// Pushes a subtree and joins it with its left neighbours as in a binary counter. Returns how many it was
// joined to.
int push(std::vector<Subtree>& stack, Subtree subtree) {
    int merges = 0;
    while (!stack.empty() && stack.back().groups == subtree.groups &&
           subtree.first % (2 * subtree.groups) != 0) {
        subtree = {stack.back().first, 2 * subtree.groups};
        stack.pop_back();
        ++merges;
    }
    stack.push_back(subtree);
    return merges;
}

int last_distance(const Ring& ring, const Subtree& subtree) {
    return ring.first_distance(subtree.first + subtree.groups) - 1;
}

int slots_in(const Ring& ring, const Subtree& subtree) {
    return slots_of(ring.first_distance(subtree.first), last_distance(ring, subtree), ring.tiles);
}

// The largest subtrees all of which fit, or single groups where none does.
int largest_piece(const Ring& ring, int most_slots) {
    for (int groups = ring.groups; groups > 1; groups /= 2) {
        bool fit = true;
        for (int first = 0; first < ring.groups; first += groups)
            fit = fit && slots_in(ring, {first, groups}) <= most_slots;
        if (fit) return groups;
    }
    return 1;
}

class Planner {
public:
    Planner(const Ring& ring, int most_slots, bool alone) : most_slots_(most_slots), alone_(alone) {
        share_.ring = ring;
    }

    void add(const Subtree& subtree) {
        const auto& ring = share_.ring;
        const int occupied = static_cast<int>(share_.subtrees.size());
        const int merges = push(share_.subtrees, subtree);
        Piece piece{.subtree = subtree,
                    .nearest = ring.first_distance(subtree.first),
                    .farthest = last_distance(ring, subtree),
                    .position = occupied - merges,
                    .merges = merges,
                    .whole = alone_ && share_.subtrees.back().groups == ring.groups};
        if (slots_in(ring, subtree) > most_slots_) piece = all_but_the_last_stretch(piece, occupied);
        place(piece);
        share_.depth = std::max(share_.depth, piece.whole ? piece.merges : piece.position + 1);
    }

    Share finish() {
        if (alone_) share_.subtrees.clear();
        return std::move(share_);
    }

private:
    // Places the stretches of a group that is too large; returns the last one, which merges.
    Piece all_but_the_last_stretch(Piece piece, int occupied) {
        const int stretch = std::max(1, most_slots_ / 2);
        Piece part = piece;
        part.position = occupied, part.merges = 0, part.whole = false;
        for (; piece.farthest - part.nearest >= stretch; part.nearest += stretch) {
            part.farthest = part.nearest + stretch - 1;
            place(part);
            part.resumes = true;
        }
        share_.depth = std::max(share_.depth, occupied + 1);
        piece.nearest = part.nearest, piece.resumes = true;
        return piece;
    }

    // Into the last slab where there is room.
    void place(const Piece& piece) {
        const int tiles = share_.ring.tiles;
        if (share_.slabs.empty() ||
            slots_of(share_.slabs.back().nearest, piece.farthest, tiles) > most_slots_)
            share_.slabs.push_back({piece.nearest, piece.farthest, {}});
        auto& slab = share_.slabs.back();
        slab.farthest = piece.farthest;
        slab.pieces.push_back(piece);
        share_.slots = std::max(share_.slots, slots_of(slab.nearest, slab.farthest, tiles));
    }

    Share share_;
    int most_slots_;
    bool alone_;
};

} // namespace

Share share_of(const Ring& ring, int part, int parts, int most_slots) {
    const Interval groups = interval_of_part(ring.groups, part, parts);
    Planner planner(ring, most_slots, parts == 1);
    const int largest = largest_piece(ring, most_slots);
    for (int first = groups.begin; first < groups.end;) {
        int size = largest;
        while (first % size != 0 || first + size > groups.end) size /= 2;
        planner.add({first, size});
        first += size;
    }
    return planner.finish();
}

std::vector<int> merges_of(const std::vector<Subtree>& subtrees) {
    std::vector<Subtree> stack;
    std::vector<int> merges;
    merges.reserve(subtrees.size());
    for (const auto& subtree : subtrees) merges.push_back(push(stack, subtree));
    return merges;
}

} // namespace farfield::cuda
