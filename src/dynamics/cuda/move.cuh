// The kernels between two sums: kick, drift, and the points packed for the next sum. A thread takes one
// coordinate of one body; arrays of the state are N×3 in double.
#pragma once

#include "dynamics/cuda/control.cuh"
#include "sums/direct/cuda/pair.cuh"

#include <cuda_runtime_api.h>

#include <array>

namespace farfield::cuda {

/// What a kernel of one part of the bodies sees.
template <class PointType>
struct Motion {
    double *x, *v, *a;                              ///< 3·n
    const double* factor;                           ///< n, see acceleration_of
    const typename PointType::real* sums = nullptr; ///< n rows of `sum_columns`; the first three count
    int sum_columns = 4;
    PointType* points = nullptr; ///< n, its own among all; of a Move that packs
    Control* control;
    int n;
    Unscale unscale;
    double frame_scale;
    double period[3] = {}; ///< of a box that bodies are kept in; 0: open
};

/// What to do with the state; lengths in time. A step is: kick by half, drift, sum, kick by half.
struct Move {
    bool from_sums = false; ///< accelerations come from the sums, otherwise from `a`
    bool keep = false;      ///< stores accelerations in `a`
    bool ends = false;      ///< the second half kick of a step, by `end_kick`
    bool begins = false;    ///< first half kick, drift
    bool packs = false;     ///< writes the points
    bool wraps = false;     ///< brings bodies back into their box, before what begins
    double end_kick = 0.0, kick = 0.0, drift = 0.0;
};

template <class PointType>
void move(const Motion<PointType>& motion, const Move& what, cudaStream_t stream);

/// The images in a box of bodies at N×3 places.
void wrap_places(const double* places, int n, const std::array<double, 3>& period, double* in_box,
                 cudaStream_t stream);

/// Sets the strengths of the points; `strength` is already scaled.
template <class PointType>
void set_strengths(PointType* points, const double* strength, int n, cudaStream_t stream);

/// Ends an evaluation: chooses the frame of the next one from all n points, and counts.
template <class PointType>
void finish_evaluation(const PointType* points, int n, Control* control, double frame_unscale,
                       cudaStream_t stream);

} // namespace farfield::cuda
