// What sums give to Python: the outputs asked for, arrays that they are written into, and results.
#pragma once

#include "arrays.h"

#include <farfield/sum.h>

#include <nanobind/nanobind.h>

#include <array>
#include <functional>

namespace farfield::python {

/// An array an output, or None where it was not computed; by the number of the output.
using OutputObjects = std::array<nanobind::object, output_count>;

struct SumObjects {
    OutputObjects arrays;
    SumReport report;
};

/// What `execute` is asked for beside the strengths.
struct Wanted {
    OutputSet outputs; ///< empty: those of the kernel that are computed where none is named
    nanobind::object out;
};

/// Of None, "potential,field", or a sequence of names.
OutputSet outputs_from(nanobind::handle names);

/// The `out` of a caller. @throws TypeError for what is no dict.
nanobind::dict dict_from(nanobind::handle out);

/// The arrays one execution writes: the caller's where given, new ones otherwise.
struct Outputs {
    std::array<Held<ArrayView>, output_count> held;
    SumOutputs views;

    Outputs(OutputSet wanted, const nanobind::dict& out, const std::function<Shape(Output)>& shape_of,
            nanobind::handle make_array, const Memory& memory);

    [[nodiscard]] OutputObjects objects() const {
        OutputObjects arrays;
        for (std::size_t k = 0; k < arrays.size(); ++k) arrays[k] = held[k].object;
        return arrays;
    }
};

/// Of N sources at M targets, for one vector of strengths.
Shape shape_of_output(Output output, std::int64_t targets, std::int64_t dimension, int strength_columns);

/// farfield.sum with a width for each source. @param sigmas  N of them
SumObjects sum_with_sigmas(nanobind::handle points, nanobind::handle strengths, nanobind::handle targets,
                           nanobind::handle sigmas, const SumOptions& options, const Wanted& wanted);

} // namespace farfield::python
