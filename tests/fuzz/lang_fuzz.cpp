// Any text as a stencil program: messages or a model; what was read prints and reads back the same; and small
// programs without mistakes compile, and give the same bits with and without passes.
#include "stencil/compiler.h"
#include "stencil/front_end/front_end.h"
#include "stencil/front_end/syntax/printer.h"
#include "stencil/targets.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace farfield::stencil;

void require(bool condition) {
    if (!condition) std::abort();
}

// The fields after two steps.
std::vector<double> results(const Model& model, std::shared_ptr<const ir::Program> program) {
    std::vector<double> all;
    const auto executor = make_executor("interpreter", std::move(program), {});
    executor->advance(2);
    for (std::size_t f = 0; f < model.fields.size(); ++f) {
        const auto& shape = executor->program().grids[static_cast<std::size_t>(model.fields[f].grid)].shape;
        std::vector<double> values(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
        executor->read(static_cast<int>(f), values);
        all.insert(all.end(), values.begin(), values.end());
    }
    return all;
}

void compile_and_run(FrontEnd& program) {
    CompileOptions options;
    options.memory = std::int64_t{1} << 18;
    options.folder = "/nowhere";
    options.optimise = false;
    auto plain = compile(program.model(), options, program.diagnostics());
    require((plain == nullptr) == program.diagnostics().has_errors());
    if (!plain) return;
    options.optimise = true;
    auto optimised = compile(program.model(), options, program.diagnostics());
    require(optimised != nullptr);
    const auto expected = results(program.model(), std::move(plain));
    const auto found = results(program.model(), std::move(optimised));
    require(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
        require(std::bit_cast<std::uint64_t>(found[i]) == std::bit_cast<std::uint64_t>(expected[i]) ||
                (std::isnan(found[i]) && std::isnan(expected[i])));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FrontEnd program("fuzz.ff", {reinterpret_cast<const char*>(data), size});
    for (const auto stage : {Stage::lex, Stage::parse}) (void)program.explain(stage);
    require(to_text(program.diagnostics()).empty() ==
            (program.diagnostics().errors() + program.diagnostics().warnings() == 0));
    require(!to_json(program.diagnostics()).empty());
    if (!program.good()) return 0;
    (void)program.explain(Stage::names);
    const auto text = to_text(program.model().program);
    const FrontEnd again("again.ff", text);
    require(again.good() && to_text(again.model().program) == text);
    compile_and_run(program);
    return 0;
}
