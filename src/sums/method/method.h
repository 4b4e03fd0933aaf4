// What a method of summing is: a row of a table, and the prepared sum that it makes. Everything that names
// methods (command line, case files, Python, docs) reads the table; sums/README.md tells how to add one.
#pragma once

#include "sums/costs/cost_table.h"
#include "sums/method/jerk_task.h"
#include "sums/method/problem.h"
#include "sums/points/homes.h"
#include "sums/points/prepared.h"

#include <farfield/sum.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace farfield {

/// Rows of ranks that have come together in the memory of this rank's GPU: contiguous doubles, all finite,
/// which stay there until others come.
struct WholeRows {
    std::array<Extent, 3> ranges{}; ///< of all points
    /// Of the targets those whose results this rank wants; outputs have so many rows.
    std::int64_t first = 0, count = 0;
};

/// A sum over points that are known, for strengths still to come.
class PreparedSum {
public:
    PreparedSum() = default;
    PreparedSum(const PreparedSum&) = delete;
    PreparedSum& operator=(const PreparedSum&) = delete;
    virtual ~PreparedSum() = default;

    /// Reads checked views (base/arrays.h) of the sources and, if they are not the sources, the targets.
    /// @throws InvalidArgument naming a row that is not finite, or for memory of another device; DeviceError.
    virtual void set_points(const ConstArrayView& sources, const ConstArrayView& targets) = 0;

    /// For one vector of strengths, or several if the method's row says so (vectors.h).
    /// Writes the outputs that are present, all of them checked views; returns when they are written. Fills
    /// what it knows of the report: seconds, device, ISA, threads, its own part.
    /// @throws InvalidArgument for strengths that are not finite or coincident points, Interrupted,
    ///         DeviceError.
    virtual void execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                         SumReport& report) = 0;

    /// The same for sources that have dipoles (N×3), too. Never called where kernel or device has none.
    virtual void execute_with_dipoles(const ConstArrayView& strengths, const ConstArrayView& dipoles,
                                      const SumOutputs& outputs, const SumHooks& hooks, SumReport& report);

    /// Before `set_points`, where ranks have rows of their own on GPUs.
    virtual void expect_whole_rows(const WholeRows& rows);

    /// Before `set_points`, where ranks give sources of their own: a number of each of this rank's, different
    /// ones on all ranks. Results then do not depend on who gives which.
    virtual void number_sources(std::span<const std::int64_t> /*numbers*/) {}
    /// Of sources that ranks give of their own.
    [[nodiscard]] virtual Homes homes() const { return {}; }

    /// The last execution was off by the relative error `error`, more than the tolerance: prepares to compute
    /// more accurately. False if the method cannot; then that is the answer.
    virtual bool refine(double /*error*/) { return false; }
};

/// A row of the table.
struct MethodInfo {
    Method value;
    std::string_view name;
    std::string_view text; ///< one line for help and docs
    bool on_gpu;           ///< runs on GPUs, too
    bool resident;         ///< feeds simulations that live on GPUs
    /// Executes for several vectors of strengths of the kernel at once (vectors.h). Null: of none.
    bool (*many_vectors)(const KernelInfo& kernel);
    bool (*computes)(const KernelInfo& kernel); ///< in open space, whatever else is asked
    /// Field and jerk of bodies on each other, always in double; null if the method has none.
    void (*field_and_jerk)(const JerkTask& task);
    /// Empty, or why this problem cannot be computed on that device (never `automatic`), with the remedy.
    std::string (*why_not)(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device);
    /// Seconds that the table lets expect for all executions, with the start of the device, on the GPU of
    /// that name or, if it is empty, on the CPU. A pure function.
    double (*seconds)(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
                      const CostTable& table);
    /// Memory that it takes on each of the device's memories, beside the caller's arrays, at most.
    double (*bytes)(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device);
    /// @throws InvalidArgument for options of the method that do not apply, BackendUnavailable, DeviceError.
    std::unique_ptr<PreparedSum> (*make)(const SumProblem& problem, const SumOptions& options,
                                         const DeviceChoice& device);
    /// Writes what the tolerance and the cost table would decide into the options, for a sum on their device
    /// (`automatic`: the CPU), so that plans made of them later compute the same bits, whatever the table is
    /// then. Null: they decide nothing.
    void (*settle)(const SumProblem& problem, SumOptions& options, const CostTable& table) = nullptr;
    /// Of settled options: goes on to those that may bring `error` down to the tolerance; false where there
    /// are none. Null: there never are.
    bool (*sharpen)(const SumProblem& problem, SumOptions& options, double error) = nullptr;
    /// Needs less than a time for each pair, at the price of an error that a tolerance or an order names.
    bool approximates = false;
    bool whole_on_gpu = false; ///< on GPUs, dipoles and output 'hessian', too
    bool periodic = false;     ///< sums periodic boxes, and nothing else
    bool open_axes = false;    ///< sums boxes that are periodic along one to three axes, beside open space
    /// On CPUs it sums this box about as fast as open space: Method::automatic thinks of it. Null: no box.
    bool (*fast_in_box)(const SumProblem& problem) = nullptr;
    /// Ranks share the work where this is true, each giving all points. Null: they never do.
    bool (*divides)(const SumProblem& problem, const DeviceChoice& device) = nullptr;
    /// Moreover each rank may give points of its own: on GPUs these come together there
    /// (direct/cuda/several/own_rows.h). Where it is false, or null, all points come to all ranks first.
    bool (*takes_own_points)(const SumProblem& problem, const SumOptions& options,
                             const DeviceChoice& device) = nullptr;
};

/// Ranks divide the sum: by the method itself, or by its targets (target_share.h).
bool divides_itself(const MethodInfo& method, const SumProblem& problem, const DeviceChoice& device);
bool is_divided(const MethodInfo& method, const SumProblem& problem, const DeviceChoice& device);

/// Empty, or why this problem cannot be computed on that device and these ranks, with the remedy.
std::string why_not(const MethodInfo& method, const SumProblem& problem, const SumOptions& options,
                    const DeviceChoice& device);

/// All methods, in the order of the enum's values.
std::span<const MethodInfo* const> methods();
const MethodInfo& method_info(Method method);
/// The first that `fits`, or the first of all where none does.
template <class Fits>
const MethodInfo& first_method(const Fits& fits) {
    const auto all = methods();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto* method) { return fits(*method); });
    return found != all.end() ? **found : *all.front();
}

/// What Method::automatic has to choose between where sums run on the CPU.
struct CandidateMethods {
    const MethodInfo* usual;        ///< the first that fits
    const MethodInfo* fast;         ///< the first that approximates, fits and was given an accuracy, or null;
                                    ///< of boxes the faster one of two on one thread of a CPU
    std::string_view why_none = {}; ///< no fast one
};
CandidateMethods candidate_methods(const SumProblem& problem, const SumOptions& options);

/// It was asked for, or there is no GPU.
bool stays_on_cpu(const SumOptions& options);
/// On one thread of a CPU, by the cost table in use.
double seconds_alone(const MethodInfo& method, const SumProblem& problem, SumOptions options);

/// What to do about a tolerance that was missed, but to take a larger one: "use --precision double or"; "use"
/// where nothing else would help. `order`: as it was asked for, 0 for none.
std::string tolerance_remedy(int order, Precision precision);
/// The name of the first of them that computes the kernel.
std::string_view method_for(const KernelInfo& kernel);

} // namespace farfield
