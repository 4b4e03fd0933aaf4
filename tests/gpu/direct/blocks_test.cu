// Sums over blocks on a GPU against long double, in every shape, precision and outputs; and the same bits run
// after run. Bars: those of the CPU's loops (tests/oracle/direct), for the same arithmetic.
#include "backend/cuda/memory.h"
#include "gpu/needs_gpu.h"
#include "oracle/direct/block_oracle.h"
#include "sums/direct/cuda/blocks/block_sum.cuh"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace farfield::cuda {
namespace {

using block_oracle::exact;
using block_oracle::Model;
using block_oracle::model_of;

template <class Values>
auto on_device(const Values& values) {
    DeviceArray<typename Values::value_type> out(values.size());
    copy(out.data(), values.data(), values.size(), nullptr);
    return out;
}

// Blocks of odd sizes in a list longer than a warp has lanes.
Model odd_model(double softening) {
    const auto cloud = block_grid::uniform(4000, 1, 7, true, true);
    Model model = model_of(cloud, softening);
    model.target_blocks.clear();
    int begin = 2, size = 0;
    while (begin + 150 < 4000) {
        model.target_blocks.push_back({begin, begin + size});
        begin += size;
        size = (size * 5 + 7) % 131;
    }
    model.source_blocks = model.target_blocks;
    const int blocks = static_cast<int>(model.target_blocks.size());
    model.first.assign(1, 0);
    model.partners.clear();
    for (int b = 0; b < blocks; ++b) {
        for (int other = 0; other < blocks; ++other)
            if (other != b) model.partners.push_back(other);
        model.first.push_back(static_cast<std::int32_t>(model.partners.size()));
    }
    model.centres.assign(3 * model.target_blocks.size(), 0.25);
    return model;
}

template <class Real>
std::vector<Vec4<Real>> packed(const std::vector<double>& points, const std::vector<double>& strengths,
                               const std::vector<BlockRange>& blocks, const std::vector<double>& centres) {
    std::vector<Vec4<Real>> out(points.size() / 3);
    const auto at = [&](std::size_t i, const double* centre) {
        out[i] = {static_cast<Real>(points[3 * i] - centre[0]),
                  static_cast<Real>(points[3 * i + 1] - centre[1]),
                  static_cast<Real>(points[3 * i + 2] - centre[2]),
                  static_cast<Real>(strengths.empty() ? 0.0 : strengths[i])};
    };
    const double origin[3] = {0, 0, 0};
    for (std::size_t b = 0; b < blocks.size(); ++b)
        for (int i = blocks[b].begin; i < blocks[b].end; ++i)
            at(static_cast<std::size_t>(i), centres.empty() ? origin : &centres[3 * b]);
    return out;
}

struct How {
    bool mutual = false;
    int warps = 1;
    bool centred = false;
    int outputs = field_and_potential;
};

template <class Real>
std::vector<Vec4<Real>> sum(const Model& model, const How& how, int runs = 1) {
    BlockRows rows{model.first, {model.partners.begin(), model.partners.end()}};
    if (how.mutual) rows = half_of(model.lists());
    const BlockLists lists{model.target_blocks, how.mutual ? model.target_blocks : model.source_blocks,
                           rows.first, rows.partners, model.own};
    const auto plan = plan_blocks(lists, {how.warps, largest_tile(sizeof(Real), how.warps)}, how.mutual);
    const DeviceBlockPlan device_plan(plan, nullptr);
    const auto centres = how.centred ? model.centres : std::vector<double>();
    std::vector<Vec4<double>> packed_centres;
    for (std::size_t b = 0; 3 * b < centres.size(); ++b)
        packed_centres.push_back({centres[3 * b], centres[3 * b + 1], centres[3 * b + 2], 0});
    const auto sources =
        on_device(packed<Real>(model.sources.xyz, model.sources.q, model.source_blocks, centres));
    const auto others = model.own
                            ? DeviceArray<Vec4<Real>>()
                            : on_device(packed<Real>(model.targets.xyz, {}, model.target_blocks, centres));
    const auto target_blocks = on_device(model.target_blocks), source_blocks = on_device(model.source_blocks);
    const auto first = on_device(rows.first), partners = on_device(rows.partners);
    const auto device_centres = on_device(packed_centres);
    DeviceArray<Vec4<Real>> slots(static_cast<std::size_t>(plan.slot_count)), sums(model.targets.q.size());
    check(cudaMemset(sums.data(), 0, sums.bytes()), "clearing");
    if (slots.size() > 0) check(cudaMemset(slots.data(), 0xff, slots.bytes()), "filling with NaN");
    const BlockTask<Real> task{.targets = model.own ? sources.data() : others.data(),
                               .sources = sources.data(),
                               .target_blocks = target_blocks.data(),
                               .source_blocks = source_blocks.data(),
                               .first = first.data(),
                               .last = first.data() + 1,
                               .partners = partners.data(),
                               .target_centres = device_centres.data(),
                               .source_centres = device_centres.data(),
                               .own = model.own,
                               .softening2 = static_cast<Real>(model.softening * model.softening),
                               .outputs = how.outputs,
                               .sums = sums.data()};
    for (int k = 0; k < runs; ++k) launch_blocks(task, device_plan.view(), slots.data(), nullptr);
    std::vector<Vec4<Real>> out(sums.size());
    copy(out.data(), sums.data(), out.size(), nullptr);
    check(cudaDeviceSynchronize(), "summing over blocks");
    return out;
}

template <class Real>
void expect_right(const Model& model, const oracle::Result& truth, const How& how, double bar) {
    block_oracle::Found found;
    for (const auto& sums : sum<Real>(model, how)) {
        if (how.outputs & potential_only) found.potential.push_back(sums.w);
        if (how.outputs & field_only) found.field.insert(found.field.end(), {sums.x, sums.y, sums.z});
    }
    block_oracle::expect_right(found, truth, bar,
                               std::string(sizeof(Real) == 4 ? "float" : "double") +
                                   (how.mutual ? " mutual" : "") + " warps " + std::to_string(how.warps) +
                                   (how.centred ? " centred" : ""));
}

template <class Real>
void expect_all_right(const Model& model, double bar, bool centred) {
    const auto truth = exact(model);
    for (const bool mutual : {false, true})
        for (const int warps : {1, 2, 4})
            for (const int outputs : {field_only, potential_only, field_and_potential})
                expect_right<Real>(model, truth, {mutual, warps, centred, outputs}, bar);
}

TEST(BlocksCuda, GridWithNeighbours) {
    NEEDS_GPU();
    for (const double softening : {0.0, 0.01})
        for (const int k : {4, 9, 16}) {
            SCOPED_TRACE(k);
            const auto model = model_of(block_grid::uniform(6000, k, 1, true, true), softening);
            expect_all_right<float>(model, 5e-7, false);
            expect_all_right<double>(model, 1e-14, false);
        }
}

// Inputs are no floats: counted from one origin, their rounding alone would cost 1e-6.
TEST(BlocksCuda, CentresKeepDigits) {
    NEEDS_GPU();
    const auto model = model_of(block_grid::uniform(8000, 8, 2, false), 0.0);
    expect_all_right<float>(model, 1e-6, true);
    expect_all_right<double>(model, 1e-14, true);
}

TEST(BlocksCuda, OddSizesAndLongLists) {
    NEEDS_GPU();
    for (const double softening : {0.0, 0.01}) {
        const auto model = odd_model(softening);
        expect_all_right<float>(model, 5e-7, false);
        expect_all_right<double>(model, 1e-14, false);
    }
}

TEST(BlocksCuda, SeparateTargets) {
    NEEDS_GPU();
    auto model = odd_model(0.0);
    model.own = false;
    const auto others = block_grid::uniform(2000, 1, 9, true);
    model.targets = {others.points, others.strengths};
    model.target_blocks = {{0, 0}, {1, 8}, {8, 700}, {700, 701}, {701, 1990}};
    const std::size_t row = static_cast<std::size_t>(model.first[1]);
    model.first = {0};
    std::vector<std::int32_t> partners;
    for (std::size_t b = 0; b < model.target_blocks.size(); ++b) {
        for (std::size_t e = b; e < row; ++e) partners.push_back(static_cast<std::int32_t>(e));
        model.first.push_back(static_cast<std::int32_t>(partners.size()));
    }
    model.partners = partners;
    model.centres.resize(3 * std::max(model.target_blocks.size(), model.source_blocks.size()), 0.25);
    const auto truth = exact(model);
    for (const int warps : {1, 2, 4}) {
        expect_right<float>(model, truth, {false, warps}, 5e-7);
        expect_right<double>(model, truth, {false, warps, true}, 1e-14);
    }
}

TEST(BlocksCuda, SameBitsRunAfterRun) {
    NEEDS_GPU();
    const auto model = model_of(block_grid::uniform(100000, 14, 3, false, true), 0.0);
    const auto expect_same = [&](auto real) {
        using Real = decltype(real);
        for (const bool mutual : {false, true})
            for (const int warps : {1, 2, 4}) {
                const auto one = sum<Real>(model, {mutual, warps, true}),
                           two = sum<Real>(model, {mutual, warps, true}, 3);
                EXPECT_EQ(std::memcmp(one.data(), two.data(), one.size() * sizeof(one[0])), 0)
                    << "mutual " << mutual << " warps " << warps;
            }
    };
    expect_same(float{});
    expect_same(double{});
}

} // namespace
} // namespace farfield::cuda
