#include "sums/direct/cuda/periodic/gpu_periodic_direct.h"

#include "sums/costs/cost_file.h"
#include "sums/direct/common/costs.h"
#include "sums/direct/cuda/periodic/gpu_image_sum.h"
#include "sums/direct/cuda/sum/gpu_sum.h"
#include "sums/direct/periodic/periodic_direct.h"

#include <string>

namespace farfield::cuda {
namespace {

OpenSeconds open_seconds(std::string_view gpu, const CostTable& table) {
    return [name = std::string(gpu), &table](const SumProblem& open) {
        const auto rates = gpu_rates(table, name, open.precision, open.self);
        return open.executions *
               (rates.fixed_seconds + static_cast<double>(open.pairs()) / rates.pairs_per_second);
    };
}

std::unique_ptr<PreparedSum> make_open(const SumProblem& problem, const SumOptions& options, int device) {
    return make_gpu_sum(options, {device}, problem.self);
}

} // namespace

std::unique_ptr<PreparedSum> make_gpu_periodic_direct(const SumProblem& problem, const SumOptions& options,
                                                      int device) {
    return make_gpu_image_sum(problem, options, device,
                              {.shape = pairs_image_shape(problem),
                               .seconds = open_seconds(usual_gpu, cost_table_in_use().table),
                               .make = make_open,
                               .takes_host_arrays = true});
}

double gpu_periodic_direct_seconds(const SumProblem& problem, std::string_view gpu, const CostTable& table) {
    return gpu_image_seconds(problem, pairs_image_shape(problem), open_seconds(gpu, table), gpu, table);
}

double gpu_periodic_direct_bytes(const SumProblem& problem,
                                 const std::function<double(const SumProblem&)>& bytes) {
    return gpu_image_bytes(problem, pairs_image_shape(problem),
                           open_seconds(usual_gpu, cost_table_in_use().table), bytes);
}

} // namespace farfield::cuda
