// What tells one pair interaction from another: a row a kernel, with all that methods, files and reports ask
// of it. Nothing outside this folder spells a formula, its sign or how it scales.
#pragma once

#include "sums/kernels/exact.h"

#include <farfield/sum_options.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace farfield {

/// What happens to a kernel when all lengths are multiplied by s > 0.
enum class Scaling : std::uint8_t {
    power,         ///< every output is multiplied by a power of s: its `length_power`
    power_and_log, ///< the potential also gets −ln s times `sign` times the sum of strengths without the
                   ///< point's own; a core size is multiplied, too
    own_lengths,   ///< nothing, if the kernel's own lengths (such as σ) are multiplied too
    none           ///< no law
};

/// The expansion that represents the kernel far from its sources.
enum class FarField : std::uint8_t { none, harmonic_3d, harmonic_2d, hermite, interpolation };

/// How errors of its outputs are judged.
enum class Norm : std::uint8_t { l2, largest };

/// The formula that the direct sum's loops know the kernel by; `none` where they do not.
enum class PairLoop : std::uint8_t { none, inverse_distance, logarithm, vortex, gauss };

/// What one source carries.
struct StrengthInfo {
    std::string_view name;            ///< "mass"
    std::string_view column;          ///< its name in tables: "m"; of complex ones that of the real part
    std::string_view second_column{}; ///< of complex ones that of the imaginary part
    int columns = 1;                  ///< numbers a source: 2 for complex ones
};

/// What an output is at a target.
enum class OutputShape : std::uint8_t {
    value,  ///< one number a column of the strength
    vector, ///< one number a dimension
    matrix  ///< a symmetric one: xx, xy, xz, yy, yz, zz
};

struct OutputInfo {
    Output output = Output::potential;
    OutputShape shape = OutputShape::value;
    int length_power = 0;       ///< with `Scaling::power`: multiplied by s^length_power
    bool only_if_asked = false; ///< not computed where no output is named
};

struct KernelInfo {
    Kernel value;
    std::string_view name;
    std::string_view text; ///< one line for help and docs
    int least_dimension, most_dimension;
    StrengthInfo strength;
    std::span<const OutputInfo> outputs;
    Scaling scaling;
    bool acts_on_itself;    ///< a point's own strength counts, times `value_on_itself`
    double value_on_itself; ///< of the potential
    bool softens;           ///< r² becomes r² + ε² (Plummer)
    bool has_sigma;         ///< takes σ
    bool needs_sigma;       ///< cannot do without; otherwise σ = 0 stands for points
    bool has_dipoles;       ///< sources may have dipoles, beside their strengths
    bool singular;          ///< not finite where two points meet and nothing softens, nor a core of size σ
    bool field_is_turned = false; ///< (∂φ/∂y, −∂φ/∂x) where others have −∇φ
    FarField far_field;
    Norm norm;
    PairLoop loop;
    double sign; ///< of what the loops sum up; with `power_and_log` they sum up −Σ q ln r
    ExactSum<double> exact;
    ExactSum<long double> exact_long;

    [[nodiscard]] const OutputInfo* find(Output output) const {
        for (const auto& info : outputs)
            if (info.output == output) return &info;
        return nullptr;
    }
    [[nodiscard]] OutputSet output_set() const {
        OutputSet set;
        for (const auto& info : outputs) set |= info.output;
        return set;
    }
    /// Those that are computed where none is named.
    [[nodiscard]] OutputSet usual_outputs() const {
        OutputSet set;
        for (const auto& info : outputs)
            if (!info.only_if_asked) set |= info.output;
        return set;
    }
    /// Gives the force on bodies in space: simulations take it.
    [[nodiscard]] bool moves_bodies() const {
        return least_dimension <= 3 && most_dimension >= 3 && find(Output::field) != nullptr;
    }
    /// Gives the velocity of vortices in the plane: simulations take it, too.
    [[nodiscard]] bool moves_vortices() const { return field_is_turned; }
    /// A result in the caller's units is that of the loops, whose lengths are the caller's times 2^`lengths`
    /// and strengths the caller's times 2^`strengths`, times 2 to this power. @pre `Scaling::power`.
    [[nodiscard]] int result_exponent(Output output, int lengths, int strengths) const {
        return -find(output)->length_power * lengths - strengths;
    }
    /// Numbers a target of an output.
    [[nodiscard]] int width(const OutputInfo& info, int dimension) const {
        if (info.shape == OutputShape::matrix) return dimension * (dimension + 1) / 2;
        return info.shape == OutputShape::vector ? dimension : strength.columns;
    }
    /// Numbers a target of all outputs together.
    [[nodiscard]] int width(int dimension) const {
        int sum = 0;
        for (const auto& info : outputs) sum += width(info, dimension);
        return sum;
    }
};

const KernelInfo& gravity_kernel();
const KernelInfo& coulomb_kernel();
const KernelInfo& laplace2d_kernel();
const KernelInfo& gauss_kernel();
const KernelInfo& vortex2d_kernel();

/// All of them, in the order of the enum's values.
std::span<const KernelInfo* const> kernels();
const KernelInfo& kernel_info(Kernel kernel);

} // namespace farfield
