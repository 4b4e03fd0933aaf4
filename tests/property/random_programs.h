// Random programs as the tests of properties take them: chosen by environment variables, compiled.
#pragma once

#include "property/stencil_generator.h"
#include "stencil/compiler.h"
#include "stencil/front_end/front_end.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

namespace farfield::testing {

/// The number that an environment variable holds.
inline std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Null if the program has mistakes; `messages` has them.
inline std::shared_ptr<const stencil::ir::Program>
compiled_random(const std::string& text, bool optimise = true, std::string* messages = nullptr) {
    stencil::FrontEnd front("random.ff", text);
    stencil::CompileOptions options;
    options.optimise = optimise;
    options.allow_unstable = true;
    options.check_whole_numbers = false; // they divide by 0 at random
    auto program = front.good() ? stencil::compile(front.model(), options, front.diagnostics()) : nullptr;
    if (messages != nullptr) *messages = to_text(front.diagnostics());
    return program;
}

/// The program of a seed, and its text; null if the generator made a mistake.
inline std::shared_ptr<const stencil::ir::Program> random_program(std::uint64_t seed, std::string& text) {
    text = program_of({random_world(seed, "")});
    return compiled_random(text);
}

} // namespace farfield::testing
