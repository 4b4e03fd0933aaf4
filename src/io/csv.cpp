// Tables of numbers as comma-separated text.
#include "io/csv.h"

#include "base/text.h"
#include "io/file.h"
#include "io/messages.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace farfield {
namespace {

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string_view unquoted(std::string_view text) {
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') return text.substr(1, text.size() - 2);
    return text;
}

// from_chars refuses a number too small for a double; it is zero, as everywhere else.
bool underflows(std::string_view text) {
    const auto exponent = text.find_first_of("eE");
    if (exponent != std::string_view::npos) return text.substr(exponent + 1).starts_with('-');
    return text.starts_with("0.") || text.starts_with(".");
}

bool parse_number(std::string_view text, double& value) {
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    const auto* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    if (result.ptr != end || text.empty()) return false;
    if (result.ec == std::errc::result_out_of_range && underflows(text.substr(text.starts_with('-') ? 1 : 0)))
        value = text.starts_with('-') ? -0.0 : 0.0;
    else if (result.ec != std::errc{})
        return false;
    return true;
}

class CsvReader {
public:
    CsvReader(std::string_view text, std::string_view file, std::span<const std::string_view> wanted)
        : text_(text), file_(file), wanted_(wanted) {
        if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
    }

    Table read() {
        std::string_view line;
        if (!next_line(line))
            throw InvalidArgument(
                fmt::format("{}: the file is empty; a header line of column names and rows of numbers are "
                            "needed",
                            file_));
        read_header(line);
        while (next_line(line)) read_row(line);
        return std::move(table_);
    }

private:
    static constexpr std::ptrdiff_t skipped = -1;

    // The next line that is neither blank nor a comment.
    bool next_line(std::string_view& line) {
        while (at_ < text_.size()) {
            const auto end = std::min(text_.find('\n', at_), text_.size());
            line = trimmed(text_.substr(at_, end - at_));
            at_ = end + 1;
            ++number_;
            if (!line.empty() && line.front() != '#') return true;
        }
        return false;
    }

    // Calls visit(index, field) for each field of a line; returns how many there were.
    template <class Visit>
    std::size_t for_each_field(std::string_view line, Visit visit) const {
        std::size_t index = 0;
        for (std::size_t begin = 0; begin <= line.size(); ++index) {
            const auto end = std::min(line.find(separator_, begin), line.size());
            visit(index, trimmed(line.substr(begin, end - begin)));
            begin = end + 1;
        }
        return index;
    }

    void read_header(std::string_view line) {
        header_ = line;
        if (line.find(',') == std::string_view::npos && line.find(';') != std::string_view::npos)
            separator_ = ';';
        for_each_field(line, [&](std::size_t index, std::string_view field) {
            const auto name = asked_for(unquoted(field));
            double number = 0;
            if (name.empty() && wanted_.empty())
                fail(fmt::format("column {} of the header has no name", index + 1));
            if (parse_number(name, number))
                fail(fmt::format(
                    "the header names {}, which is a number; the first line names the columns, such as "
                    "x,y,z,q (numpy.savetxt: header='x,y,z,q', comments='')",
                    printable(name)));
            if (is_wanted(name) &&
                std::find(table_.names.begin(), table_.names.end(), name) != table_.names.end())
                fail(fmt::format("column {} is named twice; give each column its own name", printable(name)));
            place_.push_back(is_wanted(name) ? static_cast<std::ptrdiff_t>(table_.names.size()) : skipped);
            (is_wanted(name) ? table_.names : table_.ignored).emplace_back(name);
        });
        table_.columns.resize(table_.names.size());
    }

    void read_row(std::string_view line) {
        const auto count = for_each_field(line, [&](std::size_t index, std::string_view field) {
            double value = 0;
            if (index >= place_.size() || place_[index] == skipped)
                return; // too many are reported once all are counted
            const auto column = static_cast<std::size_t>(place_[index]);
            if (!parse_number(unquoted(field), value))
                fail(fmt::format(
                    "column {}: {} is not a number that a double can hold; write it like 1.5 or -2e-3",
                    printable(table_.names[column]), printable(field)));
            table_.columns[column].push_back(value);
        });
        if (count != place_.size())
            fail(fmt::format(
                "{} values where the header names {} columns ({}); every row needs one value a column", count,
                place_.size(), printable(header_)));
        table_.lines.push_back(number_);
    }

    [[nodiscard]] bool is_wanted(std::string_view name) const {
        return wanted_.empty() || std::find(wanted_.begin(), wanted_.end(), name) != wanted_.end();
    }

    // The wanted name that this is but for capitals.
    [[nodiscard]] std::string_view asked_for(std::string_view name) const {
        const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
        for (const auto wanted : wanted_)
            if (std::equal(name.begin(), name.end(), wanted.begin(), wanted.end(), same)) return wanted;
        return name;
    }

    [[noreturn]] void fail(std::string_view what) const {
        throw InvalidArgument(fmt::format("{}: line {}: {}", file_, number_, what));
    }

    std::string_view text_;
    std::string_view file_;
    std::size_t at_ = 0;
    std::int64_t number_ = 0;
    char separator_ = ',';
    std::string_view header_;
    std::span<const std::string_view> wanted_;
    std::vector<std::ptrdiff_t> place_; // of each column of the file in the table
    Table table_;
};

void append_number(std::string& out, double value) {
    if (std::isnan(value)) { // its sign depends on the machine
        out += "nan";
        return;
    }
    std::array<char, 32> buffer{};
    const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    out.append(buffer.data(), result.ptr);
}

} // namespace

const std::vector<double>* Table::find(std::string_view name) const {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return nullptr;
    return &columns[static_cast<std::size_t>(found - names.begin())];
}

Table parse_csv(std::string_view text, std::string_view name, std::span<const std::string_view> wanted) {
    return CsvReader(text, name, wanted).read();
}

Table read_csv(const std::filesystem::path& path, std::span<const std::string_view> wanted) {
    const auto bytes = read_file(path);
    return parse_csv(as_text(bytes), path.string(), wanted);
}

std::string format_csv_row(std::span<const double> values) {
    std::string out;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i > 0) out += ',';
        append_number(out, values[i]);
    }
    return out;
}

std::string format_csv(const Table& table) {
    if (table.names.size() != table.columns.size())
        throw InvalidArgument(fmt::format("a table with {} names and {} columns; give one name a column",
                                          table.names.size(), table.columns.size()));
    for (std::size_t c = 0; c < table.columns.size(); ++c)
        if (table.columns[c].size() != table.columns[0].size())
            throw InvalidArgument(fmt::format(
                "column '{}' of a table has {} rows, '{}' has {}; make them equal", table.names[c],
                table.columns[c].size(), table.names[0], table.columns[0].size()));
    std::string out = fmt::format("{}\n", joined(table.names, ","));
    for (std::size_t row = 0; row < static_cast<std::size_t>(table.rows()); ++row)
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            append_number(out, table.columns[c][row]);
            out += c + 1 < table.columns.size() ? ',' : '\n';
        }
    return out;
}

} // namespace farfield
