// Programs compiled and run in tests.
#pragma once

#include "stencil/compiler.h"
#include "stencil/front_end/front_end.h"
#include "stencil/targets.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace farfield::testing {

inline std::string text_of_file(const std::filesystem::path& path) {
    std::ifstream in(path);
    EXPECT_TRUE(in) << path;
    return {std::istreambuf_iterator<char>(in), {}};
}

/// A compiled program; a test fails where it has mistakes.
class Compiled {
public:
    explicit Compiled(const std::string& text, stencil::CompileOptions options = {},
                      const std::vector<stencil::ParameterValue>& parameters = {})
        : front_("test.ff", text, parameters) {
        EXPECT_TRUE(front_.good()) << to_text(front_.diagnostics());
        const lang::SourceText source("test.ff", text);
        lang::Diagnostics diagnostics(source);
        if (front_.good()) program_ = stencil::compile(front_.model(), options, diagnostics);
        EXPECT_NE(program_, nullptr) << to_text(diagnostics);
    }

    const stencil::Model& model() const { return front_.model(); }
    const std::shared_ptr<const stencil::ir::Program>& program() const { return program_; }
    std::unique_ptr<stencil::Executor> start(std::string_view target = "interpreter",
                                             const stencil::ExecutorOptions& options = {}) const {
        return stencil::make_executor(target, program_, options);
    }

private:
    stencil::FrontEnd front_;
    std::shared_ptr<const stencil::ir::Program> program_;
};

inline int field_of(const stencil::ir::Program& program, std::string_view name) {
    for (std::size_t i = 0; i < program.buffers.size(); ++i)
        if (program.buffers[i].name == name) return static_cast<int>(i);
    ADD_FAILURE() << "no field " << name;
    return 0;
}

inline std::vector<double> values_of(stencil::Executor& executor, std::string_view name) {
    const int field = field_of(executor.program(), name);
    const auto& shape =
        executor.program()
            .grids[static_cast<std::size_t>(executor.program().buffers[static_cast<std::size_t>(field)].grid)]
            .shape;
    std::vector<double> out(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
    executor.read(field, out);
    return out;
}

inline std::vector<double> series_of(stencil::Executor& executor, std::string_view name) {
    for (std::size_t i = 0; i < executor.program().records.size(); ++i)
        if (executor.program().records[i].name == name) return executor.take_series(static_cast<int>(i));
    ADD_FAILURE() << "no record " << name;
    return {};
}

} // namespace farfield::testing
