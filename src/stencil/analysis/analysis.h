// What is known of a program before any of its code runs: every condition as a set of cells, and proofs that
// all reads have a value.
#pragma once

#include "lang/diagnostics.h"
#include "stencil/front_end/model/model.h"
#include "stencil/ir/ir.h"
#include "stencil/lowering/domains.h"

#include <cstdint>
#include <filesystem>
#include <functional>

namespace farfield::stencil {

struct AnalysisOptions {
    std::filesystem::path folder; ///< of the program: relative names of image and data files start there
    std::int64_t memory = 0;      ///< bytes that a program may need; 0: what this machine has
    std::function<void(double)>
        progress; ///< told which share of a condition's rows was looked at, on any thread
};

/// Refuses grids that the memory of this machine cannot hold, before anything of their size is made. False
/// after reporting.
bool check_memory(const Model& model, const AnalysisOptions& options, lang::Diagnostics& diagnostics);

/// Bytes of the machine's memory that fields, coefficients and plain sets leave.
double memory_left(const Model& model, const AnalysisOptions& options);

/// Reads the files and finds the sets, which must fit into what memory is left; the model has no errors.
/// After reporting an error the domains are not complete.
Domains find_domains(const Model& model, const AnalysisOptions& options, lang::Diagnostics& diagnostics);

/// Every read of every update, source and record is inside its field in each cell, or the field says what
/// lies beyond; otherwise a diagnostic with the equation, the first such cell and what to write.
void prove_accesses(const Model& model, const Domains& domains, lang::Diagnostics& diagnostics);

/// Where an update or source writes a field in place and reads its neighbours, no cell that is read is one
/// that is written, but for the cell at hand; otherwise a diagnostic with the first cell that reads such a
/// neighbour. The reads must be inside (prove_accesses).
void prove_updates_in_place(const Model& model, const Domains& domains, lang::Diagnostics& diagnostics);

/// Cells that two cases of a coefficient claim, or none.
void check_coefficients(const Model& model, const Domains& domains, lang::Diagnostics& diagnostics);

/// Subdomains, updates, sources and records without a cell: warnings, errors for records that then have no
/// value.
void check_empty(const Model& model, const Domains& domains, lang::Diagnostics& diagnostics);

/// Whole numbers that some cell divides by 0, or that leave 64 bits within 10⁹ steps. What only a condition
/// on real numbers or on the step reaches is not refused: there, x // 0 and x % 0 are 0, and numbers wrap
/// around.
void check_whole_numbers(const ir::Program& program, const Model& model, lang::Diagnostics& diagnostics);

/// Memory, domains, accesses, updates in place, coefficients, emptiness: those of the checks that need no
/// code, in this order.
Domains analyse(const Model& model, const AnalysisOptions& options, lang::Diagnostics& diagnostics);

} // namespace farfield::stencil
