// A GPU for tests: kernels compiled for the CPU, memory with guards around it.
#pragma once

#include "backend/jit/system_compiler.h"
#include "emulation/cuda_on_cpu.h"
#include "stencil/runtime/cuda/machine.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace farfield::testing {

class EmulatedMachine : public stencil::cuda::Machine {
public:
    explicit EmulatedMachine(std::uint64_t seed = 1) : seed_(seed) {}
    ~EmulatedMachine() override { check_guards(); }

    double load(const stencil::codegen::cuda::Plan& plan) override {
        std::string source = cuda_on_cpu + plan.source;
        for (const auto& function : functions_of(plan))
            source += "extern \"C\" void call_" + function + "(const uint64_t* values) { emulator::call(" +
                      function + ", values); }\n";
        object_ =
            jit::compile_shared_object(source, {"-std=c++17", "-O1", "-ffp-contract=off", "-fPIC", "-w"})
                .object;
        emulate_ = object_->function<Emulate>("emulate");
        return 0;
    }
    std::string description() const override { return "emulated"; }
    void* allocate(std::size_t bytes) override {
        memory_.push_back({std::vector<char>(bytes + 2 * guard, pattern), bytes});
        return memory_.back().content.data() + guard;
    }
    void upload(void* to, const void* from, std::size_t bytes) override {
        if (bytes > 0) std::memcpy(to, from, bytes);
    }
    void download(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
    void run(const std::vector<stencil::cuda::BoundLaunch>& launches, bool) override {
        for (const auto& bound : launches) {
            const auto& launch = *bound.launch;
            emulate_(object_->function<void(const std::uint64_t*)>("call_" + launch.function),
                     bound.values.data(), launch.blocks, launch.threads[0], launch.threads[1],
                     launch.threads[2], launch.shared_bytes, seed_++);
        }
    }
    void synchronize() override { check_guards(); }

    static std::vector<std::string> functions_of(const stencil::codegen::cuda::Plan& plan) {
        std::map<std::string, bool> names;
        for (const auto& pass : plan.passes)
            for (const auto& launch : pass.launches) names[launch.function] = true;
        for (const auto& record : plan.records)
            for (const auto& launch : record.launches) names[launch.function] = true;
        std::vector<std::string> list;
        for (const auto& [name, used] : names) list.push_back(name);
        return list;
    }

private:
    using Emulate = void(void (*)(const std::uint64_t*), const std::uint64_t*, long long, int, int, int, int,
                         std::uint64_t);
    static constexpr std::size_t guard = 4096;
    static constexpr char pattern = '\xff';
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
    std::vector<Memory> memory_;
    std::shared_ptr<const jit::SharedObject> object_;
    Emulate* emulate_ = nullptr;
};

} // namespace farfield::testing
