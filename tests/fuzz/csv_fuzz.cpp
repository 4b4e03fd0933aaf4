// Any text given to the CSV reader is refused with one of our errors, or gives a table that is written and
// read back unchanged.
#include "io/csv.h"

#include <farfield/error.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace {

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void require(bool condition) {
    if (!condition) std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace farfield;
    try {
        const auto table = parse_csv({reinterpret_cast<const char*>(data), size}, "fuzz.csv");
        const auto rows = static_cast<std::size_t>(table.rows());
        require(table.names.size() == table.columns.size() && table.lines.size() == rows);
        for (const auto& name : table.names) // a name with a quote reads back without it
            if (name.find('"') != std::string::npos) return 0;
        Table again;
        try {
            again = parse_csv(format_csv(table), "again.csv");
        } catch (const InvalidArgument&) {
            // Names that were quoted can be what unquoted text cannot: a number, or start with '#'.
            return 0;
        }
        require(again.columns.size() == table.columns.size());
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            require(table.columns[c].size() == rows && again.columns[c].size() == rows);
            for (std::size_t r = 0; r < rows; ++r) require(same(table.columns[c][r], again.columns[c][r]));
        }
    } catch (const InvalidArgument&) {
    }
    return 0;
}
