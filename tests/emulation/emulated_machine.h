// A GPU for tests: kernels compiled for the CPU, memory with guards around it.
#pragma once

#include "backend/jit/system_compiler.h"
#include "emulation/cuda_on_cpu.h"
#include "stencil/runtime/cuda/machine.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace farfield::testing {

using Emulate = void(void (*)(const std::uint64_t*), const std::uint64_t*, long long, int, int, int, int,
                     std::uint64_t);

/// Kernels of several plans, compiled together because a compiler takes its time to start.
class EmulatedCode {
public:
    explicit EmulatedCode(const std::vector<stencil::codegen::cuda::Plan>& plans) {
        std::string source = cuda_on_cpu;
        for (const auto& plan : plans) {
            const auto [place, is_new] =
                spaces_.emplace(plan.source, "plan_" + std::to_string(spaces_.size()));
            if (!is_new) continue;
            source += "namespace " + place->second + " {\n" + without_linkage(plan.source) + "}\n";
            for (const auto& function : functions_of(plan))
                source += "extern \"C\" void " + place->second + "_" + function +
                          "(const uint64_t* values) { emulator::call(" + place->second + "::" + function +
                          ", values); }\n";
        }
        const char* level = plans.size() > 1 ? "-O0" : "-O1";
        object_ = jit::compile_shared_object(source, {"-std=c++17", level, "-ffp-contract=off", "-fPIC", "-w",
                                                      "-fsanitize=thread", "-nodefaultlibs"})
                      .object;
        emulate = object_->function<Emulate>("emulate");
        count_races = object_->function<std::uint64_t()>("count_races");
    }

    Emulate* emulate = nullptr;
    std::uint64_t (*count_races)() = nullptr; ///< in shared memory, so far
    void (*find(const std::string& source, const std::string& function) const)(const std::uint64_t*) {
        return object_->function<void(const std::uint64_t*)>(spaces_.at(source) + "_" + function);
    }

private:
    // Within a namespace: each plan has a function `tiles_0`, and all share the memory of the one block that
    // runs.
    static std::string without_linkage(std::string text) {
        const auto replace = [&](const std::string& what, const std::string& with) {
            for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
                text.replace(at, what.size(), with);
        };
        replace("extern \"C\" ", "");
        replace("extern __shared__ double shared[];", "double* const shared = ::shared;");
        return text;
    }
    static std::set<std::string> functions_of(const stencil::codegen::cuda::Plan& plan) {
        std::set<std::string> names;
        for (const auto& pass : plan.passes)
            for (const auto& launch : pass.launches) names.insert(launch.function);
        for (const auto& record : plan.records)
            for (const auto& launch : record.launches) names.insert(launch.function);
        return names;
    }

    std::map<std::string, std::string> spaces_;
    std::shared_ptr<const jit::SharedObject> object_;
};

class EmulatedMachine : public stencil::cuda::Machine {
public:
    /// @param seed of the order in which threads run. @param code that has the plan's kernels; null: compiled
    /// alone.
    explicit EmulatedMachine(std::uint64_t seed = 1, std::shared_ptr<const EmulatedCode> code = nullptr)
        : seed_(seed), code_(std::move(code)) {}
    ~EmulatedMachine() override { check_guards(); }

    double load(const stencil::codegen::cuda::Plan& plan) override {
        if (code_ == nullptr) code_ = std::make_shared<const EmulatedCode>(std::vector{plan});
        source_ = plan.source;
        return 0;
    }
    std::string description() const override { return "emulated"; }
    void* allocate(std::size_t bytes) override {
        memory_.push_back({std::vector<char>(bytes + 2 * guard, pattern), bytes});
        return memory_.back().content.data() + guard;
    }
    void clear(void* memory, std::size_t bytes) override { std::memset(memory, 0, bytes); }
    void upload(void* to, const void* from, std::size_t bytes) override {
        if (bytes > 0) std::memcpy(to, from, bytes);
    }
    void download(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
    using Rows = stencil::cuda::PitchedRows;
    void upload_rows(void* to, const void* from, const Rows& rows) override {
        copy_rows(to, rows.pitch, from, rows.width, rows);
    }
    void download_rows(void* to, const void* from, const Rows& rows) override {
        copy_rows(to, rows.width, from, rows.pitch, rows);
    }
    void copy(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
    /// Threads that play ranks read each other's memory where it is.
    std::vector<std::byte> handle_of(void* memory) override {
        if (!is_shared) return {};
        const auto bytes = std::as_bytes(std::span(&memory, 1));
        return {bytes.begin(), bytes.end()};
    }
    void* open(std::span<const std::byte> handle) override {
        void* memory = nullptr;
        std::memcpy(&memory, handle.data(), sizeof memory);
        return memory;
    }
    void close(void*) noexcept override {}
    void run(const std::vector<stencil::cuda::BoundLaunch>& launches, bool) override {
        for (const auto& bound : launches) {
            const auto& launch = *bound.launch;
            const std::lock_guard lock(one_at_a_time()); // machines of threads that play ranks
            const auto races = code_->count_races();
            code_->emulate(code_->find(source_, launch.function), bound.values.data(), launch.blocks,
                           launch.threads[0], launch.threads[1], launch.threads[2], launch.shared_bytes,
                           seed_++);
            if (code_->count_races() != races)
                ADD_FAILURE() << launch.function << ": " << code_->count_races() - races
                              << " races in shared memory";
        }
    }
    void synchronize() override { check_guards(); }
    bool is_shared = false;

private:
    static void copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                          const Rows& rows) {
        for (std::size_t row = 0; row < static_cast<std::size_t>(rows.count); ++row)
            std::memcpy(static_cast<char*>(to) + row * to_pitch,
                        static_cast<const char*>(from) + row * from_pitch, rows.width);
    }
    static std::mutex& one_at_a_time() {
        static std::mutex mutex;
        return mutex;
    }
    static constexpr std::size_t guard = 4096;
    static constexpr char pattern = '\xff'; // read as a number it is NaN
    struct Memory {
        std::vector<char> content;
        std::size_t bytes;
    };
    void check_guards() const {
        for (const auto& memory : memory_)
            for (std::size_t i = 0; i < guard; ++i)
                if (memory.content[i] != pattern || memory.content[guard + memory.bytes + i] != pattern) {
                    ADD_FAILURE() << "a kernel wrote outside its memory";
                    return;
                }
    }
    std::uint64_t seed_;
    std::shared_ptr<const EmulatedCode> code_;
    std::string source_;
    std::vector<Memory> memory_;
};

} // namespace farfield::testing
