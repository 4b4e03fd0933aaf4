// Random programs: whatever computes them gives the same bits. The interpreter of the program as it is
// lowered judges the interpreter of the optimised one, and both every target, mask strategy, number of steps
// a pass and of threads. Only the mask `multiply` has bits of its own, those of an interpreter that
// multiplies. NaN equals NaN, whatever its bits. Where there is NVRTC, it compiles the CUDA code
// of one world of each program, or of all with FARFIELD_RANDOM_DEVICE_CODE=all (15 s a program).
//
// FARFIELD_RANDOM_PROGRAMS worlds (150; 300 where all are compiled for a GPU) are made from the seed
// FARFIELD_RANDOM_SEED (1) on, FARFIELD_RANDOM_TOGETHER (10) to a program, because compilers take most of the
// time; a message names the seeds. With FARFIELD_RANDOM_MASKS=all every program runs with every strategy,
// otherwise with one in turn.
#include "backend/jit/nvrtc.h"
#include "effort.h"
#include "property/random_programs.h"
#include "stencil/codegen/cuda/plan.h"
#include "stencil/compiler.h"
#include "stencil/front_end/front_end.h"
#include "stencil/ir/dump.h"
#include "stencil/targets.h"
#include "unit/stencil/results.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

namespace farfield::stencil {
namespace {

using ProgramPtr = std::shared_ptr<const ir::Program>;

using testing::compiled_random;
using testing::difference;
using testing::number_from;
using testing::results_of;

constexpr int parts = 6; // test cases that share the programs, so that none takes long
const std::vector<int> steps{3, 4};

std::size_t worlds_a_program() { return number_from("FARFIELD_RANDOM_TOGETHER", 10); }

bool all_device_code() {
    const char* chosen = std::getenv("FARFIELD_RANDOM_DEVICE_CODE");
    return chosen != nullptr && std::string_view(chosen) == "all";
}

std::vector<Mask> masks_for(std::uint64_t seed) {
    const std::vector<Mask> all{Mask::spans, Mask::none, Mask::select, Mask::branch, Mask::multiply};
    const char* chosen = std::getenv("FARFIELD_RANDOM_MASKS");
    if (chosen != nullptr && std::string_view(chosen) == "all") return all;
    return {all[seed / worlds_a_program() % all.size()]};
}

// Null where this machine lacks what the target needs.
std::unique_ptr<Executor> started(std::string_view target, const ProgramPtr& program,
                                  const ExecutorOptions& options) {
    try {
        return make_executor(target, program, options);
    } catch (const BackendUnavailable&) {
        return nullptr;
    }
}

void compare_targets(const ProgramPtr& program, const testing::Results& expected, std::uint64_t seed) {
    for (const auto target : target_names()) {
        if (target == "interpreter") continue;
        for (const auto mask : masks_for(seed)) {
            const auto wanted = mask == Mask::multiply ? testing::multiplied(program, steps) : expected;
            for (const int tile : {1, 2, 3}) {
                ExecutorOptions options;
                options.mask = mask;
                options.time_tile = tile;
                options.fuse = tile != 1;
                options.threads = 1 + tile % 2;
                if (target == "cpu") options.block.fill(static_cast<int>(1 + seed % 4));
                const auto executor = started(target, program, options);
                if (!executor) return;
                ASSERT_EQ(difference(results_of(*executor, steps), wanted), "")
                    << target << ", mask " << static_cast<int>(mask) << ", " << tile << " steps a pass";
            }
        }
    }
}

// What would run on a GPU is code that its compiler takes, without a word.
void expect_device_code(const ir::Program& program, const ExecutorOptions& options) {
    if (!jit::why_no_nvrtc().empty()) return;
    const auto plan = codegen::cuda::plan_program(program, options);
    const auto code = jit::compile_device_code(plan.source, "program.cu", "sm_90");
    EXPECT_GT(code.image.size(), 64U);
    EXPECT_EQ(code.log.find("warning"), std::string::npos) << code.log;
}

// A cache of compiled code for this process alone, unless $FARFIELD_CACHE names another.
class OwnCache : public ::testing::Environment {
public:
    void SetUp() override {
        if (std::getenv("FARFIELD_CACHE") != nullptr) return;
        folder_ = std::filesystem::path(::testing::TempDir()) / fmt::format("farfield_random_{}", getpid());
        setenv("FARFIELD_CACHE", folder_.c_str(), 1);
    }
    void TearDown() override {
        if (!folder_.empty()) std::filesystem::remove_all(folder_);
    }

private:
    std::filesystem::path folder_;
};
const auto* const own_cache = ::testing::AddGlobalTestEnvironment(new OwnCache); // which GoogleTest deletes

class RandomPrograms : public ::testing::TestWithParam<int> {};

TEST_P(RandomPrograms, GiveTheSameBitsWhateverComputesThem) {
    const auto total =
        static_cast<std::int64_t>(number_from("FARFIELD_RANDOM_PROGRAMS", all_device_code() ? 300 : 150));
    const auto first = number_from("FARFIELD_RANDOM_SEED", 1);
    const auto share = (total + parts - 1) / parts;
    const auto start = first + static_cast<std::uint64_t>(GetParam()) * 1000003;
    auto seed = start;
    std::int64_t refused = 0;
    std::int64_t finite = 0;
    std::int64_t fields = 0;
    std::string refusal;
    for (std::int64_t done = 0; done < share;) {
        std::vector<testing::RandomWorld> worlds;
        const auto from = seed;
        while (worlds.size() < worlds_a_program() && done < share) {
            auto world = testing::random_world(seed, std::to_string(worlds.size()));
            ++seed;
            if (compiled_random(testing::program_of({world}), false, &refusal)) {
                worlds.push_back(std::move(world));
                ++done;
            } else if (++refused > 3 * share + 20) {
                FAIL() << "most programs are refused: " << refusal;
            }
        }
        const auto text = testing::program_of(worlds);
        SCOPED_TRACE(fmt::format("seeds {} to {}\n{}", from, seed - 1, text));
        const auto plain = compiled_random(text, false, &refusal);
        const auto optimised = compiled_random(text, true);
        ASSERT_TRUE(plain && optimised) << refusal;
        const auto expected = results_of(*make_executor("interpreter", plain, {}), steps);
        ASSERT_EQ(difference(results_of(*make_executor("interpreter", optimised, {}), steps), expected), "")
            << "optimised";
        compare_targets(optimised, expected, from);
        if (HasFatalFailure()) return;
        const auto on_device =
            all_device_code() ? optimised : compiled_random(testing::program_of({worlds.front()}), true);
        ASSERT_TRUE(on_device);
        expect_device_code(*on_device, {.mask = masks_for(from).front(), .time_tile = 2});
        for (const auto& field : std::span(expected).first(expected.size() - plain->records.size())) {
            ++fields;
            const auto good =
                std::count_if(field.begin(), field.end(), [](double value) { return std::isfinite(value); });
            if (2 * good > static_cast<std::ptrdiff_t>(field.size())) ++finite;
        }
    }
    EXPECT_GT(2 * finite, fields); // else little is tested
    RecordProperty("refused", static_cast<int>(refused));
    std::printf("seeds %llu to %llu: %lld programs refused, %lld of %lld fields mostly finite\n",
                static_cast<unsigned long long>(start), static_cast<unsigned long long>(seed - 1),
                static_cast<long long>(refused), static_cast<long long>(finite),
                static_cast<long long>(fields));
}

// What the fuzzer starts from, and the programs of the golden tests: whatever they are, compiling them ends.
TEST(Compiler, TakesAnyProgram) {
    int programs = 0;
    int good = 0;
    for (const char* folder : {"tests/fuzz/corpus/lang", "tests/golden/lang", "examples/stencil"})
        for (const auto& file :
             std::filesystem::directory_iterator(std::filesystem::path(FARFIELD_SOURCE) / folder)) {
            if (file.path().extension() != ".ff") continue;
            ++programs;
            std::ifstream in(file.path());
            CompileOptions options;
            FrontEnd front(file.path().filename().string(), {std::istreambuf_iterator<char>(in), {}});
            options.folder = file.path().parent_path();
            options.memory = std::int64_t{1} << 30;
            const auto program =
                front.good() ? compile(front.model(), options, front.diagnostics()) : nullptr;
            EXPECT_EQ(program == nullptr, front.diagnostics().has_errors()) << file.path();
            if (program == nullptr) continue;
            ++good;
            SCOPED_TRACE(file.path().string());
            if (!program->kernels.empty() && good % test::sized(1, 4) == 0) expect_device_code(*program, {});
        }
    EXPECT_GT(programs, 70);
    EXPECT_GT(good, 10);
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomPrograms, ::testing::Range(0, parts));

} // namespace
} // namespace farfield::stencil
