#include "io/columns.h"

#include "base/text.h"
#include "io/messages.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace farfield {

std::string known_extension(const std::filesystem::path& path, std::span<const std::string_view> known) {
    auto extension = path.extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (std::find(known.begin(), known.end(), extension) == known.end())
        throw InvalidArgument(fmt::format("{}: the extension {} tells no file format; allowed are {}",
                                          path.string(), printable(extension), list_of_words(known)));
    return extension;
}

namespace {

// The column that may have been meant.
std::string nearest_ignored(const Table& table, std::string_view name) {
    const std::vector<std::string_view> ignored(table.ignored.begin(), table.ignored.end());
    const auto nearest = nearest_word(name, ignored);
    return nearest.empty() ? "" : fmt::format("; is {} meant?", printable(nearest));
}

} // namespace

std::vector<double> take_columns(const Table& table, std::span<const std::string_view> wanted,
                                 const std::string& file) {
    std::vector<const std::vector<double>*> columns;
    for (auto name : wanted) {
        columns.push_back(table.find(name));
        if (columns.back() == nullptr)
            throw InvalidArgument(
                fmt::format("{}: there is no column '{}'; the header must name {}, in any order{}", file,
                            name, joined(wanted, ","), nearest_ignored(table, name)));
    }
    const auto rows = static_cast<std::size_t>(table.rows());
    if (rows == 0)
        throw InvalidArgument(
            fmt::format("{}: there are no rows after the header; at least one is needed", file));
    std::vector<double> matrix;
    matrix.reserve(rows * wanted.size());
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t c = 0; c < wanted.size(); ++c) {
            const double value = (*columns[c])[row];
            if (!std::isfinite(value))
                throw InvalidArgument(
                    fmt::format("{}: line {}: column '{}' is {}; finite numbers are needed: correct or "
                                "remove that row",
                                file, table.lines[row], wanted[c], value));
            matrix.push_back(value);
        }
    return matrix;
}

void require_matrix(const NpyArray& array, std::int64_t columns, std::string_view what,
                    const std::string& file) {
    if (array.shape.size() != 2 || array.shape[1] != columns || array.shape[0] == 0)
        throw InvalidArgument(fmt::format("{}: its shape is ({}{}); (N, {}) with N at least 1 is needed: {}",
                                          file, joined(array.shape, ", "), array.shape.size() == 1 ? "," : "",
                                          columns, what));
    for (std::size_t i = 0; i < array.values.size(); ++i)
        if (!std::isfinite(array.values[i]))
            throw InvalidArgument(
                fmt::format("{}: row {}, column {} (counted from 0) is {}; finite numbers are needed: "
                            "correct or remove that row",
                            file, static_cast<std::int64_t>(i) / columns,
                            static_cast<std::int64_t>(i) % columns, array.values[i]));
}

} // namespace farfield
