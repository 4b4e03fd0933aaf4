// Random programs as CUDA code, emulated on the CPU: the interpreter's bits, in all forms, with every mask
// in turn (with `multiply` those of an interpreter that multiplies); and compiled by NVRTC where it is.
// FARFIELD_RANDOM_PROGRAMS (36) programs from the seed FARFIELD_RANDOM_SEED (1) on; a message has the seed.
#include "backend/comm/communicator_access.h"
#include "backend/comm/in_process.h"
#include "backend/jit/nvrtc.h"
#include "emulation/emulated_machine.h"
#include "property/random_programs.h"
#include "stencil/runtime/cuda/device_executor.h"
#include "stencil/runtime/ranks/division.h"
#include "stencil/runtime/ranks/halos.h"
#include "stencil/runtime/ranks/part.h"
#include "stencil/runtime/ranks/ranks_executor.h"
#include "stencil/targets.h"
#include "unit/stencil/results.h"

#include <gtest/gtest.h>

#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace farfield::stencil {
namespace {

using testing::EmulatedCode;
using testing::EmulatedMachine;
using testing::number_from;
using ProgramPtr = std::shared_ptr<const ir::Program>;

struct Trial {
    std::uint64_t seed = 0;
    std::string text;
    ProgramPtr program;
    ExecutorOptions options;
};

constexpr Mask masks[] = {Mask::none, Mask::select, Mask::branch, Mask::spans, Mask::multiply};

Mask mask_for(std::uint64_t seed) { return masks[seed % std::size(masks)]; }

// The forms of a program: a kernel an update, and tiles, which do not multiply.
std::vector<ExecutorOptions> tiled_forms(const ir::Program&, std::uint64_t seed) {
    if (mask_for(seed) == Mask::multiply) return {{.mask = Mask::multiply, .fuse = false}};
    return {{.mask = mask_for(seed), .fuse = false},
            {.mask = mask_for(seed), .time_tile = 2 + static_cast<int>(seed / 4 % 2)}};
}

// One of them in turn.
std::vector<ExecutorOptions> one_tiled_form(const ir::Program& program, std::uint64_t seed) {
    const auto forms = tiled_forms(program, seed);
    return {forms[(seed + seed / 4) % forms.size()]};
}

bool has_form(const codegen::cuda::Plan& plan, const std::string& marker) {
    return plan.description.find(marker) != std::string::npos;
}

const std::string streamed = "streamed along z";

// Columns of one step and of several, of several sizes, for programs that they serve.
std::vector<ExecutorOptions> streamed_forms(const ir::Program& program, std::uint64_t seed) {
    const ExecutorOptions options{.mask = mask_for(seed),
                                  .time_tile = 1 + static_cast<int>(seed / 4 % 3),
                                  .block = {16 << (seed / 8 % 3), 16, 2 + static_cast<int>(seed / 8 % 4)}};
    if (!has_form(codegen::cuda::plan_program(program, options), streamed)) return {};
    return {options};
}

using Forms = std::vector<ExecutorOptions>(const ir::Program&, std::uint64_t);

std::vector<Trial> trials_from(std::uint64_t& seed, std::size_t programs, Forms* forms) {
    std::vector<Trial> trials;
    const auto last = seed + 100 * programs; // else no program has the form
    for (std::size_t done = 0; done < programs && seed < last; ++seed) {
        Trial trial{seed, {}, nullptr, {}};
        trial.program = testing::random_program(seed, trial.text);
        if (trial.program == nullptr) continue;
        const auto options = forms(*trial.program, seed);
        done += options.empty() ? 0 : 1;
        for (const auto& form : options) {
            trial.options = form;
            trials.push_back(trial);
        }
    }
    return trials;
}

// Of the second rank of three.
ProgramPtr part_of_rank(const ir::Program& program) {
    const auto divisions = ranks::divide(program, 3);
    return ranks::part_of(program, divisions, ranks::halos_of(program, 2), 1).program;
}

void compare(const Trial& trial, Executor& executor) {
    const std::vector<int> counts{4, 3};
    const auto wanted = testing::results_of(*testing::judge_of(trial.program, trial.options.mask), counts);
    const auto form = executor.preparation().description;
    ASSERT_EQ(testing::difference(testing::results_of(executor, counts), wanted), "")
        << form << ", mask " << static_cast<int>(trial.options.mask);
}

class RandomCuda : public ::testing::TestWithParam<int> {
protected:
    // @param marker of the description of the form that a share of 1/often of the trials must have
    static void run(Forms* forms, std::size_t programs, const std::string& marker, std::size_t often) {
        auto seed = number_from("FARFIELD_RANDOM_SEED", 1) + 1000003 * static_cast<std::uint64_t>(GetParam());
        std::size_t reached = 0, all = 0;
        for (std::size_t done = 0; done < programs; done += 10) {
            const auto trials = trials_from(seed, std::min<std::size_t>(10, programs - done), forms);
            std::vector<codegen::cuda::Plan> plans;
            for (const auto& trial : trials)
                plans.push_back(codegen::cuda::plan_program(*trial.program, trial.options));
            const auto code = std::make_shared<const EmulatedCode>(plans);
            for (const auto& trial : trials) {
                SCOPED_TRACE("seed " + std::to_string(trial.seed) + "\n" + trial.text);
                cuda::DeviceExecutor executor(trial.program, trial.options,
                                              std::make_unique<EmulatedMachine>(trial.seed, code));
                ++all;
                reached += has_form(executor.plan(), marker) ? 1 : 0;
                compare(trial, executor);
                if (HasFatalFailure()) return;
            }
        }
        EXPECT_GT(often * reached, all) << "little is tested of " << marker;
    }
};
constexpr int parts = 6;

TEST_P(RandomCuda, GivesTheInterpretersBits) {
    run(tiled_forms, number_from("FARFIELD_RANDOM_PROGRAMS", 36) / parts, " a pass", 4);
}

TEST_P(RandomCuda, ColumnsGiveTheInterpretersBits) {
    run(streamed_forms, number_from("FARFIELD_RANDOM_PROGRAMS", 36) / parts, streamed, 2);
}

// A third of the programs above, each in one form, on GPUs of ranks that have memory for their rows alone.
TEST_P(RandomCuda, GivesTheInterpretersBitsOnRanks) {
    const auto programs = number_from("FARFIELD_RANDOM_PROGRAMS", 36) / parts / 3;
    auto seed = number_from("FARFIELD_RANDOM_SEED", 1) + 1000003 * static_cast<std::uint64_t>(GetParam());
    auto trials = trials_from(seed, programs, one_tiled_form);
    for (auto& trial : trials_from(seed, programs / 2, streamed_forms)) trials.push_back(std::move(trial));
    for (auto& trial : trials) {
        SCOPED_TRACE("seed " + std::to_string(trial.seed) + "\n" + trial.text);
        if (trial.options.mask == Mask::multiply) trial.options.mask = Mask::select; // boxes of parts differ
        const auto make = [&](ProgramPtr part) {
            auto machine = std::make_unique<EmulatedMachine>(trial.seed);
            machine->is_shared = trial.seed % 3 != 0;
            return std::make_unique<cuda::DeviceExecutor>(std::move(part), trial.options, std::move(machine));
        };
        comm::run_ranks(
            2 + static_cast<int>(trial.seed % 4), [&](std::shared_ptr<comm::Transport> transport) {
                ranks::RanksExecutor executor(trial.program, CommunicatorAccess::of(std::move(transport)),
                                              make, trial.options.time_tile);
                compare(trial, executor);
            });
        if (HasFailure()) return;
    }
}

// The emulation takes what a compiler for GPUs may refuse: text outside its subset of C++, too much shared
// memory. Half of the programs above, each in one of its forms, and one in columns; some as the part of a
// rank.
TEST_P(RandomCuda, CompilesForAGpu) {
    if (const auto reason = jit::why_no_nvrtc(); !reason.empty()) GTEST_SKIP() << reason;
    const auto programs = number_from("FARFIELD_RANDOM_PROGRAMS", 36) / parts / 2;
    auto seed = number_from("FARFIELD_RANDOM_SEED", 1) + 1000003 * static_cast<std::uint64_t>(GetParam());
    auto trials = trials_from(seed, programs, one_tiled_form);
    for (auto& trial : trials_from(seed, 1, streamed_forms)) trials.push_back(std::move(trial));
    ASSERT_EQ(trials.size(), programs + 1);
    for (const auto& trial : trials) {
        const auto name = "seed " + std::to_string(trial.seed);
        SCOPED_TRACE(name + "\n" + trial.text);
        const auto program = trial.seed % 2 == 0 ? trial.program : part_of_rank(*trial.program);
        const auto plan = codegen::cuda::plan_program(*program, trial.options);
        const auto code = jit::compile_device_code(plan.source, name, "sm_90");
        EXPECT_GT(code.image.size(), 64U);
        EXPECT_EQ(code.log.find("warning"), std::string::npos) << code.log;
    }
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomCuda, ::testing::Range(0, parts));

} // namespace
} // namespace farfield::stencil
