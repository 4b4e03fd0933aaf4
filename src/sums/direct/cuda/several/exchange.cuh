// What the parts of a sum tell each other: every part needs all points, and its share of the other parts'
// sums of subtrees (division.h). Four ways: through pinned memory of the host by copies, plain or
// write-combined; through mapped memory that kernels write and read in place; from GPU to GPU. Calls queue
// work on the stream of part `p`, the GPU of which is to be current; events order the streams, and the host
// waits for nothing.
#pragma once

#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"
#include "sums/direct/cuda/pair.cuh"

#include <farfield/device.h>

#include <cstddef>
#include <vector>

namespace farfield::cuda {

/// `wanted`, or for `automatic` the quickest way that these GPUs have. Lets the GPUs read each other's memory
/// for `peer`. @throws BackendUnavailable where `peer` is wanted and two of them cannot.
Exchange usable_exchange(Exchange wanted, const std::vector<int>& devices);

/// One part as the exchange sees it.
struct ExchangePart {
    int device = 0;
    int begin = 0, end = 0; ///< its bodies
    std::byte* points = nullptr;
    Vec4<double>* stack = nullptr; ///< sums of its subtrees, n each
    int subtrees = 0;
    cudaStream_t stream = nullptr;
};

/// One step: all parts offer_points; then all take_points, compute, offer_subtrees; then all take_subtrees.
class StepExchange {
public:
    StepExchange() = default;
    StepExchange(const StepExchange&) = delete;
    StepExchange& operator=(const StepExchange&) = delete;
    virtual ~StepExchange() = default;

    virtual void offer_points(int p) = 0; ///< its own points are ready
    virtual void take_points(int p) = 0;  ///< gathers those of all others
    virtual void offer_subtrees(int p) = 0;
    virtual void take_subtrees(int p) = 0;

    /// Where part `p` finds the subtrees of all parts in order, from its first body on.
    [[nodiscard]] virtual std::vector<const Vec4<double>*> subtrees_for(int p) const = 0;
};

/// Where a rank finds the subtrees of all ranks in order, from its first body on: its own in its stack, those
/// of the others in `gathered`, as many rows each as it has bodies.
inline std::vector<const Vec4<double>*> places_of_subtrees(const ExchangePart& own,
                                                           const Vec4<double>* gathered, int rank,
                                                           const std::vector<int>& begins,
                                                           const std::vector<int>& subtrees) {
    std::vector<const Vec4<double>*> places;
    for (std::size_t other = 0; other < subtrees.size(); ++other)
        for (int k = 0; k < subtrees[other]; ++k) {
            if (static_cast<int>(other) == rank) {
                places.push_back(own.stack +
                                 static_cast<std::size_t>(k) * static_cast<std::size_t>(begins.back()) +
                                 own.begin);
            } else {
                places.push_back(gathered);
                gathered += own.end - own.begin;
            }
        }
    return places;
}

/// Between the GPUs of one process.
class PartsExchange : public StepExchange {
public:
    /// `point_bytes` a point, a multiple of 16.
    PartsExchange(Exchange way, int n, std::size_t point_bytes, std::vector<ExchangePart> parts);

    void offer_points(int p) override;
    void take_points(int p) override;
    void offer_subtrees(int p) override;
    void take_subtrees(int p) override;
    [[nodiscard]] std::vector<const Vec4<double>*> subtrees_for(int p) const override;

private:
    struct Part : ExchangePart {
        int first_subtree = 0;              ///< counted over all parts
        DeviceArray<Vec4<double>> gathered; ///< host, write_combined: the others' subtrees for its bodies
        Signal ready, passed;
        [[nodiscard]] int bodies() const { return end - begin; }
    };
    [[nodiscard]] Part& part(int p) { return parts_[static_cast<std::size_t>(p)]; }
    [[nodiscard]] bool by_copies() const {
        return way_ == Exchange::host || way_ == Exchange::write_combined;
    }
    void copy_points(const Part& to, const Part& from);
    void copy_rows(std::byte* to, const std::byte* from, std::size_t row_bytes, int rows,
                   std::size_t to_pitch, std::size_t from_pitch, cudaStream_t stream) const;
    [[nodiscard]] std::size_t staging_bytes() const;

    Exchange way_;
    std::size_t n_, point_bytes_;
    int subtrees_ = 0; ///< of all parts
    std::vector<Part> parts_;
    PinnedArray<std::byte> pinned_;
    MappedArray<std::byte> mapped_;
    WriteCombinedArray<std::byte> write_combined_;
    std::byte* host_points_ = nullptr;      ///< n; null for `peer`
    Vec4<double>* host_subtrees_ = nullptr; ///< subtrees·n
};

} // namespace farfield::cuda
