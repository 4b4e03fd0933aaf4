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
#include <ostream>
#include <string>
#include <unistd.h>
#include <vector>

namespace farfield {

inline void PrintTo(const Case& simulation_case, std::ostream* out) { // the name GoogleTest looks for
    *out << simulation_case.name;
}

} // namespace farfield

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

/// Expansions whose order must be raised on the way: charges of both signs on a lattice, whose fields cancel,
/// and between them two of one sign that fly apart. At first these have nearly all of the norm that errors
/// are relative to. Writes the bodies to `file`.
inline Case lattice_case(const fs::path& file) {
    std::ofstream rows(file);
    rows << "x,y,z,vx,vy,vz,m,q\n";
    for (int place = 0; place < 125; ++place) {
        const int x = place % 5, y = place / 5 % 5, z = place / 25;
        rows << x << ',' << y << ',' << z << ",0,0,0,1," << ((x + y + z) % 2 == 0 ? -1 : 1) << '\n';
    }
    rows << "2.48,2.4,2.6,0,0,0,1,1\n2.52,2.4,2.6,0,0,0,1,1\n";
    Case out;
    out.name = "lattice";
    out.initial.kind = InitialKind::file;
    out.initial.path = file;
    out.force = {.kernel = Kernel::coulomb, .method = Method::fmm, .tolerance = 3e-3, .leaf = 4};
    out.time = {.step = 1.0 / 1024, .end = 0.09375};
    out.output = {.snapshot_every = 1.0 / 32,
                  .diagnostics_every = 1.0 / 128,
                  .checkpoint_every = 5.0 / 1024,
                  .pictures = false};
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
