// What the tables of the program consist of; they stand at the end of kernels.cu.
#pragma once

#include <vector>

// What a kernel gets as an argument when it is launched.
enum class Kind {
    current, // the current copy of buffer `index`
    other,   // its other copy
    table,   // the bytes of the file table_`index`.bin
    scratch, // scratch[index]
    clock,   // for the first step of the pass: t, step, values that are the same in all cells
    steps,   // the steps of the pass
    series,  // where the value of record `index` goes
    number   // `index` itself
};

struct Argument {
    Kind kind;
    long long index;
};

struct Launch {
    const void* kernel;
    int threads[3];
    long long blocks;
    int shared_bytes;
    std::vector<Argument> arguments;
};

// Values of the cells: rows of `width` values, `pitch` apart.
struct Buffer {
    const char* name;
    int rank;
    long long shape[3];
    long long width, rows, pitch;
    int value_bytes;
    int copies;
    bool output;
    const char* data_file;       // the values, or null
    std::vector<Launch> initial; // computes them, or nothing: they are 0
};

struct Pass {
    long long every;
    std::vector<Launch> launches;
    std::vector<int> swapped; // buffers whose copies change places
};

struct Record {
    const char* name;
    long long every;
    std::vector<Launch> launches; // none: the pass does it
};

struct Scratch {
    long long values;
    double initial;
};

extern const std::vector<Buffer> buffers;
extern const std::vector<long long> table_bytes;
extern const std::vector<Scratch> scratch;
extern const std::vector<Pass> passes;
extern const std::vector<Record> records;
extern const long long steps_a_pass;
extern const long long default_steps;
extern const int clock_row;
extern const double dt;

// Writes the values of a step that are the same in all cells.
void uniforms(double t, long long step, double* values);
