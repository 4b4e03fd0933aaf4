// Every program in the guide's pages runs: fenced blocks with a `step`.
#include <farfield/stencil.h>

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace farfield {
namespace {

const std::filesystem::path root = FF_SOURCE_DIR;

std::vector<std::string> programs_of(const std::string& page) {
    std::ifstream file(root / "docs/guide" / page, std::ios::binary);
    std::stringstream buffer;
    buffer << file.rdbuf();
    std::istringstream lines(buffer.str());
    std::vector<std::string> out;
    std::string line, block;
    bool inside = false;
    while (std::getline(lines, line)) {
        if (!line.starts_with("```")) {
            if (inside) block += line + '\n';
            continue;
        }
        if (inside && block.find("\nstep:") != std::string::npos) out.push_back(block);
        block.clear();
        inside = !inside;
    }
    return out;
}

void expect_runs(const std::string& page, std::size_t least) {
    const auto programs = programs_of(page);
    EXPECT_GE(programs.size(), least) << page;
    for (const auto& text : programs) {
        const auto program = StencilProgram::from_text(text, {}, page, root / "examples/stencil");
        EXPECT_EQ(program.warnings(), "") << text;
        StencilOptions options;
        options.target = "interpreter";
        StencilRun run(program, options);
        run.advance(3);
        for (const auto& name : program.fields())
            for (const double value : run.field(name).values)
                ASSERT_TRUE(std::isfinite(value)) << name << text;
    }
}

TEST(Guide, ProgramsOfTheLanguagePageRun) { expect_runs("stencil-language.md", 4); }
TEST(Guide, ProgramsOfThePageOnLightRun) { expect_runs("fdtd.md", 2); }

} // namespace
} // namespace farfield
