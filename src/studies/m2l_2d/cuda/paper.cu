// The paper's kernels: a block has one source, and its 27 translations write an expansion each.
#include "studies/m2l_2d/cuda/device_problem.cuh"
#include "studies/m2l_2d/paper_rows.h"

#include <farfield/error.h>

namespace farfield::m2l2d {
namespace {

// t = 1/d of a translation from a source.
__device__ Value inverse_offset(const Box& source, int slot) {
    const auto offset = offset_of(quarter_of(source.x, source.y), slot);
    return reciprocal(static_cast<float>(offset.x), static_cast<float>(offset.y));
}

template <int p>
__device__ void load_source(const DeviceProblem& at, int box, Value* m) {
    const auto thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
    if (thread < p) m[thread] = at.multipoles[box * p + thread];
}

template <int p>
__device__ Value* written_by(const DeviceProblem& at, int box) {
    return at.written + static_cast<std::size_t>(box) * (list_size * p);
}

// A thread a translation; its matrix in shared memory.
template <int p, class Stored>
__global__ __launch_bounds__(list_size) void stored_kernel(DeviceProblem at) {
    extern __shared__ double stored_memory[];
    __shared__ Value m[p];
    const auto slot = static_cast<int>(threadIdx.x), box = static_cast<int>(blockIdx.x);
    load_source<p>(at, box, m);
    auto* matrix = reinterpret_cast<Complex<Stored>*>(stored_memory) + slot;
    store_matrix(inverse_offset(box_at(box), slot), p, matrix, list_size);
    __syncthreads();
    Value* out = written_by<p>(at, box) + slot * p;
#pragma unroll 1
    for (int n = 0; n < p; ++n) {
        Complex<Stored> sum{0, 0};
#pragma unroll
        for (int k = 0; k < p; ++k)
            sum = multiply_add(matrix[(n * p + k) * list_size],
                               {static_cast<Stored>(m[k].re), static_cast<Stored>(m[k].im)}, sum);
        out[n] = {static_cast<float>(sum.re), static_cast<float>(sum.im)};
    }
}

// A thread a translation; expansions in shared memory, which the block then moves.
template <int p>
__global__ __launch_bounds__(list_size) void diagonals_kernel(DeviceProblem at) {
    __shared__ Value m[p], l[p * list_size];
    const auto slot = static_cast<int>(threadIdx.x), box = static_cast<int>(blockIdx.x);
    load_source<p>(at, box, m);
    for (int n = 0; n < p; ++n) l[n * list_size + slot] = {0.0f, 0.0f};
    __syncthreads();
    diagonals_of_figure_5(m, inverse_offset(box_at(box), slot), p, l + slot, list_size);
    __syncthreads();
    Value* out = written_by<p>(at, box);
    for (int i = slot; i < list_size * p; i += list_size) out[i] = l[i % p * list_size + i / p];
}

// A thread a row of a translation: it writes one number, beside those of its neighbours.
template <int p, Variant variant>
__global__ __launch_bounds__(list_size* p) void rows_kernel(DeviceProblem at) {
    __shared__ Value m[p];
    const auto n = static_cast<int>(threadIdx.x), slot = static_cast<int>(threadIdx.y),
               box = static_cast<int>(blockIdx.x);
    load_source<p>(at, box, m);
    const auto t = inverse_offset(box_at(box), slot);
    __syncthreads();
    Value sum;
    if constexpr (variant == Variant::variable_powers)
        sum = row_of_figure_6(m, t, n, p);
    else if constexpr (variant == Variant::fixed_powers)
        sum = row_of_figure_7<p>(m, t, n);
    else
        sum = row_unrolled<p>(m, t, n);
    written_by<p>(at, box)[slot * p + n] = sum;
}

// The same for many sources, the next of which is on its way while one is translated.
template <int p>
__global__ __launch_bounds__(list_size* p) void overlapped_kernel(DeviceProblem at) {
    __shared__ Value m[2][p];
    const auto n = static_cast<int>(threadIdx.x), slot = static_cast<int>(threadIdx.y);
    const int thread = slot * p + n, boxes = boxes_of_depth(at.depth), step = static_cast<int>(gridDim.x);
    load_source<p>(at, static_cast<int>(blockIdx.x), m[0]);
    __syncthreads();
    int buffer = 0;
    for (auto box = static_cast<int>(blockIdx.x); box < boxes; box += step) {
        Value next{};
        const bool fetches = thread < p && box + step < boxes;
        if (fetches) next = at.multipoles[(box + step) * p + thread];
        written_by<p>(at, box)[thread] = row_unrolled<p>(m[buffer], inverse_offset(box_at(box), slot), n);
        if (fetches) m[buffer ^ 1][thread] = next;
        __syncthreads();
        buffer ^= 1;
    }
}

// A thread a term of a box: the expansions that its sources wrote for it.
template <int p>
__global__ void paper_reduction_kernel(DeviceProblem at) {
    const auto thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int number = thread / p, n = thread % p;
    if (number >= boxes_of_depth(at.depth)) return;
    const auto box = box_at(number);
    const int quarter = quarter_of(box.x, box.y);
    Value sum{0.0f, 0.0f};
#pragma unroll
    for (int slot = 0; slot < list_size; ++slot) {
        const auto source = at_offset(box, offset_of(quarter, slot));
        const int back = slot_back(quarter, slot, quarter_of(source.x, source.y));
        sum = sum + written_by<p>(at, number_of(source))[back * p + n];
    }
    at.locals[thread] = sum;
}

template <class Kernel>
const void* pointer_to(Kernel* kernel) {
    return reinterpret_cast<const void*>(kernel);
}

template <int p>
Launch launch_of(Variant variant, int depth) {
    const auto boxes = static_cast<unsigned>(boxes_of_depth(depth));
    const dim3 rows(p, list_size), a_list(list_size);
    switch (variant) {
    case Variant::stored_double:
        return {pointer_to(stored_kernel<p, double>), boxes, a_list, list_size * p * p * 16};
    case Variant::stored_float:
        return {pointer_to(stored_kernel<p, float>), boxes, a_list, list_size * p * p * 8};
    case Variant::diagonals:
        return {pointer_to(diagonals_kernel<p>), boxes, a_list};
    case Variant::variable_powers:
        return {pointer_to(rows_kernel<p, Variant::variable_powers>), boxes, rows};
    case Variant::fixed_powers:
        return {pointer_to(rows_kernel<p, Variant::fixed_powers>), boxes, rows};
    case Variant::unrolled:
        return {pointer_to(rows_kernel<p, Variant::unrolled>), boxes, rows};
    case Variant::overlapped: {
        constexpr unsigned sources_a_block = 8;
        return {pointer_to(overlapped_kernel<p>), (boxes + sources_a_block - 1) / sources_a_block, rows};
    }
    default:
        throw InternalError("a variant that is not of the paper");
    }
}

template <int p>
Launch reduction_of(int depth) {
    constexpr unsigned threads = 256;
    const auto all = static_cast<unsigned>(boxes_of_depth(depth) * p);
    return {pointer_to(paper_reduction_kernel<p>), (all + threads - 1) / threads, threads};
}

} // namespace

Launch paper_launch(Variant variant, int terms, int depth) {
    return terms == 8    ? launch_of<8>(variant, depth)
           : terms == 12 ? launch_of<12>(variant, depth)
                         : launch_of<16>(variant, depth);
}

Launch paper_reduction(int terms, int depth) {
    return terms == 8    ? reduction_of<8>(depth)
           : terms == 12 ? reduction_of<12>(depth)
                         : reduction_of<16>(depth);
}

} // namespace farfield::m2l2d
