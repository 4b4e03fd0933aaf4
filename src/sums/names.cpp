// The names of the options of a sum.
#include "base/names.h"
#include "base/text.h"
#include "sums/method/method.h"

#include <farfield/error.h>
#include <farfield/sum_options.h>

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace farfield {
namespace {

constexpr NameTable<output_count> output_names{"potential", "field", "gradient", "hessian"};
constexpr NameTable<4> precision_names{"float", "double", "mixed", "auto"};
constexpr NameTable<5> isa_names{"auto", "scalar", "sse4.2", "avx2", "avx512"};
constexpr std::string_view automatic_method = "auto"; // the others stand in the table of methods
constexpr NameTable<2> coincident_names{"error", "skip"};
constexpr NameTable<2> self_term_names{"include", "exclude"};
constexpr NameTable<2> boundary_names{"tin-foil", "vacuum"};
constexpr NameTable<2> background_names{"none", "uniform"};
constexpr NameTable<2> relative_to_names{"max", "sum"};
constexpr NameTable<4> m2l_names{"auto", "mirrored", "rotation", "matrix"};
constexpr NameTable<5> strategy_names{"auto", "grid", "pairs", "clusters", "boxes"};
constexpr NameTable<23> variant_names{
    "auto",         "naive",           "soa",           "simd",          "symmetric",     "one-thread",
    "constant",     "rsqrt",           "shared",        "unrolled",      "softened",      "fma",
    "unrolled-128", "flush",           "two-loops",     "atomics",       "atomics-tiled", "fast-math",
    "float4",       "atomics-pointer", "atomics-index", "register-tile", "tensor"};
constexpr NameTable<2> multi_gpu_names{"threads", "single"};
constexpr NameTable<5> exchange_names{"auto", "host", "mapped", "write-combined", "peer"};
constexpr NameTable<3> mpi_gpu_names{"auto", "on", "off"};

// Names that stand in the rows of a table.
template <class Rows>
std::vector<std::string_view> names_of_rows(const Rows& rows) {
    std::vector<std::string_view> names;
    for (const auto* row : rows) names.push_back(row->name);
    return names;
}

template <class Enum, class Rows>
std::optional<Enum> value_of_row(const Rows& rows, std::string_view name) {
    for (const auto* row : rows)
        if (row->name == name) return row->value;
    return std::nullopt;
}

} // namespace

std::string_view name_of(Kernel kernel) { return kernel_info(kernel).name; }
std::string_view name_of(Method method) {
    return method == Method::automatic ? automatic_method : method_info(method).name;
}

template <>
std::optional<Kernel> from_name<Kernel>(std::string_view name) {
    return value_of_row<Kernel>(kernels(), name);
}
template <>
std::vector<std::string_view> names_of<Kernel>() {
    return names_of_rows(kernels());
}
template <>
std::optional<Method> from_name<Method>(std::string_view name) {
    return name == automatic_method ? Method::automatic : value_of_row<Method>(methods(), name);
}
template <>
std::vector<std::string_view> names_of<Method>() {
    auto names = names_of_rows(methods());
    names.push_back(automatic_method);
    return names;
}

std::string name_of(OutputSet outputs) {
    std::string out;
    for (int k = 0; k < output_count; ++k)
        if (const auto output = static_cast<Output>(k); outputs.has(output))
            out.append(out.empty() ? "" : ",").append(name_of(output));
    return out;
}

OutputSet outputs_from_names(std::string_view names) {
    OutputSet set;
    for (std::size_t start = 0; start <= names.size();) {
        const auto comma = std::min(names.find(',', start), names.size());
        const auto name = names.substr(start, comma - start);
        const auto output = from_name<Output>(name);
        if (!output)
            throw InvalidArgument(
                fmt::format("output '{}' is not known{}", name, suggestion(name, names_of<Output>())));
        set |= *output;
        start = comma + 1;
    }
    return set;
}

FF_DEFINE_ENUM_NAMES(Output, output_names)
FF_DEFINE_ENUM_NAMES(Precision, precision_names)
FF_DEFINE_ENUM_NAMES(Isa, isa_names)
FF_DEFINE_ENUM_NAMES(Coincident, coincident_names)
FF_DEFINE_ENUM_NAMES(SelfTerm, self_term_names)
FF_DEFINE_ENUM_NAMES(Boundary, boundary_names)
FF_DEFINE_ENUM_NAMES(Background, background_names)
FF_DEFINE_ENUM_NAMES(RelativeTo, relative_to_names)
FF_DEFINE_ENUM_NAMES(M2L, m2l_names)
FF_DEFINE_ENUM_NAMES(GaussStrategy, strategy_names)
FF_DEFINE_ENUM_NAMES(Variant, variant_names)
FF_DEFINE_ENUM_NAMES(MultiGpu, multi_gpu_names)
FF_DEFINE_ENUM_NAMES(Exchange, exchange_names)
FF_DEFINE_ENUM_NAMES(MpiGpu, mpi_gpu_names)

} // namespace farfield
