#include "stencil/run/leader.h"

#include "backend/comm/agree.h"
#include "backend/comm/communicator_access.h"
#include "run/hooks.h"
#include "stencil/api/program_data.h"

#include <farfield/error.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace farfield {
namespace {

enum class Call : std::int64_t { prepare, advance, read, write, set_step, finish, fail };

/// A call of the executor's: `number` is the steps, the buffer or the step.
struct Order {
    Call call = Call::fail;
    std::int64_t number = 0;
};

void give(comm::Transport& transport, Call call, std::int64_t number = 0) {
    (void)comm::from_rank(transport, Order{call, number});
}

/// What rank 0 returns; the names of files go along, with a line each.
struct Outcome {
    bool finished = false;
    std::int64_t step = 0, steps_here = 0;
    double time = 0, cell_steps_per_second = 0, stencils_per_second = 0;
};

std::string lines_of(const StencilRunResult& result) {
    std::string text;
    for (const auto& file : result.files) text += file.string() + '\0';
    return text;
}

StencilRunResult result_of(const Outcome& outcome, const std::string& lines) {
    StencilRunResult result{outcome.finished,
                            outcome.step,
                            outcome.time,
                            outcome.steps_here,
                            outcome.cell_steps_per_second,
                            outcome.stencils_per_second,
                            {}};
    for (std::size_t at = 0; at < lines.size();) {
        const auto end = lines.find('\0', at);
        result.files.emplace_back(lines.substr(at, end - at));
        at = end + 1;
    }
    return result;
}

} // namespace

class LeadingExecutor : public stencil::Executor {
public:
    LeadingExecutor(Leader& leader, std::unique_ptr<stencil::Executor> share,
                    std::shared_ptr<const stencil::ir::Program> program, std::function<bool()> stop_requested)
        : Executor(std::move(program)), leader_(leader), share_(std::move(share)),
          stop_requested_(std::move(stop_requested)) {}

    const stencil::Preparation& preparation() const override { return share_->preparation(); }
    void advance(std::int64_t count) override {
        give(leader_.transport_, Call::advance, count);
        share_->advance(count);
        step_ = share_->step();
        for (std::size_t r = 0; r < series_.size(); ++r) {
            const auto fresh = share_->take_series(static_cast<int>(r));
            series_[r].insert(series_[r].end(), fresh.begin(), fresh.end());
        }
        leader_.any_stops_ = comm::any_rank(leader_.transport_, stop_requested_ && stop_requested_());
    }
    void read(int buffer, std::span<double> values) override {
        give(leader_.transport_, Call::read, buffer);
        share_->read_to_first(buffer, values);
    }
    void write(int buffer, std::span<const double> values) override {
        give(leader_.transport_, Call::write, buffer);
        share_->write_from_first(buffer, values);
    }
    void set_step(std::int64_t step) override {
        give(leader_.transport_, Call::set_step, step);
        share_->set_step(step);
        step_ = step;
    }

private:
    Leader& leader_;
    std::unique_ptr<stencil::Executor> share_;
    std::function<bool()> stop_requested_;
};

void Leader::prepare() const { give(transport_, Call::prepare); }

std::unique_ptr<stencil::Executor> Leader::lead(std::unique_ptr<stencil::Executor> share,
                                                std::shared_ptr<const stencil::ir::Program> program,
                                                std::function<bool()> stop_requested) {
    return std::make_unique<LeadingExecutor>(*this, std::move(share), std::move(program),
                                             std::move(stop_requested));
}

void Leader::finish(const StencilRunResult& result) const {
    give(transport_, Call::finish);
    (void)comm::from_rank(transport_, Outcome{result.finished, result.step, result.steps_here, result.time,
                                              result.cell_steps_per_second, result.stencils_per_second});
    (void)comm::text_from_rank(transport_, lines_of(result));
}

void Leader::fail(std::exception_ptr error) const {
    give(transport_, Call::fail);
    comm::on_root(transport_, [&] { std::rethrow_exception(error); });
    throw InternalError("a run failed without an error");
}

StencilRunResult follow(comm::Transport& transport, const StencilProgram& program,
                        const StencilRunSettings& settings, const StencilRunHooks& hooks) {
    PreparedStencil prepared;
    std::exception_ptr own; // of `prepare`, where all ranks fail alike
    while (true) {
        const auto order = comm::from_rank(transport, Order{});
        const auto buffer = static_cast<int>(order.number);
        switch (order.call) {
        case Call::prepare:
            try {
                prepared = prepare(*program.data(), settings.options);
                if (hooks.prepared) hooks.prepared();
            } catch (const comm::RankFailed&) {
                throw;
            } catch (const std::exception&) {
                own = std::current_exception();
            }
            break;
        case Call::advance:
            prepared.executor->advance(order.number);
            for (std::size_t r = 0; r < prepared.program->records.size(); ++r)
                (void)prepared.executor->take_series(static_cast<int>(r));
            (void)comm::any_rank(transport, stop_requested(hooks));
            break;
        case Call::read:
            prepared.executor->read_to_first(buffer, {});
            break;
        case Call::write:
            prepared.executor->write_from_first(buffer, {});
            break;
        case Call::set_step:
            prepared.executor->set_step(order.number);
            break;
        case Call::finish: {
            const auto outcome = comm::from_rank(transport, Outcome{});
            return result_of(outcome, comm::text_from_rank(transport, {}));
        }
        case Call::fail:
            try {
                comm::on_root(transport, [] {});
            } catch (const std::exception&) {
                if (own) std::rethrow_exception(own);
                throw;
            }
            throw InternalError("a run failed without an error");
        }
    }
}

} // namespace farfield
