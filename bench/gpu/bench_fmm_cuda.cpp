// Fast multipole sums on a GPU, arrays in its memory: time of new points each time, by the host's clock (the
// least) and from keys to results by the GPU's (the median of 12), and the error of the field and the
// potential against exact sums at all points (from 2 million points on at 20,000 of them). Charges of both
// signs, of a cluster (the bodies of bench_run_cuda) masses; ε = 0 unless it is given.
//     bench_fmm_cuda [N [cube|plummer|cluster [order [leaf [mixed|double [seeds [GPUs [softening]]]]]]]]
// One case, on the first GPUs, the first of which has the arrays; without arguments the table, as JSON.
//     FARFIELD_MPI_LIBRARY=build-cuda/libfarfield_mpi.so mpirun -n 2 bench_fmm_cuda N ...
// Each rank has its part of the points on its GPU, and gets the sums there; errors are those of rank 0's
// part.
#include "clouds.h"
#include "gpu_rows.h"

#include <farfield/communicator.h>
#include <farfield/device.h>
#include <farfield/run.h>
#include <farfield/sum.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace farfield;
using namespace farfield::bench;
using Json = nlohmann::ordered_json;

struct Case {
    int n;
    std::string kind;
    int order, leaf;
    std::string precision;
    int seeds = 5, gpus = 1;
    double softening = 0.0;
    [[nodiscard]] Cloud cloud() const { return {n, kind, false, softening}; }
};

/// The bodies of bench_run_cuda. Not cut off: the outermost of a million is some 300 scale lengths away.
Points cluster_of(int n, unsigned seed) {
    InitialOptions options;
    options.kind = InitialKind::plummer;
    options.n = n;
    options.seed = seed;
    const auto bodies = make_bodies(options);
    return {bodies.position, bodies.mass};
}

/// What a rank has of them.
Points part_of(const Points& all, const Communicator& ranks) {
    const auto n = all.q.size(), count = static_cast<std::size_t>(ranks.size());
    const auto rank = static_cast<std::size_t>(ranks.rank());
    const auto begin = n * rank / count, end = n * (rank + 1) / count;
    return {{all.x.begin() + 3 * begin, all.x.begin() + 3 * end},
            {all.q.begin() + begin, all.q.begin() + end}};
}

Json measure(const Case& of, const Communicator& ranks) {
    SumOptions options;
    options.kernel = Kernel::coulomb;
    options.method = Method::fmm;
    options.order = of.order;
    options.leaf = of.leaf;
    options.softening = of.softening;
    options.device = {.kind = DeviceKind::cuda};
    options.communicator = ranks;
    if (ranks.size() == 1)
        for (int gpu = 0; gpu < of.gpus; ++gpu) options.device.gpus.push_back(gpu);
    options.precision = of.precision == "double" ? Precision::float64 : Precision::mixed;
    std::vector<double> milliseconds, on_gpu, tree, sums, field, field_median, field_99, potential;
    Json passes, shape;
    for (int seed = 1; seed <= of.seeds; ++seed) {
        const auto number = static_cast<unsigned>(seed);
        const auto points = of.kind == "cluster" ? cluster_of(of.n, number) : points_of(of.cloud(), number);
        const auto own = part_of(points, ranks);
        GpuRows x(own.x, 3), q(own.q, 1), phi(own.q.size(), 1), e(own.q.size(), 3);
        SumPlan plan(x.view(), options);
        SumOutputs outputs;
        outputs.potential = phi.view();
        outputs.field = e.view();
        const auto best = least_of(plan, x, q, outputs, 12);
        milliseconds.push_back(best.milliseconds);
        on_gpu.push_back(best.on_gpu);
        tree.push_back(1e3 * best.report.fmm.tree_seconds);
        sums.push_back(1e3 * best.report.compute_seconds);
        passes = Json::object();
        for (const auto& pass : best.report.passes) passes[pass.name] = 1e3 * pass.seconds;
        const auto& tree_of = best.report.fmm;
        shape = {{"levels", tree_of.levels},
                 {"cells", tree_of.cells},
                 {"leaves", tree_of.leaves},
                 {"near_pairs", tree_of.near_pairs},
                 {"multiply_adds", tree_of.multiply_adds}};
        if (ranks.rank() > 0) continue;
        auto exact = exact_of(of.cloud(), seed, points);
        const auto compared = (own.q.size() + exact.every - 1) / exact.every;
        exact.field.resize(std::min(exact.field.size(), 3 * compared));
        exact.potential.resize(std::min(exact.potential.size(), compared));
        const auto of_field = error_of(e.values(), exact.field, exact.every, 3);
        field.push_back(of_field.l2);
        field_median.push_back(of_field.median);
        field_99.push_back(of_field.percentile99);
        potential.push_back(error_of(phi.values(), exact.potential, exact.every, 1).l2);
    }
    if (ranks.rank() > 0) return {};
    return {{"points", of.n},
            {"distribution", of.kind},
            {"order", of.order},
            {"leaf", of.leaf},
            {"precision", of.precision},
            {"seeds", of.seeds},
            {"gpus", of.gpus},
            {"ranks", ranks.size()},
            {"softening", of.softening},
            {"milliseconds", median_of(milliseconds)},
            {"gpu_milliseconds", median_of(on_gpu)},
            {"tree_milliseconds", median_of(tree)},
            {"passes_milliseconds", median_of(sums)},
            {"field_l2", median_of(field)},
            {"field_median", median_of(field_median)},
            {"field_99", median_of(field_99)},
            {"potential_l2", median_of(potential)},
            {"tree_of_last_seed", shape},
            {"passes_of_last_seed", passes}};
}

std::vector<Case> cases_of(int argc, char** argv) {
    std::vector<Case> cases;
    if (argc > 1) {
        const auto word = [&](int k, const char* usual) { return std::string(argc > k ? argv[k] : usual); };
        cases.push_back({std::stoi(word(1, "")), word(2, "cube"), std::stoi(word(3, "10")),
                         std::stoi(word(4, "0")), word(5, "mixed"), std::stoi(word(6, "1")),
                         std::stoi(word(7, "1")), std::stod(word(8, "0"))});
    } else {
        const int million = 1000000;
        for (const int order : {3, 4}) cases.push_back({million, "cube", order, 31, "mixed"});
        for (const int order : {11, 12}) cases.push_back({million, "cube", order, 72, "mixed"});
        cases.push_back({million, "cube", 12, 72, "double"});
        for (const int order : {20, 23, 24}) cases.push_back({million, "cube", order, 125, "double"});
        for (const int order : {3, 4}) cases.push_back({million, "plummer", order, 31, "mixed"});
        for (const int order : {12, 13}) cases.push_back({million, "plummer", order, 72, "mixed"});
        for (const int order : {12, 13}) cases.push_back({10 * million, "cube", order, 91, "mixed", 1});
    }
    return cases;
}

} // namespace

int main(int argc, char** argv) {
    const auto ranks = Communicator::world();
    const auto devices = static_cast<int>(gpus().size());
    if (devices > 0) cuda::check(cudaSetDevice(ranks.rank() % devices), "taking a GPU");
    Json out = {{"name", "fast multipole sums on a GPU"},
                {"gpu", gpus().empty() ? std::string("none") : gpus().front().name},
                {"rows", Json::array()}};
    for (const auto& of : cases_of(argc, argv)) out["rows"].push_back(measure(of, ranks));
    if (ranks.rank() == 0) std::printf("%s\n", out.dump(2).c_str());
    return 0;
}
