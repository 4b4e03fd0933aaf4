// Ranks that share targets over sums that know nothing of ranks: on GPUs, and here on CPUs.
#include "on_ranks.h"
#include "sums/kernels/kernel.h"
#include "sums/method/method.h"
#include "sums/method/target_share.h"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace farfield {
namespace {

using test::common_error, test::numbers, test::Values;

struct Shared {
    SumOptions options; ///< with a precision, as plans settle it
    int dimension = 3;
    std::int64_t sources = 0, targets = 0; ///< targets: 0: the sources
    Output slope = Output::field;

    [[nodiscard]] std::int64_t rows() const { return targets > 0 ? targets : sources; }
    [[nodiscard]] SumProblem problem() const {
        SumProblem out;
        out.kernel = &kernel_info(options.kernel);
        out.dimension = dimension;
        out.outputs = out.kernel->output_set();
        out.self = targets == 0;
        out.sources = sources;
        out.targets = rows();
        out.sigma = options.sigma;
        out.tolerance = options.tolerance;
        out.period = options.period;
        out.background = options.background;
        return out;
    }
};

constexpr DeviceKind cpu = DeviceKind::cpu;

Values results_of(PreparedSum& sum, const Shared& shared, SumReport& report, const SumHooks& hooks = {}) {
    const auto points = numbers(shared.sources * shared.dimension, 1),
               others = numbers(shared.targets * shared.dimension, 2), strengths = numbers(shared.sources, 3);
    sum.set_points(matrix_view(std::span<const double>(points), shared.dimension),
                   shared.targets > 0 ? matrix_view(std::span<const double>(others), shared.dimension)
                                      : ConstArrayView());
    const auto m = static_cast<std::size_t>(shared.rows()), d = static_cast<std::size_t>(shared.dimension);
    Values out((1 + d) * m);
    SumOutputs outputs{.potential = matrix_view(std::span(out).first(m), 1)};
    outputs.of(shared.slope) = matrix_view(std::span(out).subspan(m), shared.dimension);
    sum.execute(matrix_view(std::span<const double>(strengths), 1), outputs, hooks, report);
    return out;
}

void expect_same_on_ranks(const Shared& shared, double rounding = 1e-11) {
    auto problem = shared.problem();
    problem.self = false; // as each rank sums
    const auto one =
        method_info(shared.options.method).make(problem, shared.options, {.kind = cpu, .gpus = {}});
    SumReport report;
    // targets that are the sources are given as such
    const auto points = numbers(shared.sources * shared.dimension, 1);
    const auto others = shared.targets > 0 ? numbers(shared.targets * shared.dimension, 2) : points;
    const auto strengths = numbers(shared.sources, 3);
    one->set_points(matrix_view(std::span<const double>(points), shared.dimension),
                    matrix_view(std::span<const double>(others), shared.dimension));
    const auto m = static_cast<std::size_t>(shared.rows()), d = static_cast<std::size_t>(shared.dimension);
    Values expected((1 + d) * m);
    SumOutputs outputs{.potential = matrix_view(std::span(expected).first(m), 1)};
    outputs.of(shared.slope) = matrix_view(std::span(expected).subspan(m), shared.dimension);
    one->execute(matrix_view(std::span<const double>(strengths), 1), outputs, {}, report);
    for (const int ranks : {2, 3, 8})
        comm::run_ranks(ranks, [&](std::shared_ptr<comm::Transport> transport) {
            auto options = shared.options;
            options.communicator =
                CommunicatorAccess::with_everything(CommunicatorAccess::of(std::move(transport)));
            const auto sum = make_target_share(method_info(options.method), shared.problem(), options,
                                               {.kind = cpu, .gpus = {}});
            SumReport mine;
            const auto found = results_of(*sum, shared, mine);
            ASSERT_EQ(found.size(), expected.size());
            for (std::size_t i = 0; i < found.size(); ++i)
                ASSERT_NEAR(found[i], expected[i], rounding * (1.0 + std::abs(expected[i])))
                    << ranks << ' ' << i;
        });
}

TEST(TargetShare, GivesAllRanksTheSumsOfOne) {
    expect_same_on_ranks(
        {.options = {.kernel = Kernel::coulomb, .method = Method::direct, .precision = Precision::float64},
         .sources = 500,
         .targets = 301});
    expect_same_on_ranks(
        {.options = {.kernel = Kernel::coulomb, .method = Method::direct, .precision = Precision::float64},
         .sources = 500,
         .targets = 2});
    expect_same_on_ranks({.options = {.kernel = Kernel::gauss,
                                      .method = Method::direct,
                                      .sigma = 0.5,
                                      .precision = Precision::float64},
                          .dimension = 2,
                          .sources = 600,
                          .slope = Output::gradient});
    SumOptions in_box{.kernel = Kernel::coulomb,
                      .method = Method::ewald,
                      .period = {4.0, 4.0, 4.0},
                      .background = Background::uniform,
                      .tolerance = 1e-10,
                      .precision = Precision::float64};
    expect_same_on_ranks({.options = in_box, .sources = 300, .targets = 200}, 1e-8); // cut off elsewhere
}

TEST(TargetShare, TellsTheMistakeOfOneRankOnAll) {
    const Shared shared{
        .options = {.kernel = Kernel::coulomb, .method = Method::direct, .precision = Precision::float64},
        .sources = 300,
        .targets = 90};
    const auto message = common_error(3, [&](int /*rank*/, const Communicator& communicator) {
        auto options = shared.options;
        options.communicator = CommunicatorAccess::with_everything(communicator);
        const auto sum = make_target_share(method_info(options.method), shared.problem(), options,
                                           {.kind = cpu, .gpus = {}});
        auto points = numbers(900, 1), others = numbers(270, 2);
        std::copy_n(points.begin(), 3, others.begin() + 3 * 89); // at a source, of the last rank
        sum->set_points(matrix_view(std::span<const double>(points), 3),
                        matrix_view(std::span<const double>(others), 3));
        const Values strengths(300, 1.0);
        Values out(90);
        SumReport report;
        sum->execute(std::span<const double>(strengths), {.potential = std::span(out)}, {}, report);
    });
    test::expect_contains(message, {"targets", "count from row 60"});
}

TEST(TargetShare, IsForGpusAndForTargetsThatMayBeApart) {
    const DeviceChoice on_gpu{.kind = DeviceKind::cuda, .gpus = {0}}, on_cpu{.kind = cpu, .gpus = {}};
    Shared shared{.options = {.kernel = Kernel::coulomb}, .sources = 10, .targets = 10};
    EXPECT_TRUE(shares_targets(method_info(Method::treecode), shared.problem(), on_gpu));
    EXPECT_FALSE(shares_targets(method_info(Method::treecode), shared.problem(), on_cpu));
    EXPECT_FALSE(shares_targets(method_info(Method::reference), shared.problem(), on_gpu));
    shared.targets = 0; // a source does not act on itself
    EXPECT_FALSE(shares_targets(method_info(Method::treecode), shared.problem(), on_gpu));
    shared.options.kernel = Kernel::gauss;
    EXPECT_TRUE(shares_targets(method_info(Method::fgt), shared.problem(), on_gpu));
    auto without_own = shared.problem();
    without_own.self_term = SelfTerm::exclude;
    EXPECT_FALSE(shares_targets(method_info(Method::fgt), without_own, on_gpu));
}

} // namespace
} // namespace farfield
