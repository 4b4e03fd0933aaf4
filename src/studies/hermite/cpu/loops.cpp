#include "studies/hermite/cpu/loops.h"

#include "backend/simd/isa.h"
#include "backend/threads/parallel.h"
#include "studies/hermite/cpu/evaluation_task.h"
#include "studies/hermite/series.h"
#include "sums/direct/cpu/isa_function.h"

#include <cmath>

namespace farfield::hermite {
namespace {

// `p` is known to the compiler, and so are the polynomials.
template <int p>
float plain_potential(const Problem& problem, std::size_t i) {
    static constexpr Polynomials<p> polynomials;
    constexpr int coefficients = p * p;
    float potential = 0;
    const float* centre = problem.centres.data();
    const float* moments = problem.moments.data();
    for (int cluster = 0; cluster < problem.clusters(); ++cluster, centre += 2, moments += coefficients)
        potential += series<p, true>(moments, problem.factorials.data(), polynomials,
                                     (problem.x[i] - centre[0]) * problem.inverse_width,
                                     (problem.y[i] - centre[1]) * problem.inverse_width, p);
    return potential;
}

template <int p>
void run_plain(const Problem& problem, int threads, std::vector<float>& potentials) {
    parallel_parts(
        threads, potentials.size(),
        [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) potentials[i] = plain_potential<p>(problem, i);
        },
        256);
}

} // namespace

CpuEvaluation::CpuEvaluation(const Problem& problem)
    : problem_(problem), powers_(powers_in(problem)), potentials_(problem.x.size()) {}

void CpuEvaluation::run_simd(int threads, Isa isa) {
    const auto evaluate = FF_ISA_FUNCTION(ff_hermite_evaluation, resolve_isa(isa));
    EvaluationTask task{.terms = problem_.terms,
                        .clusters = problem_.clusters(),
                        .sigma = 1 / (std::sqrt(2.0) * static_cast<double>(problem_.inverse_width)),
                        .centres = problem_.centres.data(),
                        .powers = powers_.data(),
                        .x = problem_.x.data(),
                        .y = problem_.y.data(),
                        .potentials = potentials_.data()};
    parallel_parts(
        threads, potentials_.size(),
        [&](std::size_t begin, std::size_t end) {
            auto part = task;
            part.begin = static_cast<std::int64_t>(begin);
            part.end = static_cast<std::int64_t>(end);
            evaluate(&part);
        },
        1024);
}

void CpuEvaluation::run(CpuLoop loop, int threads, Isa isa) {
    if (loop == CpuLoop::simd) return run_simd(threads, isa);
    if (problem_.terms == 5) run_plain<5>(problem_, threads, potentials_);
    if (problem_.terms == 9) run_plain<9>(problem_, threads, potentials_);
    if (problem_.terms == 12) run_plain<12>(problem_, threads, potentials_);
}

} // namespace farfield::hermite
