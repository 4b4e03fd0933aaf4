// Where things apply: every condition of a program as a set of cells, found once, before any code exists.
#pragma once

#include "lang/diagnostics.h"
#include "stencil/analysis/files.h"
#include "stencil/compiler.h"
#include "stencil/front_end/model/model.h"
#include "stencil/ir/cell_set.h"

#include <memory>
#include <vector>

namespace farfield::stencil {

using CellSetPtr = std::shared_ptr<const ir::CellSet>;

/// Each list is in the order of the model's table. Equal conditions may share a set. No pointer is null.
struct Domains {
    std::vector<CellSetPtr> subdomains;
    std::vector<CellSetPtr> updates;
    std::vector<CellSetPtr> sources;
    std::vector<CellSetPtr> records;
    /// For each coefficient the cells of each case; those of `elsewhere` are what the others leave.
    std::vector<std::vector<CellSetPtr>> coefficients;
    DataFiles files;
};

/// Refuses grids that the memory of this machine cannot hold, before anything of their size is made. False
/// after reporting.
bool check_memory(const Model& model, const CompileOptions& options, lang::Diagnostics& diagnostics);

/// Bytes of the machine's memory that fields, coefficients and plain sets leave.
double memory_left(const Model& model, const CompileOptions& options);

/// Reads the files and finds the sets, which must fit into what memory is left; the model has no errors.
/// After reporting an error the domains are not complete.
Domains find_domains(const Model& model, const CompileOptions& options, lang::Diagnostics& diagnostics);

/// Every read of every update, source and record is inside its field in each cell, or the field says what
/// lies beyond; otherwise a diagnostic with the equation, the first such cell and what to write.
void prove_accesses(const Model& model, const Domains& domains, lang::Diagnostics& diagnostics);

/// Cells that two cases of a coefficient claim, or none.
void check_coefficients(const Model& model, const Domains& domains, lang::Diagnostics& diagnostics);

/// Subdomains, updates, sources and records without a cell: warnings, errors for records that then have no
/// value.
void check_empty(const Model& model, const Domains& domains, lang::Diagnostics& diagnostics);

/// The checks above in their order: memory, domains, accesses, coefficients, emptiness.
Domains analyse(const Model& model, const CompileOptions& options, lang::Diagnostics& diagnostics);

} // namespace farfield::stencil
