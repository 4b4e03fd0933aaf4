// Collects generated CUDA C++, indented by its braces, with the tables that go with it.
#pragma once

#include "stencil/codegen/cuda/plan.h"
#include "stencil/codegen/expressions.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace farfield::stencil::codegen::cuda {

class Text {
public:
    void add(std::string_view line) { lines_.emplace_back(line); }
    template <class... Arguments>
    void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        add(fmt::format(format, std::forward<Arguments>(arguments)...));
    }
    void blank() { add({}); }
    void append(const Text& other);
    /// Lines indented by the braces at their ends, broken after 110 characters where they have commas.
    std::string str() const;

private:
    std::vector<std::string> lines_;
};

/// Parameters of a kernel beside the arguments that it gets.
struct Parameters {
    std::vector<std::string> declarations;
    std::vector<std::string> names;
    std::vector<Argument> arguments;
    void add(const std::string& type, const std::string& name, ArgumentKind kind, std::int64_t index = 0);
    std::string declaration() const; ///< "const double* a, int b"
    std::string call() const;        ///< "a, b"
};

/// What the printers of the forms share.
struct PrintJob {
    const ir::Program& program;
    const ExecutorOptions& options;
    Mask mask;
    Plan& plan;
    Text& text;
    Needs& needs;
    bool by_rows; ///< PlanUse
    /// The same with another text and mask.
    [[nodiscard]] PrintJob into(Text& other, Mask of) const {
        return {program, options, of, plan, other, needs, by_rows};
    }
};

/// "Ex_now", "Ex_next": no name of a program can clash with what generated code calls its own.
std::string now(const ir::Buffer& buffer);
std::string next(const ir::Buffer& buffer);
/// "Ex_computed", the value that a kernel stores; nothing else ends so.
std::string computed(const ir::Buffer& buffer);

/// The parameters of kernels that take rows.
void add_row_parameters(Parameters& parameters);

int add_table(Plan& plan, std::string name, const void* data, std::size_t bytes);

/// The cells of a grid that are in memory: all, or of a rank whole rows, from the first to the last row and
/// from the first to the last plane in which it holds any.
ir::CellBox in_memory(const ir::Program& program, int grid);

/// Rows between planes of buffers that have a value for each cell.
std::int64_t rows_a_plane(const ir::Program& program, int grid);

BufferLayout layout_of(const ir::Program& program, const ir::Buffer& buffer);

/// Values between rows of buffers that have a value for each cell.
std::int64_t pitch_of(const ir::Program& program, int grid);

/// "int", or "long long" where a grid is too large for it.
std::string_view index_type(const ir::Program& program);

} // namespace farfield::stencil::codegen::cuda
