// Messages about programs: tests/golden/lang/NAME.ff against NAME.txt, and an example of each kind of message
// there and in the guide. A remark `# set: name=value` at the start of a line sets a parameter. With
// FARFIELD_UPDATE_GOLDEN=1 the texts are written anew; read them before they are kept.
#include "lang/diagnostic_kinds.h"
#include "stencil/compiler.h"
#include "stencil/front_end/front_end.h"
#include "stencil/front_end/syntax/diagnostic_kinds.h"
#include "stencil/front_end/syntax/words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using namespace farfield;

const fs::path root = FF_SOURCE_FOLDER;
const fs::path folder = root / "tests/golden/lang";

std::string read(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    std::stringstream out;
    out << stream.rdbuf();
    return out.str();
}

std::vector<fs::path> files(const fs::path& where, const std::string& extension) {
    std::vector<fs::path> out;
    for (const auto& entry : fs::directory_iterator(where))
        if (entry.path().extension() == extension) out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
}

std::vector<stencil::ParameterValue> parameters_in(const std::string& text) {
    std::vector<stencil::ParameterValue> out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("# set: ")) out.push_back(stencil::parse_parameter(line.substr(7)));
    return out;
}

std::vector<std::string> all_kinds() {
    std::vector<std::string> out;
    for (const auto* kind : lang::kinds::all) out.emplace_back(kind->name);
    for (const auto* kind : stencil::kinds::all) out.emplace_back(kind->name);
    return out;
}

class Messages : public testing::TestWithParam<fs::path> {};

TEST_P(Messages, AreThoseOfTheFile) {
    const auto text = read(GetParam());
    stencil::FrontEnd program(GetParam().filename().string(), text, parameters_in(text));
    if (program.good()) {
        fs::current_path(folder); // files are named as the program names them
        stencil::CompileOptions options;
        options.memory = std::int64_t{1} << 30;
        stencil::compile(program.model(), options, program.diagnostics());
    }
    const auto messages = to_text(program.diagnostics());
    auto expected = GetParam();
    expected.replace_extension(".txt");
    if (std::getenv("FARFIELD_UPDATE_GOLDEN") != nullptr)
        std::ofstream(expected, std::ios::binary) << messages;
    EXPECT_EQ(messages, read(expected));
    EXPECT_NE(messages, "") << "a file without a message shows nothing";
}

std::string case_name(const testing::TestParamInfo<fs::path>& info) { return info.param.stem().string(); }
INSTANTIATE_TEST_SUITE_P(Golden, Messages, testing::ValuesIn(files(folder, ".ff")), case_name);

TEST(MessageKinds, EachHasAnExampleHereAndInTheGuide) {
    std::string messages;
    for (const auto& path : files(folder, ".txt")) messages += read(path);
    const auto guide = read(root / "docs/guide/stencil-language.md");
    for (const auto& kind : all_kinds()) {
        EXPECT_NE(messages.find("[" + kind + "]"), std::string::npos) << "no golden test shows " << kind;
        EXPECT_NE(guide.find("`" + kind + "`"), std::string::npos) << "the guide does not explain " << kind;
    }
}

TEST(MessageKinds, HaveOneNameEach) {
    auto names = all_kinds();
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

// Statements quoted in the guide's text, such as `let k = 2*pi/20`; those with a placeholder or a block are
// left out.
std::vector<std::string> statements_of_the_guide() {
    const auto guide = read(root / "docs/guide/stencil-language.md");
    const auto begin = guide.find("## Statements");
    const auto section = guide.substr(begin, guide.find("## Expressions") - begin);
    std::vector<std::string> out;
    for (auto open = section.find('`'); open != std::string::npos;) {
        const auto close = section.find('`', open + 1);
        if (close == std::string::npos) break;
        auto text = section.substr(open + 1, close - open - 1);
        std::replace(text.begin(), text.end(), '\n', ' ');
        const auto word = text.substr(0, text.find_first_of(" :"));
        const bool statement = text != word && (word == "step" || stencil::opens_statement(word));
        if (statement && text.find("NAME") == std::string::npos && !text.ends_with(':')) out.push_back(text);
        open = section.find('`', close + 1);
    }
    return out;
}

TEST(Guide, StatementsInItsTextCanBeParsed) {
    const auto statements = statements_of_the_guide();
    EXPECT_GE(statements.size(), 14U);
    for (const auto& text : statements) {
        const stencil::FrontEnd program("guide", text + "\n");
        const auto messages = to_text(program.diagnostics());
        for (const auto* kind : {"[syntax]", "[unknown-statement]", "[unknown-word]", "[bad-character]"})
            EXPECT_EQ(messages.find(kind), std::string::npos) << messages;
    }
}

TEST(Examples, HaveNoMessage) {
    const auto programs = files(root / "examples/stencil", ".ff");
    EXPECT_GE(programs.size(), 5U);
    for (const auto& path : programs) {
        stencil::FrontEnd program(path.filename().string(), read(path));
        ASSERT_EQ(to_text(program.diagnostics()), "");
        stencil::compile(program.model(), {}, program.diagnostics());
        EXPECT_EQ(to_text(program.diagnostics()), "");
        EXPECT_EQ(program.model().name, path.stem().string());
    }
}

} // namespace
