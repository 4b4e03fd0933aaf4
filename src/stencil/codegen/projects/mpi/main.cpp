// Runs the program described in program.cpp on the ranks of MPI: each has some rows of every grid and gets those of others
// that its updates read before it runs them. Usage: mpirun -n P run [STEPS]. Writes FIELD.npy for each output field and
// RECORD.csv for each record, the same bits on any number of ranks.
#include "ranks.h"

namespace {

// The fields of a rank, and the cells of the updates and records in its rows.
class Share {
public:
    Share(const Division& division, const Ranks& ranks) : division_(division), ranks_(ranks), versions_(buffers.size(), 0) {
        const auto count = static_cast<int>(buffers.size());
        // Initial values may read those of files.
        for (int b = 0; b < count; ++b)
            if (buffers[b].data_file != nullptr) read_data(b, rows(buffers[b].grid), memory);
        for (int b = 0; b < count; ++b) {
            if (buffers[b].data_file == nullptr) {
                fetch(buffers[b].initial, buffers[b].grid);
                compute_initial(buffers[b], rows(buffers[b].grid), memory);
            }
            copy_initial(b, rows(buffers[b].grid), memory);
        }
        for (const auto& kernel : kernels) kernel_cells.push_back(find(kernel.cells, kernel.grid));
        for (const auto& record : records) record_cells.push_back(find(record.cells, record.grid));
        for (const auto& kernel : kernels) kernel_reads_.emplace_back(kernel.function, kernel.grid, division_, ranks_);
        for (const auto& record : records) record_reads_.emplace_back(record.function, record.grid, division_, ranks_);
        for (std::size_t k = 0; k < kernels.size(); ++k) visits_.push_back(find_visit(kernels[k], kernel_cells[k]));
    }

    Rows rows(int grid) const { return division_[grid][ranks_.rank]; }

    void update(std::size_t k, const RowCall& call) {
        kernel_reads_[k].run(memory, versions_);
        run_kernel(kernels[k], kernel_cells[k], visits_[k], rows(kernels[k].grid), call, memory);
        for (const int b : kernels[k].stored) ++versions_[b];
    }

    // Of all rows, on rank 0.
    std::vector<double> record(std::size_t r, const RowCall& call) {
        record_reads_[r].run(memory, versions_);
        const auto out = run_record(records[r], record_cells[r], rows(records[r].grid), call, memory);
        return gather(out, division_[records[r].grid], results_a_row(records[r]), ranks_);
    }

    Memory memory;
    std::vector<Cells> kernel_cells, record_cells;

private:
    void fetch(const Function& function, int grid) { Exchange(function, grid, division_, ranks_).run(memory, versions_); }

    Cells find(const Function& condition, int grid) {
        fetch(condition, grid);
        return find_cells(condition, grids[grid], rows(grid), memory);
    }

    Division division_;
    Ranks ranks_;
    std::vector<long long> versions_; // of the buffers: how often they changed
    std::vector<Exchange> kernel_reads_, record_reads_;
    std::vector<Visit> visits_;
};

Division even(const Ranks& ranks) {
    Division division;
    for (const auto& grid : grids) division.push_back(divide(std::vector<double>(rows_of(grid), 1.0), ranks.count));
    return division;
}

// Ranks get about as many cells to compute; rows without any cost a little.
Division balanced(const Share& share, const Division& before, const Ranks& ranks) {
    Division division;
    for (int g = 0; g < static_cast<int>(grids.size()); ++g) {
        std::vector<double> costs(rows_of(grids[g]), 1.0);
        for (std::size_t k = 0; k < kernels.size(); ++k)
            for (auto row = share.rows(g).first; row < share.rows(g).last && kernels[k].grid == g; ++row)
                for (const auto& span : share.kernel_cells[k][row]) costs[row] += static_cast<double>(span.last - span.first);
        share_costs(before[g], costs);
        division.push_back(divide(costs, ranks.count));
    }
    return division;
}

void run(long long steps) {
    const Ranks ranks;
    const auto first = even(ranks);
    const auto division = balanced(Share(first, ranks), first, ranks);
    Share share(division, ranks);
    std::vector<long long> counts;
    for (const auto& cells : share.record_cells) counts.push_back(count_of(cells));
    MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    std::vector<Series> series(records.size());
    std::vector<double> uniform_values(uniform_count + 1);

    for (long long step = 0; step < steps; ++step) {
        RowCall call = {};
        call.step = step;
        call.t = static_cast<double>(step) * dt;
        call.uniforms = uniform_values.data();
        uniforms(call.t, step, uniform_values.data());
        for (std::size_t k = 0; k < kernels.size(); ++k)
            if (step % kernels[k].every == 0) share.update(k, call);
        for (std::size_t r = 0; r < records.size(); ++r) {
            if ((step + 1) % records[r].every != 0) continue;
            const auto out = share.record(r, call);
            if (ranks.rank != 0) continue;
            series[r].steps.push_back(step + 1);
            series[r].values.push_back(reduce(records[r], out, counts[r]));
        }
    }

    for (int b = 0; b < static_cast<int>(buffers.size()); ++b)
        if (buffers[b].output) write_npy(b, share.memory, division[buffers[b].grid], ranks);
    for (std::size_t r = 0; r < records.size() && ranks.rank == 0; ++r) write_csv(records[r], series[r]);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    run(argc > 1 ? std::atoll(argv[1]) : default_steps);
    MPI_Finalize();
    return 0;
}
