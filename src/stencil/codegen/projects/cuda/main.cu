// Runs the program of kernels.cu on the first GPU: memory of the fields, the loop over steps, records and
// files. Usage: run [STEPS]. Writes FIELD.npy for each output field and RECORD.csv for each record.
#include "program.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

void check(cudaError_t status) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
    std::exit(1);
}

void* allocate(std::size_t bytes) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, std::max<std::size_t>(bytes, 1)));
    check(cudaMemset(memory, 0, std::max<std::size_t>(bytes, 1)));
    return memory;
}

std::vector<char> read_file(const std::string& name, std::size_t bytes) {
    std::vector<char> content(bytes);
    std::ifstream file(std::string(DATA_FOLDER "/") + name, std::ios::binary);
    file.read(content.data(), static_cast<std::streamsize>(bytes));
    if (file) return content;
    std::fprintf(stderr, "%s is missing or too short\n", name.c_str());
    std::exit(1);
}

constexpr long long batch = 256; // steps whose clock is sent at once

struct Machine {
    std::vector<void*> copies[2];
    std::vector<int> current;
    std::vector<void*> tables, scratches, series;
    double* clock = nullptr;

    std::size_t bytes_of(const Buffer& b) const {
        return static_cast<std::size_t>(b.pitch * b.rows * b.value_bytes);
    }

    Machine() {
        for (const auto& b : buffers) {
            copies[0].push_back(allocate(bytes_of(b)));
            copies[1].push_back(b.copies == 2 ? allocate(bytes_of(b)) : nullptr);
            current.push_back(0);
        }
        for (std::size_t i = 0; i < table_bytes.size(); ++i) {
            const auto content =
                read_file("table_" + std::to_string(i) + ".bin", static_cast<std::size_t>(table_bytes[i]));
            tables.push_back(allocate(content.size()));
            check(cudaMemcpy(tables.back(), content.data(), content.size(), cudaMemcpyHostToDevice));
        }
        for (const auto& s : scratch) {
            const std::vector<double> content(static_cast<std::size_t>(s.values), s.initial);
            scratches.push_back(allocate(content.size() * 8));
            check(cudaMemcpy(scratches.back(), content.data(), content.size() * 8, cudaMemcpyHostToDevice));
        }
        for (std::size_t r = 0; r < records.size(); ++r) series.push_back(allocate(batch * 8));
        clock = static_cast<double*>(allocate(static_cast<std::size_t>(batch * clock_row) * 8));
    }

    void launch(const Launch& l, long long row, long long steps, const std::vector<long long>& recorded) {
        std::vector<std::uint64_t> values;
        for (const auto& a : l.arguments) {
            const auto i = static_cast<std::size_t>(a.index);
            const auto pointer = [&](const void* p) {
                values.push_back(reinterpret_cast<std::uintptr_t>(p));
            };
            switch (a.kind) {
            case Kind::current:
                pointer(copies[current[i]][i]);
                break;
            case Kind::other:
                pointer(copies[1 - current[i]][i]);
                break;
            case Kind::table:
                pointer(tables[i]);
                break;
            case Kind::scratch:
                pointer(scratches[i]);
                break;
            case Kind::clock:
                pointer(clock + row * clock_row);
                break;
            case Kind::steps:
                values.push_back(static_cast<std::uint64_t>(steps));
                break;
            case Kind::series:
                pointer(static_cast<double*>(series[i]) + recorded[i]);
                break;
            case Kind::number:
                values.push_back(static_cast<std::uint64_t>(a.index));
                break;
            }
        }
        std::vector<void*> arguments;
        for (auto& value : values) arguments.push_back(&value);
        check(cudaFuncSetAttribute(l.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, l.shared_bytes));
        check(cudaLaunchKernel(l.kernel, dim3(static_cast<unsigned>(l.blocks)),
                               dim3(static_cast<unsigned>(l.threads[0]), static_cast<unsigned>(l.threads[1]),
                                    static_cast<unsigned>(l.threads[2])),
                               arguments.data(), static_cast<std::size_t>(l.shared_bytes), nullptr));
    }

    void set_initial_values() {
        // Initial values may read those of files.
        for (std::size_t b = 0; b < buffers.size(); ++b) {
            const auto& buffer = buffers[b];
            if (buffer.data_file == nullptr) continue;
            const auto row = static_cast<std::size_t>(buffer.width * 8);
            const auto content = read_file(buffer.data_file, row * static_cast<std::size_t>(buffer.rows));
            check(cudaMemcpy2D(copies[0][b], static_cast<std::size_t>(buffer.pitch * 8), content.data(), row,
                               row, static_cast<std::size_t>(buffer.rows), cudaMemcpyHostToDevice));
        }
        for (std::size_t b = 0; b < buffers.size(); ++b) {
            for (const auto& l : buffers[b].initial) launch(l, 0, 0, {});
            if (buffers[b].copies == 2)
                check(cudaMemcpy(copies[1][b], copies[0][b], bytes_of(buffers[b]), cudaMemcpyDeviceToDevice));
        }
    }

    void set_clock(long long start, long long count) {
        std::vector<double> rows(static_cast<std::size_t>(count * clock_row));
        for (long long s = 0; s < count; ++s) {
            double* row = rows.data() + s * clock_row;
            row[0] = static_cast<double>(start + s) * dt;
            row[1] = static_cast<double>(start + s);
            uniforms(row[0], start + s, row + 2);
        }
        check(cudaMemcpy(clock, rows.data(), rows.size() * 8, cudaMemcpyHostToDevice));
    }
};

// The .npy format of NumPy, version 1.0; the last index is x.
void write_npy(const Buffer& buffer, const void* values) {
    std::string shape;
    for (int axis = buffer.rank - 1; axis >= 0; --axis)
        shape += std::to_string(buffer.shape[axis]) + (axis > 0 ? ", " : buffer.rank == 1 ? "," : "");
    std::string header = std::string("{'descr': '<") + (buffer.value_bytes == 4 ? "f4" : "f8") +
                         "', 'fortran_order': False, 'shape': (" + shape + "), }";
    header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');
    header += '\n';
    const auto row = static_cast<std::size_t>(buffer.width * buffer.value_bytes);
    std::vector<char> content(row * static_cast<std::size_t>(buffer.rows));
    check(cudaMemcpy2D(content.data(), row, values,
                       static_cast<std::size_t>(buffer.pitch * buffer.value_bytes), row,
                       static_cast<std::size_t>(buffer.rows), cudaMemcpyDeviceToHost));
    std::ofstream file(std::string(buffer.name) + ".npy", std::ios::binary);
    file.write("\x93NUMPY\x01\x00", 8);
    file.put(static_cast<char>(header.size() & 0xFF));
    file.put(static_cast<char>(header.size() >> 8));
    file << header;
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!file) std::exit((std::fprintf(stderr, "%s.npy cannot be written\n", buffer.name), 1));
}

void write_csv(const Record& record, const std::vector<double>& values) {
    std::ofstream file(std::string(record.name) + ".csv");
    file << "step,t," << record.name << '\n';
    char line[96];
    for (std::size_t i = 0; i < values.size(); ++i) {
        const long long step = static_cast<long long>(i + 1) * record.every;
        std::snprintf(line, sizeof line, "%lld,%.17g,%.17g\n", step, static_cast<double>(step) * dt,
                      values[i]);
        file << line;
    }
    if (!file) std::exit((std::fprintf(stderr, "%s.csv cannot be written\n", record.name), 1));
}

} // namespace

int main(int argc, char** argv) {
    const long long total = argc > 1 ? std::atoll(argv[1]) : default_steps;
    Machine machine;
    machine.set_initial_values();
    std::vector<std::vector<double>> series(records.size());
    for (long long start = 0; start < total; start += batch) {
        const long long count = std::min(batch, total - start);
        machine.set_clock(start, count);
        std::vector<long long> recorded(records.size(), 0);
        for (long long row = 0; row < count;) {
            long long steps = std::min(steps_a_pass, count - row);
            for (const auto& r : records)
                if (!r.launches.empty()) steps = std::min(steps, r.every - (start + row) % r.every);
            for (const auto& pass : passes) {
                if ((start + row) % pass.every != 0) continue;
                for (const auto& l : pass.launches) machine.launch(l, row, steps, recorded);
                for (const int b : pass.swapped) machine.current[static_cast<std::size_t>(b)] ^= 1;
            }
            row += steps;
            for (std::size_t r = 0; r < records.size(); ++r) {
                const long long every = records[r].every;
                if (!records[r].launches.empty() && (start + row) % every == 0)
                    for (const auto& l : records[r].launches) machine.launch(l, row - 1, 1, recorded);
                recorded[r] += (start + row) / every - (start + row - steps) / every;
            }
        }
        for (std::size_t r = 0; r < records.size(); ++r) {
            std::vector<double> values(static_cast<std::size_t>(recorded[r]));
            check(cudaMemcpy(values.data(), machine.series[r], values.size() * 8, cudaMemcpyDeviceToHost));
            series[r].insert(series[r].end(), values.begin(), values.end());
        }
    }
    check(cudaDeviceSynchronize());
    for (std::size_t b = 0; b < buffers.size(); ++b)
        if (buffers[b].output) write_npy(buffers[b], machine.copies[machine.current[b]][b]);
    for (std::size_t r = 0; r < records.size(); ++r) write_csv(records[r], series[r]);
    return 0;
}
