// Any text as a user's cost table is refused with one short line, or gives a table that is written and read
// back unchanged, with the same hash.
#include "sums/select/cost_file.h"

#include <farfield/error.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace farfield;
    CostTable table;
    try {
        table = parse_cost_file({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
    } catch (const InvalidArgument& error) {
        const std::string_view message = error.what();
        require(message.starts_with("fuzz.toml:") && message.find('\n') == std::string_view::npos);
        return 0;
    }
    for (const auto& cost : table.costs) require(std::isfinite(cost.second) && cost.second > 0.0);
    const auto again = parse_cost_file(cost_file_text(table, "comment"), "again.toml");
    require(again == table && hash_of(again) == hash_of(table));
    const auto all = overlaid(shipped_cost_table(), table);
    require(cost_of_gpu(all, "gpu.MODEL.start_seconds", "Some GPU") > 0.0);
    return 0;
}
