// Exact values at sampled targets, with as many digits as judging an error takes.
#pragma once

#include "sums/select/verify.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

namespace farfield {

/// The exact values of all outputs at some targets.
using ExactRows = std::map<std::int64_t, std::vector<double>>;

/// An output that is to be compared.
struct ComparedOutput {
    Output output = Output::potential;
    std::size_t first = 0, width = 1; ///< where its numbers stand in a row
    double size = 0.0;                ///< root of the mean square over all targets; 0: not known
};

/// Fills the rows. Digits: sums in double suffice for tolerances down to 1e-10. If exact_row.h has the
/// kernel, they suffice for a smaller tolerance, too, as long as a few of the rows agree with sums in pairs
/// of doubles to a hundredth of it. Otherwise, and if there are few pairs, terms have the digits of long
/// double or more.
void compute_exact_rows(const VerifyTask& task, std::span<const ComparedOutput> compared, ExactRows& rows);

/// The same where ranks have the sources between them (`VerifyTask::ranks`): each sums over its own.
void compute_exact_rows_on_ranks(const VerifyTask& task, std::span<const ComparedOutput> compared,
                                 ExactRows& rows);

/// The same where ranks have everything and share the work (`VerifyTask::sharing`): all get all rows.
void share_exact_rows(const VerifyTask& task, std::span<const ComparedOutput> compared, ExactRows& rows);

/// Exact values of another origin, such as of a sum of several sums.
struct ExactValues {
    std::function<void(std::span<const ComparedOutput> compared, ExactRows& rows)> rows; ///< fills them
    /// Fills some more precisely, to tell whether errors of `rows` are small beside those that they judge.
    /// Empty: there is nothing to tell.
    std::function<void(ExactRows& rows)> checking = {};
    /// Where they are not, fills all with all digits.
    std::function<void(ExactRows& rows)> precise = {};
    /// What errors of an output are relative to at least, of kernels judged by their largest error.
    std::function<double(Output output)> least;
};

/// `verify` against these. Of the task the sources and strengths are not looked at, and of its problem the
/// counts, the kernel and the dimension.
std::vector<OutputError> verify_with(const VerifyTask& task, std::span<const ComputedOutput> computed,
                                     const ExactValues& exact_values);

} // namespace farfield
