#include "sums/lattice/images/cuda/device_image_operator.cuh"

#include "backend/cuda/check.h"
#include "sums/expansions/operators.h"
#include "sums/lattice/images/cell_formulas.h"

#include <cmath>
#include <cstddef>
#include <unordered_map>
#include <vector>

namespace farfield::cuda {
namespace {

constexpr int sources_of_a_block = 4; ///< cells
constexpr int most_operator_threads = 896;

template <class T>
void upload(const std::vector<T>& values, DeviceArray<T>& to, cudaStream_t stream) {
    make_room(to, values.size());
    copy(to.data(), values.data(), values.size(), stream);
}

/// Σ conj(M_j^k) S_{l+j}^{m+k} from some cells to one: a thread for each pair of functions.
__global__ void __launch_bounds__(most_operator_threads)
    operator_kernel(FunctionPairs pairs, int cells, const std::int32_t* first_part, const std::int32_t* kinds,
                    const double2* sums, const double2* multipoles, double2* part_locals) {
    extern __shared__ double2 multipole[];
    const int t = static_cast<int>(threadIdx.x), target = static_cast<int>(blockIdx.x);
    const int p = pairs.order, functions = (p + 1) * (p + 1);
    const std::int64_t size = std::int64_t{2 * p + 1} * (2 * p + 1);
    const bool takes = t < pairs.count;
    const int l = takes ? pairs.degree[t] : 0, m = takes ? pairs.of_order[t] : 0;
    const int first = static_cast<int>(blockIdx.y) * sources_of_a_block;
    const int last = first + sources_of_a_block < cells ? first + sources_of_a_block : cells;
    double real = 0.0, imag = 0.0;
    for (int source = first; source < last; ++source) {
        if (first_part != nullptr && first_part[source] == first_part[source + 1]) continue; // no points
        __syncthreads();
        for (int i = t; i < functions; i += static_cast<int>(blockDim.x))
            multipole[i] = multipoles[static_cast<std::int64_t>(source) * functions + i];
        __syncthreads();
        const double2* const from = sums + kinds[static_cast<std::int64_t>(target) * cells + source] * size;
        for (int j = 0; j <= p; ++j) {
            const double2* const row = from + expansion_place(l + j, m);
            const double2* const of = multipole + expansion_place(j, 0);
            for (int k = -j; k <= j; ++k) {
                const double2 a = of[k], s = row[k];
                real = fma(a.x, s.x, fma(-a.y, s.y, real));
                imag = fma(a.x, s.y, fma(a.y, s.x, imag));
            }
        }
    }
    if (!takes) return;
    const double sign = (l & 1) != 0 ? -1.0 : 1.0;
    part_locals[(static_cast<std::int64_t>(target) * gridDim.y + blockIdx.y) * pairs.count + t] = {
        sign * real, sign * imag};
}

} // namespace

void DeviceImageOperator::set(const std::shared_ptr<const ImageOperator>& wanted, cudaStream_t stream) {
    if (wanted == operator_) return;
    operator_.reset(); // until all is there
    order_ = wanted->order();
    cells_ = wanted->grid().count();
    pair_count_ = (order_ + 1) * (order_ + 2) / 2;
    set_functions(stream);
    set_sums(*wanted, stream);
    const auto functions = static_cast<std::size_t>(order_ + 1) * static_cast<std::size_t>(order_ + 1);
    make_room(multipoles_, static_cast<std::size_t>(cells_) * functions);
    make_room(part_locals_, static_cast<std::size_t>(cells_) * static_cast<std::size_t>(groups()) *
                                static_cast<std::size_t>(pair_count_));
    operator_ = wanted;
}

void DeviceImageOperator::set_functions(cudaStream_t stream) {
    const HarmonicScales scales(order_);
    std::vector<std::int32_t> degrees, orders;
    std::vector<double> form, value;
    for (int m = 0; m <= order_; ++m)
        for (int l = m; l <= order_; ++l) {
            const double scale = scales.of({l, m, false});
            degrees.push_back(l);
            orders.push_back(m);
            form.push_back(std::sqrt(2.0) * scale);
            value.push_back((m > 0 ? std::sqrt(2.0) : std::sqrt(0.5)) / scale);
        }
    upload(degrees, pair_degree_, stream);
    upload(orders, pair_order_, stream);
    upload(form, form_scale_, stream);
    upload(value, value_scale_, stream);
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
}

// Sums of each kind of pairs once.
void DeviceImageOperator::set_sums(const ImageOperator& of, cudaStream_t stream) {
    std::unordered_map<const ComplexExpansion*, std::int32_t> numbers;
    std::vector<std::int32_t> kinds;
    std::vector<const ComplexExpansion*> each;
    for (int target = 0; target < cells_; ++target)
        for (int source = 0; source < cells_; ++source) {
            const auto& sums = of.sums(target, source);
            const auto [at, is_new] = numbers.try_emplace(&sums, static_cast<std::int32_t>(each.size()));
            if (is_new) each.push_back(&sums);
            kinds.push_back(at->second);
        }
    upload(kinds, kinds_, stream);
    const auto size = static_cast<std::size_t>(2 * order_ + 1) * static_cast<std::size_t>(2 * order_ + 1);
    make_room(sums_, size * each.size());
    std::vector<double2> one(size);
    for (std::size_t k = 0; k < each.size(); ++k) {
        for (std::size_t i = 0; i < size; ++i) one[i] = {each[k]->real[i], each[k]->imag[i]};
        copy(sums_.data() + k * size, one.data(), size, stream);
    }
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
}

int DeviceImageOperator::groups() const { return (cells_ + sources_of_a_block - 1) / sources_of_a_block; }

void DeviceImageOperator::apply(const std::int32_t* first_part, cudaStream_t stream) {
    const auto functions = static_cast<std::size_t>(order_ + 1) * static_cast<std::size_t>(order_ + 1);
    const dim3 blocks(static_cast<unsigned>(cells_), static_cast<unsigned>(groups()));
    const auto threads = static_cast<unsigned>((pair_count_ + 31) / 32 * 32);
    operator_kernel<<<blocks, threads, functions * sizeof(double2), stream>>>(
        pairs(), cells_, first_part, kinds_.data(), sums_.data(), multipoles_.data(), part_locals_.data());
    check_launch("expansions of far images");
}

} // namespace farfield::cuda
