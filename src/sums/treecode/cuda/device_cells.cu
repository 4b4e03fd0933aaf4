// P2M and M2M, level by level: eight lanes a cell. Of a leaf each takes every eighth source, of another cell
// one child; what they have is added up crosswise, always in one order.
#include "sums/treecode/cuda/device_cells.cuh"

#include "sums/tree/cuda/launch.cuh"

#include <algorithm>

namespace farfield::cuda {
namespace {

constexpr int cell_lanes = 8;

struct StrengthTask {
    const double* strengths;
    const std::int32_t* from;
    int count, exponent;
    Vec4<double>* points;
};

__global__ void strengths_kernel(const StrengthTask task) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < task.count) task.points[i].w = scalbn(task.strengths[task.from[i]], task.exponent);
}

struct UpwardTask {
    TreeView tree;
    const Vec4<double>* points;
    CartesianTerms terms;
    int order;
    double accuracy; ///< 0: no reaches are wanted
    WalkCell* cells;
    double *radii, *second; ///< as SourceCell has them
    double* moments;        ///< null: only monopoles are wanted
    float* floats;          ///< numbers of expansions, in one of the two
    double* doubles;
};

__device__ double sum_of_lanes(double value) {
    for (int step = cell_lanes / 2; step > 0; step /= 2) value += __shfl_xor_sync(~0U, value, step);
    return value;
}

__device__ double most_of_lanes(double value) {
    for (int step = cell_lanes / 2; step > 0; step /= 2)
        value = fmax(value, __shfl_xor_sync(~0U, value, step));
    return value;
}

/// The children of a cell lie one after the other: the first and how many, or none of a leaf.
__device__ BlockRange children_of(const TreeView& tree, std::int32_t cell) {
    BlockRange out{0, 0};
    if (tree.is_leaf(cell)) return out;
    for (int octant = 7; octant >= 0; --octant) {
        const auto child = tree.child(cell, octant);
        if (child == TreeView::none) continue;
        if (out.size() == 0) out.end = child + 1;
        out.begin = child;
    }
    return out;
}

/// What one lane has of a cell.
struct Share {
    double magnitude = 0.0, strength = 0.0, second = 0.0, radius = 0.0;
    double weighted[3] = {0.0, 0.0, 0.0};
};

__device__ void write_reaches(const UpwardTask& task, double radius, double second, WalkCell& cell) {
    cell.field_reach = cell.potential_reach = 0.0F;
    if (task.accuracy <= 0.0) return;
    // as SourceCells has it
    double next = second / task.accuracy;
    for (int k = 1; k < task.order; ++k) next *= radius;
    cell.field_reach = static_cast<float>(pow(next * (task.order + 2), 1.0 / (task.order + 3)));
    cell.potential_reach = static_cast<float>(pow(next, 1.0 / (task.order + 2)));
}

/// `Most`: the highest order; 0 where only monopoles are wanted.
template <int Most>
__global__ void __launch_bounds__(128) upward_kernel(const UpwardTask task, std::int32_t first, int count) {
    const int lane = static_cast<int>(threadIdx.x) % cell_lanes;
    const int place = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / cell_lanes);
    const bool there = place < count;
    const auto number = first + min(place, count - 1);
    const auto& tree = task.tree;
    const auto& at = tree.places[number];
    const double unit = tree.width_of(at.level);
    const double middle[3] = {tree.centre(at, 0), tree.centre(at, 1), tree.centre(at, 2)};
    const bool leaf = tree.is_leaf(number);
    const auto sources = tree.sources[number];
    const auto children = children_of(tree, number);
    const bool has_child = !leaf && lane < children.size();
    const auto child = children.begin + lane;

    Share own;
    if (leaf) {
        for (int i = sources.begin + lane; i < sources.end; i += cell_lanes) {
            const auto p = task.points[i];
            const double weight = fabs(p.w);
            own.magnitude += weight;
            own.strength += p.w;
            own.weighted[0] += weight * (p.x - middle[0]);
            own.weighted[1] += weight * (p.y - middle[1]);
            own.weighted[2] += weight * (p.z - middle[2]);
        }
    } else if (has_child) {
        const auto& from = task.cells[child];
        own.magnitude = from.magnitude;
        own.strength = from.strength;
        for (int axis = 0; axis < 3; ++axis)
            own.weighted[axis] = own.magnitude * (from.centre[axis] - middle[axis]);
    }
    const double magnitude = sum_of_lanes(own.magnitude);
    const double strength = sum_of_lanes(own.strength);
    double centre[3];
    for (int axis = 0; axis < 3; ++axis) {
        const double weighted = sum_of_lanes(own.weighted[axis]);
        centre[axis] = middle[axis] + (magnitude > 0.0 ? weighted / magnitude : 0.0);
    }

    constexpr int numbers = Most == 0 ? 1 : monomials_below(Most + 1);
    double moments[numbers];
    const int moment_count = Most == 0 ? 0 : monomials_below(task.order + 1);
    for (int k = 0; k < moment_count; ++k) moments[k] = 0.0;
    if (leaf) {
        double monomials[numbers];
        for (int i = sources.begin + lane; i < sources.end; i += cell_lanes) {
            const auto p = task.points[i];
            const double x = p.x - centre[0], y = p.y - centre[1], z = p.z - centre[2];
            const double square = x * x + y * y + z * z;
            own.radius = fmax(own.radius, square);
            own.second += fabs(p.w) * square;
            if constexpr (Most > 0) {
                set_monomials(task.order + 1, x / unit, y / unit, z / unit, monomials);
                for (int k = 0; k < moment_count; ++k) moments[k] += p.w * monomials[k];
            }
        }
        own.radius = sqrt(own.radius);
    } else if (has_child && task.cells[child].sources() > 0) {
        const auto& from = task.cells[child];
        double shift[3], square = 0.0;
        for (int axis = 0; axis < 3; ++axis) {
            shift[axis] = from.centre[axis] - centre[axis];
            square += shift[axis] * shift[axis];
            shift[axis] /= unit;
        }
        own.radius = sqrt(square) + task.radii[child];
        own.second = task.second[child] + from.magnitude * square;
        if constexpr (Most > 0)
            add_shifted_moments<Most>(task.terms, task.order,
                                      task.moments + static_cast<std::int64_t>(moment_count) * child, shift,
                                      0.5, moments);
    }
    double radius = most_of_lanes(own.radius);
    const double second = sum_of_lanes(own.second);
    for (int k = 0; k < moment_count; ++k) moments[k] = sum_of_lanes(moments[k]);
    if (!there || lane != 0) return;

    if (!leaf) { // points may lie beside their cell by a rounding of the coordinates
        double corner = 0.0;
        for (int axis = 0; axis < 3; ++axis) {
            const double farthest = fabs(centre[axis] - middle[axis]) + 0.5 * unit;
            corner += farthest * farthest;
        }
        radius = fmin(radius, 1.000001 * sqrt(corner));
    }
    WalkCell out;
    for (int axis = 0; axis < 3; ++axis) out.centre[axis] = centre[axis];
    out.strength = strength;
    out.radius = static_cast<float>(radius);
    out.magnitude = static_cast<float>(magnitude);
    write_reaches(task, radius, second, out);
    out.sources_begin = sources.begin;
    out.sources_end = sources.end;
    out.first_child = children.begin;
    out.children_and_level = children.size() | at.level << 4;
    task.cells[number] = out;
    task.radii[number] = radius;
    task.second[number] = second;
    if constexpr (Most > 0) {
        for (int k = 0; k < moment_count; ++k)
            task.moments[static_cast<std::int64_t>(moment_count) * number + k] = moments[k];
        const auto first_number = static_cast<std::int64_t>(far_numbers(task.order)) * number;
        if (task.floats != nullptr)
            set_far_numbers(task.terms, moments, task.floats + first_number);
        else
            set_far_numbers(task.terms, moments, task.doubles + first_number);
    }
}

template <int Most>
void launch_upward(const UpwardTask& task, std::int32_t first, int count, cudaStream_t stream) {
    constexpr int threads = 128;
    const auto blocks = (static_cast<std::int64_t>(count) * cell_lanes + threads - 1) / threads;
    upward_kernel<Most><<<static_cast<unsigned>(blocks), threads, 0, stream>>>(task, first, count);
    check_launch("expansions of the cells of a tree");
}

template <class T>
void bring(DeviceArray<T>& to, const T* from, int count, cudaStream_t stream) {
    make_room(to, static_cast<std::size_t>(std::max(1, count)));
    copy(to.data(), from, static_cast<std::size_t>(count), stream);
}

} // namespace

void DeviceCells::prepare(const TreecodeShape& shape, cudaStream_t stream) {
    if (order_ == shape.order) return;
    order_ = shape.order;
    on_host_ = cartesian_terms(order_);
    bring(number_terms_, on_host_.numbers, on_host_.number_terms, stream);
    for (int axis = 0; axis < 3; ++axis)
        bring(shift_terms_[axis], on_host_.shift[axis], on_host_.shift_terms[axis], stream);
    bring(degree_, on_host_.degree, monomials_below(order_ + 1), stream);
}

CartesianTerms DeviceCells::terms() const {
    auto out = on_host_;
    out.numbers = number_terms_.data();
    for (int axis = 0; axis < 3; ++axis) out.shift[axis] = shift_terms_[axis].data();
    out.degree = degree_.data();
    return out;
}

void DeviceCells::make(DeviceTree& tree, const double* strengths, int exponent, const TreecodeShape& shape,
                       bool monopoles, cudaStream_t stream) {
    const auto cells = static_cast<std::size_t>(tree.cells());
    make_room(cells_, cells, cells / 4);
    make_room(radii_, cells, cells / 4);
    make_room(second_, cells, cells / 4);
    if (!monopoles) {
        make_room(moments_, cells * static_cast<std::size_t>(monomials_below(shape.order + 1)));
        const auto numbers = cells * static_cast<std::size_t>(far_numbers(shape.order));
        if (shape.wide)
            make_room(doubles_, numbers);
        else
            make_room(floats_, numbers);
    }
    launch_over(tree.sources().count, stream, strengths_kernel,
                StrengthTask{strengths, tree.sources().from.data(), tree.sources().count, exponent,
                             tree.weighted_sources()});
    const UpwardTask task{.tree = tree.view(),
                          .points = tree.sources().at.data(),
                          .terms = terms(),
                          .order = shape.order,
                          .accuracy = shape.accuracy,
                          .cells = cells_.data(),
                          .radii = radii_.data(),
                          .second = second_.data(),
                          .moments = monopoles ? nullptr : moments_.data(),
                          .floats = monopoles || shape.wide ? nullptr : floats_.data(),
                          .doubles = monopoles || !shape.wide ? nullptr : doubles_.data()};
    for (int level = tree.levels() - 1; level >= 0; --level) {
        const auto first = tree.level_begin(level);
        const int count = tree.level_begin(level + 1) - first;
        if (monopoles)
            launch_upward<0>(task, first, count, stream);
        else if (shape.order <= 2)
            launch_upward<2>(task, first, count, stream);
        else if (shape.order <= 4)
            launch_upward<4>(task, first, count, stream);
        else
            launch_upward<most_cartesian_order>(task, first, count, stream);
    }
}

} // namespace farfield::cuda
