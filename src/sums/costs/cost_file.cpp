#include "sums/costs/cost_file.h"

#include "base/text.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

namespace farfield {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view format_line = "format = 1";
constexpr std::uintmax_t largest_file = 1U << 20U;
constexpr std::string_view cost_file_remedy =
    "run `farfield tune` to write the file anew, or delete it to go back to the shipped table";

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// A piece of a file as it may stand in a message: short, and nothing but printable ASCII.
std::string shown(std::string_view text) {
    constexpr std::size_t most = 80;
    std::string out(text.substr(0, most));
    std::replace_if(
        out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return text.size() > most ? out + "…" : out;
}

class Reader {
public:
    Reader(std::string_view text, std::string_view label) : rest_(text), label_(label) {}

    CostTable read() {
        while (!rest_.empty()) {
            const auto end = std::min(rest_.find('\n'), rest_.size());
            ++line_;
            take(trimmed(rest_.substr(0, end)));
            rest_.remove_prefix(std::min(end + 1, rest_.size()));
        }
        if (!format_seen_) refuse(fmt::format("the line '{}' is missing", format_line));
        return std::move(table_);
    }

private:
    [[noreturn]] void refuse(const std::string& what) const {
        throw InvalidArgument(
            fmt::format("{}:{}: {}; {}", label_, std::max<std::size_t>(line_, 1), what, cost_file_remedy));
    }

    void take(std::string_view line) {
        if (line.empty() || line.front() == '#') return;
        const auto equals = line.find('=');
        if (equals == std::string_view::npos) refuse(fmt::format("'{}' is not 'name = value'", shown(line)));
        const auto name = trimmed(line.substr(0, equals));
        const auto value = trimmed(line.substr(equals + 1));
        if (!format_seen_) {
            if (name != "format")
                refuse(fmt::format("'{}' stands before the line '{}'", shown(name), format_line));
            if (value != "1")
                refuse(fmt::format("its format is {}, this version of Farfield reads 1", shown(value)));
            format_seen_ = true;
            return;
        }
        check_name(name);
        if (!table_.costs.emplace(name, number(name, value)).second)
            refuse(fmt::format("'{}' is there twice", shown(name)));
    }

    // Models of GPUs are open; all other words of a name are those of the shipped table.
    void check_name(std::string_view name) const {
        static const CostTable known = shipped_cost_table();
        auto generic = std::string(name);
        auto start = generic.starts_with("gpu.") ? 4 : generic.find(".gpu.");
        if (start != std::string::npos) {
            if (start != 4) start += 5;
            const auto model = generic.substr(start, generic.find('.', start) - start);
            if (model != cost_word(model) || model.empty())
                refuse(fmt::format("'{}' is no model of a GPU: it must consist of a-z, 0-9 and _",
                                   shown(model)));
            generic.replace(start, model.size(), "generic");
        }
        if (known.costs.contains(generic)) return;
        std::vector<std::string_view> names;
        for (const auto& [one, value] : known.costs) names.push_back(one);
        const auto near = name.size() < 100 ? nearest_word(name, names) : std::string_view();
        refuse(fmt::format("'{}' is not known{}", shown(name),
                           near.empty() ? "" : fmt::format(", did you mean '{}'?", near)));
    }

    [[nodiscard]] double number(std::string_view name, std::string_view text) const {
        double value = 0.0;
        const auto* end = text.data() + text.size();
        const auto result = std::from_chars(text.data(), end, value);
        if (result.ec != std::errc() || result.ptr != end || !std::isfinite(value) || value <= 0.0)
            refuse(fmt::format("{} = {} is not allowed: it must be a finite number above 0", shown(name),
                               shown(text)));
        return value;
    }

    std::string_view rest_, label_;
    std::size_t line_ = 0;
    bool format_seen_ = false;
    CostTable table_;
};

std::atomic<bool> stays_with_shipped = false;

CostTableInUse shipped_in_use() {
    auto table = shipped_cost_table();
    auto hash = hash_of(table);
    return {std::move(table), std::move(hash), {}};
}

fs::path variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

} // namespace

std::string cost_file_text(const CostTable& table, std::string_view comment) {
    std::string out;
    while (!comment.empty()) {
        const auto end = std::min(comment.find('\n'), comment.size());
        out += fmt::format("# {}\n", comment.substr(0, end));
        comment.remove_prefix(std::min(end + 1, comment.size()));
    }
    return fmt::format("{}{}\n{}", out, format_line, to_text(table));
}

CostTable parse_cost_file(std::string_view text, std::string_view label) {
    return Reader(text, label).read();
}

CostTable read_cost_file(const fs::path& path) {
    const auto fail = [&](std::string_view why) {
        throw IoError(
            fmt::format("the cost table {} cannot be read: {}; {}", path.string(), why, cost_file_remedy));
    };
    std::error_code problem;
    if (!fs::is_regular_file(path, problem)) fail(problem ? problem.message() : "it is no file");
    if (fs::file_size(path, problem) > largest_file) fail("it is larger than any cost table");
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file) fail(std::generic_category().message(errno != 0 ? errno : EIO));
    return parse_cost_file(text, path.string());
}

fs::path user_cost_file() {
    if (auto path = variable("FARFIELD_COST_TABLE"); !path.empty()) return path;
    const auto in_folder = fs::path("farfield") / "cost_table.toml";
    if (auto path = variable("XDG_CONFIG_HOME"); !path.empty()) return path / in_folder;
    if (auto path = variable("HOME"); !path.empty()) return path / ".config" / in_folder;
    return {};
}

void stay_with_shipped_costs() { stays_with_shipped = true; }

CostTableInUse load_cost_table() {
    if (stays_with_shipped) return shipped_in_use();
    const auto path = user_cost_file();
    std::error_code ignored; // a folder that this process may not enter holds no file of its user
    if (path.empty() || !fs::exists(path, ignored)) {
        if (!variable("FARFIELD_COST_TABLE").empty())
            throw InvalidArgument(fmt::format("FARFIELD_COST_TABLE names '{}', which does not exist; run "
                                              "`farfield tune` to write it, or unset the variable",
                                              path.string()));
        return shipped_in_use();
    }
    auto table = overlaid(shipped_cost_table(), read_cost_file(path));
    auto hash = hash_of(table);
    return {std::move(table), std::move(hash), path};
}

const CostTableInUse& cost_table_in_use() {
    static const CostTableInUse table = load_cost_table();
    return table;
}

} // namespace farfield
