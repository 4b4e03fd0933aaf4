// Random programs on several ranks: the bits of one rank. FARFIELD_RANDOM_PROGRAMS worlds (100) are made from
// the seed FARFIELD_RANDOM_SEED (1) on; a message names the seed and has the program.
#include "backend/comm/communicator_access.h"
#include "backend/comm/in_process.h"
#include "property/random_programs.h"
#include "stencil/targets.h"
#include "unit/stencil/results.h"

#include <fmt/format.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace farfield {
namespace {

using testing::difference;
using testing::number_from;
using testing::results_of;

const std::vector<int> steps{3, 4};

TEST(RandomPrograms, GiveTheBitsOfOneRankOnSeveral) {
    const auto total = number_from("FARFIELD_RANDOM_PROGRAMS", 100);
    auto seed = number_from("FARFIELD_RANDOM_SEED", 1);
    std::uint64_t refused = 0;
    for (std::uint64_t done = 0; done < total; ++seed) {
        std::string text;
        const auto program = testing::random_program(seed, text);
        if (!program) {
            ASSERT_LT(++refused, 3 * total + 20) << "most programs are refused";
            continue;
        }
        ++done;
        const auto wanted = results_of(*stencil::make_executor("interpreter", program, {}), steps);
        const int ranks = static_cast<int>(2 + seed % 7);
        stencil::ExecutorOptions options;
        options.threads = 1;
        options.time_tile = static_cast<int>(seed / 7 % 4);
        // Compilers take most of the time.
        const auto* target = seed % 10 == 0 ? "cpu" : "interpreter";
        comm::run_ranks(ranks, [&](std::shared_ptr<comm::Transport> transport) {
            const auto executor =
                stencil::make_executor(target, program, options, CommunicatorAccess::of(transport));
            EXPECT_EQ(difference(results_of(*executor, steps), wanted), "")
                << "seed " << seed << ", rank " << transport->rank() << " of " << ranks << ", "
                << options.time_tile << " steps a pass\n"
                << text;
        });
        ASSERT_FALSE(HasFailure());
    }
}

} // namespace
} // namespace farfield
