// One rank of several that share the grids of a program: a target's executor of its part, and the messages
// between passes. All ranks make the same calls; fields and series are the same bits as on one rank.
#pragma once

#include "backend/comm/transport.h"
#include "stencil/runtime/executor.h"
#include "stencil/runtime/ranks/exchange_plan.h"
#include "stencil/runtime/ranks/part.h"
#include "stencil/runtime/ranks/record_parts.h"
#include "stencil/runtime/ranks/rim_exchange.h"

#include <farfield/communicator.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace farfield::stencil::ranks {

using MakeExecutor = std::function<std::unique_ptr<Executor>(std::shared_ptr<const ir::Program>)>;

class RanksExecutor : public Executor {
public:
    /// Sends no message, so that one rank may fail. @param make of a part. @param steps_wanted a pass; 0:
    /// chosen.
    RanksExecutor(std::shared_ptr<const ir::Program> program, const Communicator& communicator,
                  const MakeExecutor& make, int steps_wanted, MpiGpu mpi_gpu = MpiGpu::automatic);

    const Preparation& preparation() const override { return preparation_; }
    void advance(std::int64_t count) override;
    /// All ranks get all values.
    void read(int buffer, std::span<double> values) override;
    /// All ranks give all values.
    void write(int buffer, std::span<const double> values) override;
    void read_to_first(int buffer, std::span<double> values) override;
    void write_from_first(int buffer, std::span<const double> values) override;
    void set_step(std::int64_t step) override;

private:
    void agree();
    void collect_records();
    const ir::CellBox& block(int buffer, int rank) const;
    std::vector<ir::CellBox> held(int buffer, int rank) const;
    std::int64_t value_size(int buffer) const;
    const ir::Shape& shape(int buffer) const;
    template <class Boxes, class Visit>
    void each_with_first(int buffer, const Boxes& boxes, const Visit& visit);

    Communicator communicator_;
    comm::Transport& transport_;
    std::vector<Division> divisions_; ///< by grid
    std::int64_t steps_a_pass_;
    Halos halos_;
    ExchangePlan plan_;
    Part of_rank_;
    std::unique_ptr<Executor> part_;
    std::vector<RecordParts> record_parts_;
    std::vector<std::vector<double>> recorded_; ///< by record: this rank's numbers, not yet collected
    std::int64_t collected_ = 0;                ///< the step up to which they are
    Preparation preparation_;
    MpiGpu mpi_gpu_;
    bool rims_are_right_ = true;
    std::unique_ptr<RimExchange> exchange_; ///< made by the first `advance`
};

} // namespace farfield::stencil::ranks
