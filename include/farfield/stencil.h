// Stencil programs: fields on a grid, advanced step by step. docs/guide/stencil-language.md has the language.
//
//     farfield::StencilRun run(farfield::StencilProgram::from_file("microdisk.ff", {{"cells", 256}}));
//     run.advance(1000);
//     const auto energy = run.field("energy"); // energy(y, x)
#pragma once

#include <farfield/communicator.h>
#include <farfield/device.h>
#include <farfield/error.h>
#include <farfield/sum.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace farfield {

/// How cells outside a subdomain are left alone; the results are the same bits, except that `multiply`, which
/// stores m·new + (1 − m)·old with m 0 or 1, may turn −0 into +0 and infinities and NaN into NaN.
enum class StencilMask : std::uint8_t { automatic, none, select, branch, spans, multiply };
std::string_view name_of(StencilMask mask);
template <>
std::optional<StencilMask> from_name<StencilMask>(std::string_view name);
template <>
std::vector<std::string_view> names_of<StencilMask>();

/// A value of a parameter of a program.
using StencilValue = std::variant<bool, std::int64_t, double>;

/// A value for a parameter from outside, as `--set` gives it.
struct StencilParameter {
    std::string name;
    StencilValue value;

    StencilParameter(std::string parameter, bool v) : name(std::move(parameter)), value(v) {}
    StencilParameter(std::string parameter, int v) : name(std::move(parameter)), value(std::int64_t{v}) {}
    StencilParameter(std::string parameter, std::int64_t v) : name(std::move(parameter)), value(v) {}
    StencilParameter(std::string parameter, double v) : name(std::move(parameter)), value(v) {}
};
using StencilParameters = std::vector<StencilParameter>;

/// Reads "name=value". @throws InvalidArgument where it is none.
StencilParameter stencil_parameter(std::string_view assignment);

/// A program with mistakes. what() has all messages, each with its line, and a count at the end.
class StencilError : public CompileError {
public:
    StencilError(std::string all_messages, std::string count)
        : CompileError(all_messages + count), messages_(std::move(all_messages)), summary_(std::move(count)) {
    }
    [[nodiscard]] const std::string& messages() const { return messages_; }
    /// "microdisk.ff: 2 errors"
    [[nodiscard]] const std::string& summary() const { return summary_; }

private:
    std::string messages_;
    std::string summary_;
};

/// A program whose syntax, names and types are right, with all parameters bound. Cheap to copy.
class StencilProgram {
public:
    /// Names of image and data files in the program are relative to its folder.
    /// @throws StencilError for mistakes of the program, IoError.
    static StencilProgram from_file(const std::filesystem::path& path,
                                    const StencilParameters& parameters = {});
    /// @param name what messages call the text. @param folder where names of files in it start.
    static StencilProgram from_text(std::string text, const StencilParameters& parameters = {},
                                    const std::string& name = "program",
                                    const std::filesystem::path& folder = {});

    /// The name after `program`, or that of the file without its extension.
    [[nodiscard]] const std::string& name() const;
    /// Where relative names of files in the program start.
    [[nodiscard]] const std::filesystem::path& folder() const;
    /// Warnings with their lines; empty where there are none.
    [[nodiscard]] const std::string& warnings() const;
    /// The program as it is printed, without remarks. The same program gives the same text.
    [[nodiscard]] std::string text() const;
    /// Every parameter with its value, in the order of declaration.
    [[nodiscard]] StencilParameters parameters() const;
    /// The parameters whose values were given from outside.
    [[nodiscard]] StencilParameters given_parameters() const;
    /// The same program with other values for parameters, also for those given before. Throws as from_text.
    [[nodiscard]] StencilProgram with(const StencilParameters& parameters) const;
    [[nodiscard]] std::vector<std::string> fields() const;
    [[nodiscard]] std::vector<std::string> records() const;
    /// Length of a step.
    [[nodiscard]] double dt() const;
    /// Steps that `time steps = …` or `time end = …` ask for; none where the program has neither.
    [[nodiscard]] std::optional<std::int64_t> steps() const;

    struct Data;
    [[nodiscard]] const std::shared_ptr<const Data>& data() const { return data_; }

private:
    explicit StencilProgram(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
    std::shared_ptr<const Data> data_;
};

struct StencilOptions {
    /// auto, interpreter, cpu, cuda. `auto` is cuda where there is a GPU, else cpu; where a GPU has too
    /// little memory it takes cpu, and without a compiler the interpreter, with a note. Another target is
    /// used or refused. Results are the same bits.
    std::string target = "auto";
    int device = 0;                     ///< GPU, CUDA's number
    MpiGpu mpi_gpu = MpiGpu::automatic; ///< of ranks that have a GPU each
    StencilMask mask = StencilMask::automatic;
    int threads = 0;   ///< 0: all
    int time_tile = 0; ///< steps a pass over memory; 0: chosen, 1: none
    /// 0: chosen. GPU: cells of a tile, x y z, or threads of a block where updates are not fused. CPU: the
    /// last, rows (3D: planes) of a kernel at a time.
    std::array<int, 3> block{};
    bool allow_unstable = false; ///< run programs whose Courant number lets fields grow without bound
    /// Ranks that share the grid: each computes its part, and the same bits as one alone.
    Communicator communicator{};
};

/// Names for StencilOptions::target.
std::vector<std::string_view> stencil_targets();

/// Values of a field, x fastest: shape is (z, y, x) without the axes that the grid lacks.
struct StencilField {
    std::vector<std::int64_t> shape;
    std::vector<double> values;

    /// The value at indices in the order of the shape: field(y, x). Not checked.
    template <class... Indices>
    double operator()(Indices... indices) const {
        std::int64_t at = 0;
        std::size_t axis = 0;
        for (const std::int64_t index : {static_cast<std::int64_t>(indices)...})
            at = at * shape[axis++] + index;
        return values[static_cast<std::size_t>(at)];
    }
};

/// A record: values[i] was taken after the step that ends at times[i].
struct StencilSeries {
    std::vector<double> times;
    std::vector<double> values;
};

/// A program in memory, ready to take steps.
class StencilRun {
public:
    /// Analyses, compiles, and sets the fields to their initial values.
    /// @throws StencilError where the analysis finds a mistake (an access outside a field, say),
    ///         InvalidArgument for options, BackendUnavailable, DeviceError, IoError.
    explicit StencilRun(const StencilProgram& program, const StencilOptions& options = {});
    StencilRun(StencilRun&&) noexcept;
    StencilRun& operator=(StencilRun&&) noexcept;
    ~StencilRun();

    /// Takes `steps` ≥ 0 steps. Looks at the end, and every 512 steps (4,096 on a GPU), for values that are
    /// not finite. @throws InvalidArgument, DeviceError; Error naming such a field, its cell and the steps.
    void advance(std::int64_t steps);
    /// The same, but asks about every tenth of a second, and leaves the steps that are left where the answer
    /// is true; on several ranks that of any, for all.
    void advance(std::int64_t steps, const std::function<bool()>& stop_requested);
    /// Goes on to the end that the program names. @throws InvalidArgument where it names none.
    void run();

    /// Steps taken.
    [[nodiscard]] std::int64_t step() const;
    /// step()·dt.
    [[nodiscard]] double time() const;
    /// A copy of a field. @throws InvalidArgument where there is none of that name.
    [[nodiscard]] StencilField field(std::string_view name);
    /// Replaces a field: as many values as field(name) has, in its order; floats are rounded.
    /// @throws InvalidArgument for another number of values, or one that is not finite.
    void set_field(std::string_view name, std::span<const double> values);
    /// Everything recorded so far. @throws InvalidArgument where there is none of that name.
    [[nodiscard]] StencilSeries series(std::string_view name);

    [[nodiscard]] const StencilProgram& program() const;
    /// What computes: "cpu, g++ 12.2, spans, 4 steps a pass".
    [[nodiscard]] const std::string& description() const;
    /// Warnings of the analysis, and that a compiler is missing.
    [[nodiscard]] const std::vector<std::string>& notes() const;

private:
    friend struct StencilRunAccess;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace farfield
