// From a checked model to the program that targets execute: rasterising, proofs, lowering, passes.
#pragma once

#include "lang/diagnostics.h"
#include "stencil/analysis/analysis.h"
#include "stencil/front_end/model/model.h"
#include "stencil/ir/ir.h"

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace farfield::stencil {

struct CompileOptions : AnalysisOptions {
    bool optimise = true;            ///< false: as lowered, for comparisons
    bool allow_unstable = false;     ///< do not refuse growing modes found by the stability analysis
    bool check_whole_numbers = true; ///< false: x // 0 is 0 and overflow wraps around without a word
    /// Called after each pass of compiler_passes() with the program so far.
    std::function<void(std::string_view pass, const ir::Program&)> after_pass;
};

/// The passes in their order: domains, lower, fold, cse, hoist, fuse.
std::vector<std::string_view> compiler_passes();

/// Rasterises every subdomain, proves every access inside its field, lowers, and refuses steps in which short
/// waves grow without bound. Mistakes are in `diagnostics`; null where there are errors. The result does not
/// refer to the model.
std::shared_ptr<const ir::Program> compile(const Model& model, const CompileOptions& options,
                                           lang::Diagnostics& diagnostics);

} // namespace farfield::stencil
