// The fast Gauss transform on a CPU, prepared for many strengths: on a grid, or pair by pair up to a cut-off.
#pragma once

#include "sums/direct/gauss/gauss_results.h"
#include "sums/gauss/cells.h"
#include "sums/gauss/grid/grid.h"
#include "sums/gauss/shape.h"
#include "sums/method/method.h"

namespace farfield {

class FgtSum : public PreparedSum {
public:
    FgtSum(const SumProblem& problem, const SumOptions& options);

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override;
    void execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override;
    /// Aims at a smaller error; once no grid is more accurate, at pairs up to a cut-off; and once that is as
    /// far as double goes, at nothing.
    bool refine(double error) override;

private:
    void prepare();
    void compute(std::int64_t vectors, int exponent, const SumHooks& hooks, SumReport& report);

    SumProblem problem_;
    SumOptions options_; ///< ISA resolved
    int threads_;
    double aim_; ///< the error that shapes are chosen for
    bool may_grid_ = true;
    RawVector<double> sources_, targets_, strengths_; ///< the caller's
    GaussExtent extent_;
    GaussFrame frame_;
    GaussShape shape_;
    GaussCells cells_;
    GaussGrid grid_;
    GaussSums sums_;
};

} // namespace farfield
