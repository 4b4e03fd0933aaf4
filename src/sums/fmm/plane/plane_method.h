// Sums in the plane by the fast multipole method, as the method's row of the table takes them.
#pragma once

#include "sums/method/method.h"

#include <memory>
#include <string>
#include <string_view>

namespace farfield {

/// Members of MethodInfo, for kernels with FarField::harmonic_2d.
std::string why_no_plane_fmm(const SumProblem& problem, const SumOptions& options,
                             const DeviceChoice& device);
/// @param held  the part of all points that a rank holds
double plane_fmm_bytes(const SumProblem& problem, const SumOptions& options, double held);
std::unique_ptr<PreparedSum> make_plane_fmm(const SumProblem& problem, const SumOptions& options,
                                            const DeviceChoice& device);
double plane_fmm_seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
                         const CostTable& table);
void settle_plane_fmm(const SumProblem& problem, SumOptions& options, const CostTable& table);
bool sharpen_plane_fmm(const SumProblem& problem, SumOptions& options, double error);

} // namespace farfield
