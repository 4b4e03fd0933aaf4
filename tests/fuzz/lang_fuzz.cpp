// Any text as a stencil program: messages or a model, and what was read prints and reads back the same.
#include "stencil/front_end.h"
#include "stencil/printer.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using namespace farfield::stencil;

void require(bool condition) {
    if (!condition) std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const FrontEnd program("fuzz.ff", {reinterpret_cast<const char*>(data), size});
    for (const auto stage : {Stage::lex, Stage::parse}) (void)program.explain(stage);
    require(to_text(program.diagnostics()).empty() ==
            (program.diagnostics().errors() + program.diagnostics().warnings() == 0));
    require(!to_json(program.diagnostics()).empty());
    if (!program.good()) return 0;
    (void)program.explain(Stage::names);
    const auto text = to_text(program.model().program);
    const FrontEnd again("again.ff", text);
    require(again.good() && to_text(again.model().program) == text);
    return 0;
}
