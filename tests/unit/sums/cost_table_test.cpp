// The cost table: text and hash, the file of the user, and what is said of files that are broken.
#include "backend/threads/parallel.h"
#include "environment.h"
#include "sums/costs/cost_file.h"
#include "sums/costs/cost_table.h"
#include "sums/costs/threads.h"
#include "sums/direct/common/costs.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace farfield {
namespace {

namespace fs = std::filesystem;
using test::Variable;

TEST(CostTable, HasAFiniteCostForEveryCpuAndModel) {
    const auto table = shipped_cost_table();
    for (const auto& [name, value] : table.costs) {
        EXPECT_TRUE(std::isfinite(value) && value > 0.0) << name;
        EXPECT_LT(value, 1e14) << name;
    }
    for (const auto precision : {Precision::float32, Precision::float64, Precision::mixed})
        for (const bool self : {true, false}) {
            for (const auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512})
                EXPECT_NO_THROW(cost_of(table, direct_cost::cpu_pairs_per_second(isa, precision, self)));
            for (const auto* gpu : {"NVIDIA H200", "NVIDIA H100 80GB HBM3", "NVIDIA L4", ""}) {
                const auto rates = gpu_rates(table, gpu, precision, self);
                EXPECT_GT(rates.pairs_per_second, 1e9);
                EXPECT_GT(rates.start_seconds, 0.0);
                EXPECT_GT(rates.bytes_per_second, 1e9);
            }
        }
    EXPECT_EQ(least_gpu_start(table), 0.25);
}

// One where half of the work is less than it costs to have another thread take part.
TEST(CostTable, AShortSumTakesOneThread) {
    EXPECT_EQ(threads_that_gain(0.0, 1e-5, 64), 1);
    EXPECT_EQ(threads_that_gain(1.9e-5, 1e-5, 64), 1);
    EXPECT_EQ(threads_that_gain(2.1e-5, 1e-5, 64), 64);
    EXPECT_EQ(threads_that_gain(1.0, 1e-5, 1), 1);
    const auto table = shipped_cost_table();
    EXPECT_EQ(threads_for(0, 1e-6, table), 1);
    EXPECT_EQ(threads_for(0, 1.0, table), thread_count(0));
    EXPECT_EQ(threads_for(3, 1e-6, table), 3); // whoever names a number gets it
}

// FNV-1a of the empty text is its offset basis: draft-eastlake-fnv.
TEST(CostTable, IsKnownByItsHash) {
    EXPECT_EQ(hash_of({}), "cbf29ce484222325");
    // "a = 1e+00" and a line end, by a second implementation in Python
    EXPECT_EQ(hash_of({{{"a", 1.0}}}), "a5b08fa255286e92");
    EXPECT_EQ(to_text({{{"a", 1.0}, {"b", 2.5e9}}}), "a = 1e+00\nb = 2.5e+09\n");
}

// Where this fails, the shipped table has changed: `auto` may choose otherwise. Say so in the changelog.
TEST(CostTable, TheShippedOneHasAGoldenHash) { EXPECT_EQ(hash_of(shipped_cost_table()), "0f9505d5e0d1ec82"); }

TEST(CostTable, AnyChangeOfABitChangesTheHash) {
    const auto shipped = shipped_cost_table();
    for (const auto& [name, value] : shipped.costs) {
        auto other = shipped;
        other.costs[name] = std::nextafter(value, 1e300);
        EXPECT_NE(hash_of(other), hash_of(shipped)) << name;
    }
}

TEST(CostTable, KnowsGpusByTheWordsOfTheirNames) {
    EXPECT_EQ(cost_word("NVIDIA H100 80GB HBM3"), "nvidia_h100_80gb_hbm3");
    EXPECT_EQ(of_model("gpu.MODEL.start_seconds", "h200"), "gpu.h200.start_seconds");
    const CostTable table{{{"gpu.generic.x", 1.0},
                           {"gpu.h100.x", 2.0},
                           {"gpu.h100_pcie.x", 3.0},
                           {"gpu.nvidia_h100_pcie.x", 4.0},
                           {"gpu.h100.y.x", 9.0}}};
    const auto of = [&](const char* name) { return cost_of_gpu(table, "gpu.MODEL.x", name); };
    EXPECT_EQ(of("NVIDIA H100 80GB HBM3"), 2.0);
    EXPECT_EQ(of("AMD H100 PCIe"), 3.0);
    EXPECT_EQ(of("NVIDIA H100 PCIe"), 4.0); // what was measured here is more specific than what is shipped
    EXPECT_EQ(of("NVIDIA H1000"), 1.0);
    EXPECT_EQ(of(""), 1.0);
    EXPECT_THROW(cost_of(table, "gpu.h100.z"), InternalError);
}

TEST(CostFile, ReadsWhatItWrites) {
    auto table = shipped_cost_table();
    table.costs["gpu.nvidia_l4.start_seconds"] = 0.1 + 0.2; // 17 digits
    const auto text = cost_file_text(table, "two lines\nof comment");
    EXPECT_TRUE(text.starts_with("# two lines\n# of comment\nformat = 1\n"));
    EXPECT_EQ(parse_cost_file(text, "f"), table);
    EXPECT_EQ(hash_of(parse_cost_file(text, "f")), hash_of(table));
}

TEST(CostFile, TakesBlanksCommentsAndLinesOfWindows) {
    const auto table = parse_cost_file("\r\n  # x\r\n\tformat=1\r\n gpu.l4.start_seconds   =\t5e-1\r\n", "f");
    EXPECT_EQ(table, (CostTable{{{"gpu.l4.start_seconds", 0.5}}}));
    EXPECT_EQ(parse_cost_file("format = 1", "f"), CostTable{});
}

std::string refusal(const std::string& text) {
    try {
        parse_cost_file(text, "costs.toml");
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST(CostFile, NamesFileLineAndRemedy) {
    const std::string start = "# comment\nformat = 1\n";
    const std::vector<std::pair<std::string, std::string>> broken{
        {"", "costs.toml:1: the line 'format = 1' is missing"},
        {"# only\n\n", "costs.toml:2: the line 'format = 1' is missing"},
        {"format = 2\n", "costs.toml:1: its format is 2, this version of Farfield reads 1"},
        {"direct.cpu.fixed_seconds = 1\n", "costs.toml:1: 'direct.cpu.fixed_seconds' stands before the line"},
        {start + "what is this", "costs.toml:3: 'what is this' is not 'name = value'"},
        {start + "format = 1", "costs.toml:3: 'format' is not known"},
        {start + "direct.cpu.fixed_second = 1",
         "costs.toml:3: 'direct.cpu.fixed_second' is not known, did you mean 'direct.cpu.fixed_seconds'?"},
        {start + "gpu.H200.start_seconds = 1", "costs.toml:3: 'H200' is no model of a GPU"},
        {start + "gpu..start_seconds = 1", "costs.toml:3: '' is no model of a GPU"},
        {start + "gpu.h200", "is not 'name = value'"},
        {start + "gpu.h200 = 1", "costs.toml:3: 'gpu.h200' is not known"},
        {start + "gpu.l4.start_seconds = 1\n\ngpu.l4.start_seconds = 1\n",
         "costs.toml:5: 'gpu.l4.start_seconds' is there twice"},
        {start + std::string("\0\xff\x1b[31m", 7), "costs.toml:3: '???[31m' is not"},
        {start + std::string(100000, 'x'), "costs.toml:3: 'xxxx"},
        {start + "gpu." + std::string(100000, 'x') + ".start_seconds = 0", "is not allowed"},
    };
    for (const auto& [text, expected] : broken) {
        const auto message = refusal(text);
        EXPECT_NE(message.find(expected), std::string::npos) << message;
        EXPECT_NE(message.find("; run `farfield tune` to write the file anew, or delete it"),
                  std::string::npos);
        EXPECT_EQ(message.find('\n'), std::string::npos);
        EXPECT_LT(message.size(), 600U);
    }
}

TEST(CostFile, TakesNoValueButFiniteOnesAboveZero) {
    for (const auto* value :
         {"0", "-1", "nan", "inf", "-inf", "1e999", "", "1 2", "1,5", "0x10", "fast", "1e", "+1"}) {
        const auto message = refusal(std::string("format = 1\ngpu.l4.start_seconds = ") + value);
        EXPECT_NE(message.find("costs.toml:2: gpu.l4.start_seconds = "), std::string::npos) << message;
        EXPECT_NE(message.find("it must be a finite number above 0"), std::string::npos) << message;
    }
}

class CostFolder : public testing::Test {
protected:
    CostFolder() {
        std::string name = (fs::temp_directory_path() / "farfield_costs_XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
    }
    ~CostFolder() override { fs::remove_all(folder_); }
    [[nodiscard]] fs::path write(const fs::path& name, const std::string& text) const {
        fs::create_directories((folder_ / name).parent_path());
        std::ofstream(folder_ / name) << text;
        return folder_ / name;
    }
    fs::path folder_;
};

TEST_F(CostFolder, TheUsersFileIsLaidOverTheShippedTable) {
    const auto path = write("farfield/cost_table.toml", "format = 1\ngpu.generic.start_seconds = 3\n");
    const Variable none("FARFIELD_COST_TABLE", "");
    const Variable config("XDG_CONFIG_HOME", folder_.string());
    EXPECT_EQ(user_cost_file(), path);
    const auto in_use = load_cost_table();
    EXPECT_EQ(in_use.file, path);
    EXPECT_EQ(in_use.table, overlaid(shipped_cost_table(), {{{"gpu.generic.start_seconds", 3.0}}}));
    EXPECT_EQ(in_use.hash, hash_of(in_use.table));
    EXPECT_NE(in_use.hash, hash_of(shipped_cost_table()));
}

TEST_F(CostFolder, WithoutAFileTheShippedTableCounts) {
    const Variable none("FARFIELD_COST_TABLE", "");
    {
        const Variable config("XDG_CONFIG_HOME", (folder_ / "absent").string());
        EXPECT_EQ(load_cost_table().table, shipped_cost_table());
        EXPECT_TRUE(load_cost_table().file.empty());
    }
    const Variable config("XDG_CONFIG_HOME", "");
    const Variable home("HOME", folder_.string());
    EXPECT_EQ(user_cost_file(), folder_ / ".config/farfield/cost_table.toml");
    const Variable nowhere("HOME", "");
    EXPECT_TRUE(user_cost_file().empty());
    EXPECT_EQ(load_cost_table().hash, hash_of(shipped_cost_table()));
}

TEST_F(CostFolder, TheVariableComesFirstAndMustNameAFile) {
    const auto path = write("mine", "format = 1\n");
    const Variable config("XDG_CONFIG_HOME", folder_.string());
    {
        const Variable mine("FARFIELD_COST_TABLE", path.string());
        EXPECT_EQ(load_cost_table().file, path);
        EXPECT_EQ(load_cost_table().hash, hash_of(shipped_cost_table()));
    }
    const Variable absent("FARFIELD_COST_TABLE", (folder_ / "absent").string());
    EXPECT_THROW(load_cost_table(), InvalidArgument);
}

TEST_F(CostFolder, WhatIsNoReadableFileIsAnIoError) {
    EXPECT_THROW(read_cost_file(folder_), IoError);
    EXPECT_THROW(read_cost_file(folder_ / "absent"), IoError);
    EXPECT_THROW(read_cost_file(write("large", std::string((1U << 20U) + 1, '#'))), IoError);
    const auto path = write("secret", "format = 1\n");
    fs::permissions(path, fs::perms::none);
    if (::geteuid() != 0) {
        EXPECT_THROW(read_cost_file(path), IoError);
    }
    EXPECT_THROW(read_cost_file(write("broken", "format = one\n")), InvalidArgument);
}

// Loaded once: a file that changes while a process computes does not change its choices.
TEST_F(CostFolder, AProcessKeepsItsTable) {
    const auto before = cost_table_in_use().hash;
    const auto path = write("mine", "format = 1\ngpu.generic.start_seconds = 3\n");
    const Variable mine("FARFIELD_COST_TABLE", path.string());
    EXPECT_EQ(cost_table_in_use().hash, before);
}

} // namespace
} // namespace farfield
