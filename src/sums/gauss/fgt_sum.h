// The fast Gauss transform on a CPU, prepared for many strengths: in the way (way.h) that its shape has.
#pragma once

#include "sums/direct/gauss/gauss_results.h"
#include "sums/gauss/make_way.h"
#include "sums/gauss/ranks/rank_rows.h"
#include "sums/method/method.h"

#include <memory>
#include <optional>

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
    [[nodiscard]] GaussShape shape_for(double tolerance) const;
    [[nodiscard]] GaussPointSets given() const { return {sources_, targets_, extent_, frame_}; }
    /// The way of a shape with its points, which are dealt out where there are ranks.
    template <class Make>
    [[nodiscard]] auto prepared(const GaussShape& shape, const Make& make);
    [[nodiscard]] SumProblem own_problem() const;
    void prepare(bool same_points);
    bool try_clusters();
    void try_boxes();
    void compute(std::int64_t vectors, int exponent, const SumHooks& hooks, SumReport& report);
    void describe(SumReport& report) const;
    void write(int exponent, const SumOutputs& outputs);
    void take_part(RawVector<double>& rows, std::int64_t width) const;

    SumProblem problem_;
    SumOptions options_;     ///< ISA resolved
    comm::Transport* ranks_; ///< null: this process is alone
    bool has_everything_;    ///< each rank gives all points and wants all sums, and takes a part as its own
    int threads_;
    double aim_; ///< the error that shapes are chosen for
    GaussStrategy wanted_;
    bool by_bound_ = false; ///< clusters: the error of each source, since what is usual was not enough
    RawVector<double> sources_, targets_, strengths_; ///< that this rank gives
    std::optional<RankRows> rows_;                    ///< where there are ranks
    GaussExtent extent_;
    GaussFrame frame_;
    GaussShape shape_;
    std::unique_ptr<GaussWay> way_; ///< of the shape
    bool boxes_lost_ = false;       ///< to another way, for these points and some accuracy
    GaussSums sums_, given_sums_;   ///< of the way; on ranks, of the targets that this one gave
};

} // namespace farfield
