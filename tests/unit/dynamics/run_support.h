// Cases, folders and byte comparisons for the tests of run_case.
#pragma once

#include "expect_error.h"

#include <farfield/error.h>
#include <farfield/run.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

namespace farfield::test {

namespace fs = std::filesystem;

/// A folder of its own, removed at the end; in memory where the machine offers it, because these tests write
/// hundreds of small files and each is synced to the disk.
class TemporaryFolder {
public:
    TemporaryFolder() {
        const fs::path memory = "/dev/shm";
        const bool usable = ::access(memory.c_str(), W_OK | X_OK) == 0;
        auto pattern = ((usable ? memory : fs::temp_directory_path()) / "farfield-test-XXXXXX").string();
        path_ = mkdtemp(pattern.data());
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    [[nodiscard]] fs::path operator/(const char* name) const { return path_ / name; }

private:
    fs::path path_;
};

inline std::string bytes_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_bytes(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

/// Name and content of the files that must be reproduced: snapshots, pictures, diagnostics.csv.
inline std::map<std::string, std::string> results_in(const fs::path& folder) {
    std::map<std::string, std::string> out;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const auto name = entry.path().filename().string();
        if (name.ends_with(".part")) continue;
        if (name.starts_with("snapshot_") || name.starts_with("diagnostics."))
            out[name] = bytes_of(entry.path());
    }
    return out;
}

inline void expect_same_results(const fs::path& a, const fs::path& b) {
    const auto first = results_in(a);
    const auto second = results_in(b);
    ASSERT_EQ(first.size(), second.size());
    for (const auto& [name, bytes] : first) {
        ASSERT_TRUE(second.contains(name)) << name;
        EXPECT_TRUE(second.at(name) == bytes) << name << " differs";
    }
}

/// A short run of a small cluster: 64 steps, 4 snapshots after the start, 16 rows, 8 checkpoints, no
/// pictures (they take most of the time).
inline Case small_case(Integrator integrator = Integrator::leapfrog) {
    Case out;
    out.name = "small";
    out.initial.kind = InitialKind::plummer;
    out.initial.n = 48;
    out.initial.seed = 7;
    out.force.softening = 0.05;
    out.time = {.integrator = integrator, .step = 1.0 / 128, .end = 0.5};
    out.output = {
        .snapshot_every = 0.125, .diagnostics_every = 0.03125, .checkpoint_every = 0.0625, .pictures = false};
    return out;
}

/// Collects the messages of a run.
struct Messages {
    std::string text;
    [[nodiscard]] RunHooks hooks() {
        RunHooks out;
        out.message = [this](const std::string& line) { text += line + '\n'; };
        return out;
    }
};

} // namespace farfield::test
