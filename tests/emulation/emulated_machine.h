// A GPU for tests: kernels compiled for the CPU, and memory of which every access is checked.
#pragma once

#include "backend/jit/system_compiler.h"
#include "emulation/cuda_on_cpu.h"
#include "stencil/runtime/cuda/machine.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <stdexcept>
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
        count_strays = object_->function<std::uint64_t()>("count_strays");
        watch = object_->function<void(std::uint64_t, std::uint64_t, std::uint64_t, const void*)>("watch");
    }

    Emulate* emulate = nullptr;
    std::uint64_t (*count_races)() = nullptr;  ///< in shared memory, so far
    std::uint64_t (*count_strays)() = nullptr; ///< outside the memory that `watch` was told of, so far
    void (*watch)(std::uint64_t arena, std::uint64_t slots, std::uint64_t slot_bytes,
                  const void* parts) = nullptr;
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

/// Memory in slots that are far apart, so that what strays from one meets no other. Nothing is mapped to real
/// memory before it is touched.
class EmulatedMemory {
public:
    EmulatedMemory() : start_(mmap(nullptr, all, PROT_READ | PROT_WRITE, flags, -1, 0)) {
        if (start_ == MAP_FAILED) throw std::runtime_error("no addresses for emulated memory");
        const std::lock_guard lock(mutex());
        everyone().push_back(this);
    }
    ~EmulatedMemory() {
        const std::lock_guard lock(mutex());
        std::erase(everyone(), this);
        munmap(start_, all);
    }
    EmulatedMemory(const EmulatedMemory&) = delete;
    EmulatedMemory& operator=(const EmulatedMemory&) = delete;

    void* allocate(std::size_t bytes) {
        const std::lock_guard lock(mutex());
        if (parts_.size() == slots || bytes > slot_bytes / 2)
            throw std::runtime_error("emulated memory is full");
        auto* memory = static_cast<char*>(start_) + parts_.size() * slot_bytes + slot_bytes / 4;
        std::memset(memory, 0xff, bytes); // a NaN in either precision
        parts_.push_back({slot_bytes / 4, slot_bytes / 4 + bytes});
        return memory;
    }
    /// What kernels are to be watched by.
    void tell(const EmulatedCode& code) const {
        code.watch(reinterpret_cast<std::uintptr_t>(start_), parts_.size(), slot_bytes, parts_.data());
    }
    /// Whether all of it was allocated together, by any machine of this process.
    static bool has(const void* memory, std::size_t bytes) {
        const std::lock_guard lock(mutex());
        return std::any_of(everyone().begin(), everyone().end(), [&](const EmulatedMemory* one) {
            const auto at =
                reinterpret_cast<std::uintptr_t>(memory) - reinterpret_cast<std::uintptr_t>(one->start_);
            if (at / slot_bytes >= one->parts_.size()) return false;
            const auto& part = one->parts_[at / slot_bytes];
            return at % slot_bytes >= part.first && at % slot_bytes + bytes <= part.end;
        });
    }
    /// Of each `allocate`.
    std::vector<std::size_t> bytes() const {
        std::vector<std::size_t> out;
        for (const auto& part : parts_) out.push_back(static_cast<std::size_t>(part.end - part.first));
        return out;
    }

private:
    static constexpr std::size_t slots = 256, slot_bytes = std::size_t{1} << 25, all = slots * slot_bytes;
    static constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    struct Part {
        std::uint64_t first, end; ///< bytes from the start of the slot; as in cuda_on_cpu.h
    };
    static std::mutex& mutex() {
        static std::mutex one;
        return one;
    }
    static std::vector<const EmulatedMemory*>& everyone() {
        static std::vector<const EmulatedMemory*> all_of_process;
        return all_of_process;
    }

    void* start_;
    std::vector<Part> parts_;
};

class EmulatedMachine : public stencil::cuda::Machine {
public:
    /// @param seed of the order in which threads run. @param code that has the plan's kernels; null: compiled
    /// alone.
    explicit EmulatedMachine(std::uint64_t seed = 1, std::shared_ptr<const EmulatedCode> code = nullptr)
        : seed_(seed), code_(std::move(code)) {}

    double load(const stencil::codegen::cuda::Plan& plan) override {
        if (code_ == nullptr) code_ = std::make_shared<const EmulatedCode>(std::vector{plan});
        source_ = plan.source;
        return 0;
    }
    std::string description() const override { return "emulated"; }
    void* allocate(std::size_t bytes) override { return memory_.allocate(bytes); }
    void clear(void* memory, std::size_t bytes) override {
        if (is_good(memory, bytes)) std::memset(memory, 0, bytes);
    }
    void upload(void* to, const void* from, std::size_t bytes) override {
        if (bytes > 0 && is_good(to, bytes)) std::memcpy(to, from, bytes);
    }
    void download(void* to, const void* from, std::size_t bytes) override {
        if (is_good(from, bytes)) std::memcpy(to, from, bytes);
    }
    using Rows = stencil::cuda::PitchedRows;
    void upload_rows(void* to, const void* from, const Rows& rows) override {
        if (is_good(to, spanned(rows))) copy_rows(to, rows.pitch, from, rows.width, rows);
    }
    void download_rows(void* to, const void* from, const Rows& rows) override {
        if (is_good(from, spanned(rows))) copy_rows(to, rows.width, from, rows.pitch, rows);
    }
    void copy(void* to, const void* from, std::size_t bytes) override {
        if (is_good(to, bytes) && is_good(from, bytes)) std::memcpy(to, from, bytes);
    }
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
            memory_.tell(*code_);
            const auto races = code_->count_races(), strays = code_->count_strays();
            code_->emulate(code_->find(source_, launch.function), bound.values.data(), launch.blocks,
                           launch.threads[0], launch.threads[1], launch.threads[2], launch.shared_bytes,
                           seed_++);
            if (code_->count_races() != races)
                ADD_FAILURE() << launch.function << ": " << code_->count_races() - races
                              << " races in shared memory";
            if (code_->count_strays() != strays)
                ADD_FAILURE() << launch.function << ": " << code_->count_strays() - strays
                              << " accesses outside its memory";
        }
    }
    void synchronize() override {}
    const EmulatedMemory& memory() const { return memory_; }
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
    /// From the first byte of the first row to the last one of the last.
    static std::size_t spanned(const Rows& rows) {
        return rows.count == 0 ? 0 : static_cast<std::size_t>(rows.count - 1) * rows.pitch + rows.width;
    }
    static bool is_good(const void* memory, std::size_t bytes) {
        if (EmulatedMemory::has(memory, bytes)) return true;
        ADD_FAILURE() << "a copy of " << bytes << " bytes outside a machine's memory";
        return false;
    }
    std::uint64_t seed_;
    std::shared_ptr<const EmulatedCode> code_;
    std::string source_;
    EmulatedMemory memory_;
};

} // namespace farfield::testing
