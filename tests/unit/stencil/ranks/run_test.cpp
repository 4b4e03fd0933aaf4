// Runs on several ranks, which threads play here: with files and in memory, the bytes of one rank.
#include "backend/comm/communicator_access.h"
#include "backend/comm/in_process.h"
#include "effort.h"

#include <farfield/stencil.h>
#include <farfield/stencil_run.h>

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

using namespace farfield;
namespace fs = std::filesystem;

const std::string waves = R"(program waves
param n = 24
grid g[x: n, y: n]
field p, rho on g : double
field u on g : float, double-buffered = 0.01*x
subdomain left(x) = x < 9
coefficient c on g:
    left: 0.9
    elsewhere: 1
field fixed on g = x - y
boundary u: periodic
update one on interior: p += 0.1*c*(rho[x+1] - rho + rho[y+1] - rho)
update two on interior: rho += 0.1*(p - p[x-1] + p - p[y-1])
update three: u = 0.5*u[y-1] + 0.1*u[x+2]
source s at (n/2, n/2): p += sin(0.3*t)
record total = sum of rho^2
record top = max of p every 3
record here = u at (3, 4) every 2
step: one, two, s, three every 2
output p, fixed every 20
output rho at end
time steps = 60
)";

class RanksRun : public ::testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("farfield-ranks-" + std::to_string(::getpid()));
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    StencilRunSettings settings(const std::string& name) const {
        StencilRunSettings settings;
        settings.out = folder_ / name;
        settings.options.target = "interpreter";
        settings.checkpoint_seconds = 0;
        settings.plots = {{"p", folder_ / name / "p.png"}};
        settings.animations = {{"u", folder_ / name / "u.png", 15}};
        return settings;
    }
    /// What rank 0 returns.
    static StencilRunResult run(int ranks, const StencilProgram& program, const StencilRunSettings& settings,
                                const StencilRunHooks& hooks = {}) {
        StencilRunResult first;
        comm::run_ranks(ranks, [&](std::shared_ptr<comm::Transport> transport) {
            auto own = settings;
            const int rank = transport->rank();
            own.options.communicator = CommunicatorAccess::of(std::move(transport));
            const auto result = run_stencil(program, own, hooks);
            if (rank == 0) first = result;
            EXPECT_EQ(result.step > 0, true);
        });
        return first;
    }
    /// All files of a run but the one with times in it.
    std::map<std::string, std::string> files(const std::string& name) const {
        std::map<std::string, std::string> out;
        for (const auto& entry : fs::directory_iterator(folder_ / name)) {
            std::ifstream file(entry.path(), std::ios::binary);
            if (entry.path().filename() != "summary.json")
                out[entry.path().filename().string()] = {std::istreambuf_iterator<char>(file), {}};
        }
        return out;
    }
    void expect_same(const std::string& name, const std::string& wanted) const {
        const auto a = files(name), b = files(wanted);
        EXPECT_EQ(a.size(), b.size());
        for (const auto& [file, bytes] : b) {
            ASSERT_TRUE(a.count(file)) << file;
            EXPECT_TRUE(a.at(file) == bytes) << file << " differs";
        }
    }

    fs::path folder_;
};

TEST_F(RanksRun, LeavesTheFilesOfOneRank) {
    const auto program = StencilProgram::from_text(waves);
    const auto alone = run(1, program, settings("one"));
    EXPECT_GE(files("one").size(), 10U);
    for (const int ranks : test::sized(std::vector{2, 3, 8}, std::vector{3})) {
        const auto name = std::to_string(ranks);
        const auto result = run(ranks, program, settings(name));
        EXPECT_EQ(result.step, alone.step);
        EXPECT_EQ(result.files.size(), alone.files.size());
        expect_same(name, "one");
    }
}

TEST_F(RanksRun, GoesOnOnAnotherNumberOfRanks) {
    const auto program = StencilProgram::from_text(waves);
    run(1, program, settings("one"));
    std::atomic<int> asked{0};
    // Any rank may be asked to stop; only one is, after it has been asked some times.
    thread_local bool mine = false;
    std::atomic<int> threads{0};
    StencilRunHooks hooks;
    hooks.stop_requested = [&] {
        if (!mine && threads.fetch_add(1) == 0) mine = true;
        return mine && ++asked > 2;
    };
    auto first = settings("split");
    const auto stopped = run(4, program, first, hooks);
    EXPECT_FALSE(stopped.finished);
    EXPECT_LT(stopped.step, 60);
    first.restart = true;
    const auto rest = run(3, program, first);
    EXPECT_TRUE(rest.finished);
    EXPECT_EQ(rest.steps_here, 60 - stopped.step);
    auto a = files("split"), b = files("one");
    a.erase("checkpoint.previous.h5"); // of another step
    b.erase("checkpoint.previous.h5");
    EXPECT_EQ(a, b);
}

TEST_F(RanksRun, FindsTheStepThatIsNotFinite) {
    const auto grows = StencilProgram::from_text(
        "grid g[x: 4, y: 9]\nfield v on g = 1\nfield w on g = 0\nupdate a on y == 7: v *= 1.5\n"
        "update b: w = v - v\nstep: a, b\nrecord total = max of v every 3\ntime steps = 100000\n");
    std::map<int, std::string> errors;
    for (const int ranks : {1, 3}) {
        std::mutex mutex;
        auto these = settings(std::to_string(ranks));
        these.plots.clear();
        these.animations.clear();
        std::map<int, std::string> by_rank;
        comm::run_ranks(ranks, [&](std::shared_ptr<comm::Transport> transport) {
            auto own = these;
            const int rank = transport->rank();
            own.options.communicator = CommunicatorAccess::of(std::move(transport));
            try {
                run_stencil(grows, own);
            } catch (const Error& error) {
                const std::lock_guard lock(mutex);
                by_rank[rank] = error.what();
            }
        });
        EXPECT_EQ(by_rank.size(), static_cast<std::size_t>(ranks));
        for (const auto& [rank, text] : by_rank) EXPECT_EQ(text, by_rank[0]);
        errors[ranks] = by_rank[0];
    }
    EXPECT_NE(errors[1].find("in step 1750"), std::string::npos) << errors[1];
    EXPECT_EQ(errors[3], errors[1]);
    expect_same("3", "1");
}

// One error, on all ranks alike: of the folder, of the program, of an option.
TEST_F(RanksRun, FailsOnAllRanksAlike) {
    const auto program = StencilProgram::from_text(waves);
    run(1, program, settings("taken"));
    const auto refusals = [&](const StencilProgram& which, const StencilRunSettings& these) {
        std::mutex mutex;
        std::vector<std::string> texts;
        comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
            auto own = these;
            own.options.communicator = CommunicatorAccess::of(std::move(transport));
            try {
                run_stencil(which, own);
            } catch (const Error& error) {
                const std::lock_guard lock(mutex);
                texts.push_back(error.what());
            }
        });
        EXPECT_EQ(texts.size(), 3U);
        for (const auto& text : texts) EXPECT_EQ(text, texts.front());
        return texts.empty() ? std::string() : texts.front();
    };
    EXPECT_NE(refusals(program, settings("taken")).find("overwrite"), std::string::npos);
    auto elsewhere = settings("elsewhere");
    elsewhere.options.target = "abacus";
    EXPECT_NE(refusals(program, elsewhere).find("'abacus' is not known"), std::string::npos);
    const auto outside =
        StencilProgram::from_text("grid g[x: 4]\nfield u on g : double, double-buffered\nupdate a: u = "
                                  "u[x+1]\nstep: a\ntime steps = 3\n");
    auto no_pictures = settings("outside");
    no_pictures.plots.clear();
    no_pictures.animations.clear();
    const auto text = refusals(outside, no_pictures);
    EXPECT_NE(text.find("leaves the grid"), std::string::npos) << text;
}

// In memory: every rank has the whole of fields and series, and saves and loads them.
TEST_F(RanksRun, InMemoryIsWholeOnEveryRank) {
    const auto program = StencilProgram::from_text(waves);
    const StencilOptions alone_options{.target = "interpreter"};
    StencilRun alone(program, alone_options);
    alone.advance(30);
    alone.set_field("u", alone.field("u").values);
    const auto middle = alone.field("rho").values;
    alone.advance(30);
    std::vector<std::vector<double>> fields, records; // a run is one thread's
    for (const auto& name : program.fields()) fields.push_back(alone.field(name).values);
    for (const auto& name : program.records()) records.push_back(alone.series(name).values);
    comm::run_ranks(5, [&](std::shared_ptr<comm::Transport> transport) {
        auto options = alone_options;
        options.communicator = CommunicatorAccess::of(transport);
        StencilRun run(program, options);
        EXPECT_NE(run.description().find("5 ranks"), std::string::npos);
        run.advance(30);
        run.set_field("u", run.field("u").values);
        EXPECT_EQ(run.field("rho").values, middle);
        save_stencil_run(run, folder_ / "saved.h5");
        transport->barrier();
        auto loaded = load_stencil_run(folder_ / "saved.h5", options);
        for (auto* one : {&run, &loaded}) {
            one->advance(30);
            for (std::size_t k = 0; k < fields.size(); ++k)
                EXPECT_EQ(one->field(program.fields()[k]).values, fields[k]);
            for (std::size_t k = 0; k < records.size(); ++k)
                EXPECT_EQ(one->series(program.records()[k]).values, records[k]);
        }
    });
}

// All ranks take the same pieces, and stop after the same, whichever of them is asked to.
TEST_F(RanksRun, InMemoryStopsWhereOneRankIsAsked) {
    const auto program = StencilProgram::from_text(waves);
    const StencilOptions alone_options{.target = "interpreter"};
    for (const int stopper : {0, 1, 2}) {
        std::vector<std::int64_t> steps(3);
        std::vector<int> questions(3);
        std::vector<std::vector<double>> found(3);
        comm::run_ranks(3, [&](std::shared_ptr<comm::Transport> transport) {
            const int rank = transport->rank();
            const auto here = static_cast<std::size_t>(rank);
            auto options = alone_options;
            options.communicator = CommunicatorAccess::of(std::move(transport));
            StencilRun run(program, options);
            run.advance(1000, [&] { return ++questions[here] > 4 && rank == stopper; });
            steps[here] = run.step();
            found[here] = run.field("rho").values;
        });
        EXPECT_LT(steps[0], 1000);
        EXPECT_EQ(questions[0], 5);
        StencilRun alone(program, alone_options);
        alone.advance(steps[0], {});
        for (std::size_t rank = 0; rank < 3; ++rank) {
            EXPECT_EQ(steps[rank], steps[0]);
            EXPECT_EQ(questions[rank], questions[0]);
            EXPECT_EQ(found[rank], alone.field("rho").values);
        }
    }
}

} // namespace
