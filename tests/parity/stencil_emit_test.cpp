// Emitted projects are built and run, and their files compared with the interpreter, bit for bit.
#include "backend/jit/process.h"
#include "effort.h"
#include "emulation/cuda_runtime_on_cpu.h"
#include "io/npy.h"
#include "stencil/run/emit.h"
#include "stencil/targets.h"
#include "unit/stencil/compiled.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace farfield {
namespace {

namespace fs = std::filesystem;

/// Fields of files, arrays along an axis, extrema and means; reads shape.npy.
const std::string files_text = R"(program files
grid g[x: 30, y: 20]
subdomain hills = data("shape.npy") > 0.25
field u on g : double, double-buffered = data("shape.npy")
field w on g : float
array sponge[x] on g = exp(-0.1*x)
array wall[y] on g = 1/(1 + y)
boundary u: mirror in x, clamp in y
update spread on hills:
    u = 0.25*(u[x-1] + u[x+1] + u[y-1] + u[y+1])*sponge + 0.01*wall
update count: w += cbrt(u)*sin(t)
step: spread, count every 2
record highest = max of u on hills every 3
record lowest = min of w
record mean_w = mean of w on hills every 2
output u, w at end
)";

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

class StencilEmit : public ::testing::Test {
protected:
    StencilEmit() {
        std::string name = (fs::temp_directory_path() / "farfield-emit-XXXXXX").string();
        folder_ = mkdtemp(name.data());
    }
    ~StencilEmit() override { fs::remove_all(folder_); }

    void emit(const fs::path& program, const std::vector<std::string>& parameters, std::int64_t steps) const {
        StencilEmitTask task;
        task.program = {program, parameters};
        task.folder = folder_;
        task.steps = steps;
        emit_stencil(task);
    }
    void write_shape() const {
        std::vector<double> values;
        for (int i = 0; i < 30 * 20; ++i) values.push_back(std::sin(0.37 * i));
        write_npy(folder_ / "shape.npy", values, {20, 30});
    }
    // Runs a command in the folder.
    void run(const std::string& command) const {
        const auto sh = jit::find_program("sh");
        ASSERT_TRUE(sh);
        const auto result =
            jit::run_process({sh->string(), "-c", "cd '" + folder_.string() + "' && " + command});
        ASSERT_EQ(result.exit_code, 0) << command << '\n' << result.output;
    }
    void build_by_hand() const {
        run("c++ -std=c++17 -Wall -Wextra -Werror -fopenmp -O2 -march=native -ffp-contract=off "
            "-fno-math-errno "
            "-fno-trapping-math -DDATA_FOLDER='\".\"' main.cpp program.cpp kernels.cpp -o run");
    }
    // Of a project for GPUs, so that its kernels run on the CPU.
    void build_for_cpu(const std::string& compiler) const {
        std::ofstream(folder_ / "cuda_runtime.h") << testing::cuda_runtime_on_cpu();
        std::ofstream(folder_ / "all.cpp")
            << "#include \"main.cu\"\n"
            << testing::with_registered_kernels(text_of(folder_ / "kernels.cu"));
        run(compiler + " -std=c++17 -Wall -Wextra -Werror -Wno-unknown-pragmas -Wno-unused -O0 "
                       "-ffp-contract=off -I. -DDATA_FOLDER='\".\"' all.cpp -o run");
    }
    // The files of a run of `steps` steps are what the interpreter gives.
    void compare(const std::string& text, const std::vector<stencil::ParameterValue>& parameters,
                 std::int64_t steps, stencil::Mask mask = stencil::Mask::spans) const {
        stencil::CompileOptions options;
        options.folder = folder_;
        const testing::Compiled program(text, options, parameters);
        const auto executor = program.start("interpreter", {.mask = mask});
        executor->advance(steps);
        for (const auto& output : program.model().outputs)
            for (const int field : output.fields) compare_field(*executor, field);
        const auto& records = executor->program().records;
        for (std::size_t r = 0; r < records.size(); ++r)
            EXPECT_EQ(series(records[r].name), executor->take_series(static_cast<int>(r))) << records[r].name;
    }

    fs::path folder_;

private:
    void compare_field(stencil::Executor& executor, int field) const {
        const auto& name = executor.program().buffers[static_cast<std::size_t>(field)].name;
        const auto found = read_npy(folder_ / (name + ".npy"));
        const auto& shape = executor.program().grids[0].shape;
        std::vector<double> expected(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
        executor.read(field, expected);
        ASSERT_EQ(found.values.size(), expected.size()) << name;
        for (std::size_t i = 0; i < expected.size(); ++i)
            ASSERT_EQ(std::bit_cast<std::uint64_t>(found.values[i]),
                      std::bit_cast<std::uint64_t>(expected[i]))
                << name << '[' << i << ']';
    }
    std::vector<double> series(const std::string& name) const {
        std::ifstream file(folder_ / (name + ".csv"));
        std::string line;
        std::getline(file, line);
        EXPECT_EQ(line, "step,t," + name);
        std::vector<double> values;
        while (std::getline(file, line))
            values.push_back(std::strtod(line.c_str() + line.rfind(',') + 1, nullptr));
        return values;
    }
};

fs::path example(const std::string& name) {
    return fs::path(FARFIELD_SOURCE_DIR) / "examples" / "stencil" / (name + ".ff");
}

TEST_F(StencilEmit, ProjectsBuildWithCMakeAndGiveTheSameBits) {
    emit(example("microdisk"), {"cells=192", "radius=90"}, 70);
    run("cmake -S . -B build && cmake --build build && build/run");
    compare(text_of(example("microdisk")),
            {{"cells", lang::Value(std::int64_t{192})}, {"radius", lang::Value(std::int64_t{90})}}, 70);
}

TEST_F(StencilEmit, EveryMaskGivesTheSameBits) {
    const auto text = text_of(example("microdisk"));
    for (const auto& [mask, word] :
         {std::pair(StencilMask::none, "const bool here = [&] {"), std::pair(StencilMask::select, "here ?"),
          std::pair(StencilMask::branch, "if (here)"), std::pair(StencilMask::multiply, "(1 - here) *")}) {
        SCOPED_TRACE(name_of(mask));
        StencilEmitTask task;
        task.program = {example("microdisk"), {"cells=160", "radius=70"}};
        task.folder = folder_;
        task.steps = 40;
        task.mask = mask;
        emit_stencil(task);
        EXPECT_NE(text_of(folder_ / "kernels.cpp").find(word), std::string::npos);
        if (test::fewer() && mask != StencilMask::none) continue; // what is built is not watched
        build_by_hand();
        run("./run");
        const std::vector<stencil::ParameterValue> parameters{{"cells", lang::Value(std::int64_t{160})},
                                                              {"radius", lang::Value(std::int64_t{70})}};
        compare(text, parameters, 40, static_cast<stencil::Mask>(mask));
    }
}

TEST_F(StencilEmit, TilesAreAGpusAndAreRefusedElsewhere) {
    StencilEmitTask task;
    task.program = {example("microdisk"), {}};
    task.folder = folder_;
    task.block = {32, 8, 0};
    EXPECT_THROW(emit_stencil(task), InvalidArgument);
    task.target = "cuda";
    task.mask = StencilMask::multiply;
    emit_stencil(task);
    const auto code = text_of(folder_ / "kernels.cu");
    EXPECT_NE(code.find("const double chosen = mask["), std::string::npos);
    EXPECT_NE(code.find("threadIdx.y"), std::string::npos);
}

TEST_F(StencilEmit, ProjectsForAGpuGiveTheSameBits) {
    StencilEmitTask task;
    task.program = {example("gray_scott"), {"n=40"}};
    task.folder = folder_;
    task.target = "cuda";
    task.steps = 11;
    emit_stencil(task);
    build_for_cpu("c++");
    run("./run");
    compare(text_of(example("gray_scott")), {{"n", lang::Value(std::int64_t{40})}}, 11);
}

TEST_F(StencilEmit, CopiesBoundariesAndMeans) {
    emit(example("gray_scott"), {"n=40"}, 1);
    build_by_hand();
    run("./run 200");
    compare(text_of(example("gray_scott")), {{"n", lang::Value(std::int64_t{40})}}, 200);
}

TEST_F(StencilEmit, ThreeDimensionsAndRecords) {
    emit(example("yee_cavity"), {}, 21);
    build_by_hand();
    run("./run");
    compare(text_of(example("yee_cavity")), {}, 21);
}

TEST_F(StencilEmit, FilesArraysFloatsAndExtrema) {
    write_shape();
    std::ofstream(folder_ / "source.ff") << files_text;
    emit(folder_ / "source.ff", {}, 17);
    build_by_hand();
    run("./run");
    compare(files_text, {}, 17);
}

// Names of the program that are words of C++, macros, functions of its library, or the printer's own.
TEST_F(StencilEmit, PrintsTheProgramsNamesWhateverTheyAre) {
    const std::string text = R"(program names
param gamma = 0.3, NAN = 0.25, int = 2.0, first = 0.125, constant = 1.5, E = 0.0625
let row = gamma*constant
grid g[x: 20, y: 9]
field call, uniform on g : float, double-buffered = x + 0.5*y
field drive on g = 1
boundary: mirror
update a:
    let value = sin(gamma*t)
    let here = call*first + uniform
    let mirrored = 0.5/(1 + here*here)
    let line = mirrored + here
    call = here*row - (1 - NAN)*call[x-1]*value
    uniform += int*E*here + gamma*row*drive + 0.001*mirrored*line*(uniform[x+1] - uniform[y-1])
    drive = drive*constant/3 + value
step: a
record total = sum of call*E + drive every 3
output call, uniform, drive at end
)";
    std::ofstream(folder_ / "source.ff") << text;
    emit(folder_ / "source.ff", {}, 9);
    const auto code = text_of(folder_ / "kernels.cpp");
    for (const auto* part : {"constexpr double row = ", "constant::row", "constexpr double gamma = 0.3;",
                             "one_minus_NAN = 0.75; // 1 - NAN"})
        EXPECT_NE(code.find(part), std::string::npos) << part;
    EXPECT_EQ(code.find("0.3", code.find("} // namespace constant")), std::string::npos)
        << "a parameter as a number";
    build_by_hand();
    run("./run");
    compare(text, {}, 9);
}

class StencilEmitMpi : public StencilEmit {
protected:
    void SetUp() override {
        if (!jit::find_program("mpicxx") || !jit::find_program("mpirun"))
            GTEST_SKIP() << "there is no MPI here";
    }
    void emit_and_build(const fs::path& program, const std::vector<std::string>& parameters,
                        std::int64_t steps) const {
        StencilEmitTask task;
        task.program = {program, parameters};
        task.folder = folder_;
        task.target = "mpi";
        task.steps = steps;
        emit_stencil(task);
        run("mpicxx -std=c++17 -Wall -Wextra -Werror -fopenmp -O0 -march=native -ffp-contract=off "
            "-fno-math-errno "
            "-fno-trapping-math -DOMPI_SKIP_MPICXX -DDATA_FOLDER='\".\"' main.cpp program.cpp kernels.cpp -o "
            "run");
    }
    // The bits of the interpreter on each of some numbers of ranks.
    void compare_on(std::initializer_list<int> numbers, const std::string& text,
                    const std::vector<stencil::ParameterValue>& parameters, std::int64_t steps) const {
        for (const int ranks : numbers) {
            SCOPED_TRACE(ranks);
            run("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1 "
                "OMPI_MCA_mpi_yield_when_idle=1 "
                "mpirun --oversubscribe -n " +
                std::to_string(ranks) + " ./run");
            compare(text, parameters, steps);
            run("rm -f *.csv; for f in *.npy; do case $f in shape.npy) ;; *) rm $f ;; esac; done");
        }
    }
};

TEST_F(StencilEmitMpi, RanksGiveTheBitsOfTheInterpreter) {
    emit_and_build(example("microdisk"), {"cells=192", "radius=90"}, 70);
    compare_on({3, 5}, text_of(example("microdisk")),
               {{"cells", lang::Value(std::int64_t{192})}, {"radius", lang::Value(std::int64_t{90})}}, 70);
}

TEST_F(StencilEmitMpi, CopiesAndPeriodicBoundaries) {
    emit_and_build(example("gray_scott"), {"n=40"}, 100);
    compare_on({8}, text_of(example("gray_scott")), {{"n", lang::Value(std::int64_t{40})}}, 100);
}

TEST_F(StencilEmitMpi, PlanesAndRowsOfThreeDimensions) {
    emit_and_build(example("yee_cavity"), {}, 21);
    compare_on({7}, text_of(example("yee_cavity")), {}, 21);
}

TEST_F(StencilEmitMpi, FilesArraysFloatsAndExtrema) {
    write_shape();
    std::ofstream(folder_ / "source.ff") << files_text;
    emit_and_build(folder_ / "source.ff", {}, 17);
    compare_on({2, 30}, files_text, {}, 17); // more ranks than rows
}

TEST_F(StencilEmitMpi, AGridOfOneAxisStaysOnOneRank) {
    emit_and_build(example("drude_slab"), {}, 30);
    compare_on({3}, text_of(example("drude_slab")), {}, 30);
}

TEST_F(StencilEmitMpi, ProjectsBuildWithCMake) {
    StencilEmitTask task;
    task.program = {example("life"), {}};
    task.folder = folder_;
    task.target = "mpi";
    task.steps = 12;
    emit_stencil(task);
    run("cmake -S . -B build && cmake --build build && mv build/run run");
    compare_on({3}, text_of(example("life")), {}, 12);
}

/// Projects for the GPUs of ranks, run on CPUs.
class StencilEmitMpiCuda : public StencilEmitMpi {
protected:
    void emit_and_build(const fs::path& program, const std::vector<std::string>& parameters,
                        std::int64_t steps, StencilMask mask = StencilMask::automatic) const {
        StencilEmitTask task;
        task.program = {program, parameters};
        task.folder = folder_;
        task.target = "mpi-cuda";
        task.steps = steps;
        task.mask = mask;
        emit_stencil(task);
        build_for_cpu("mpicxx -DOMPI_SKIP_MPICXX");
    }
};

TEST_F(StencilEmitMpiCuda, RanksGiveTheBitsOfTheInterpreter) {
    for (const auto mask : {StencilMask::none, StencilMask::branch}) {
        SCOPED_TRACE(name_of(mask));
        emit_and_build(example("microdisk"), {"cells=160", "radius=70"}, 60, mask);
        compare_on({1, 3}, text_of(example("microdisk")),
                   {{"cells", lang::Value(std::int64_t{160})}, {"radius", lang::Value(std::int64_t{70})}},
                   60);
    }
}

TEST_F(StencilEmitMpiCuda, CopiesAndPeriodicBoundaries) {
    emit_and_build(example("gray_scott"), {"n=40"}, 20);
    compare_on({5}, text_of(example("gray_scott")), {{"n", lang::Value(std::int64_t{40})}}, 20);
}

TEST_F(StencilEmitMpiCuda, PlanesAndRowsOfThreeDimensions) {
    emit_and_build(example("yee_cavity"), {}, 11);
    compare_on({3}, text_of(example("yee_cavity")), {}, 11);
}

TEST_F(StencilEmitMpiCuda, FilesArraysFloatsAndExtrema) {
    write_shape();
    std::ofstream(folder_ / "source.ff") << files_text;
    emit_and_build(folder_ / "source.ff", {}, 17);
    compare_on({2, 22}, files_text, {}, 17); // more ranks than rows
}

TEST_F(StencilEmitMpiCuda, CellsThatAreRecordedStayWithTheirRank) {
    emit_and_build(example("acoustics"), {}, 5);
    compare_on({3}, text_of(example("acoustics")), {}, 5);
}

TEST_F(StencilEmitMpiCuda, AGridOfOneAxisStaysOnOneRank) {
    emit_and_build(example("drude_slab"), {}, 30);
    compare_on({3}, text_of(example("drude_slab")), {}, 30);
}

TEST_F(StencilEmit, RefusesUnknownTargets) {
    StencilEmitTask task;
    task.program.input = example("life");
    task.target = "fpga";
    EXPECT_THROW(emit_stencil(task), InvalidArgument);
}

} // namespace
} // namespace farfield
