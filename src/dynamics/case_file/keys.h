// Every key a case file may have, in one table. Reading, range checks, suggestions, `--set` and the
// documentation are all driven by it, so a key is added in exactly one place: keys.cpp, or for `[force]` the
// table of options (farfield/options.h).
#pragma once

#include <farfield/run.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace farfield::case_file {

/// A value after its type has been checked against the key. `text`, `path`, `choice`, `device` and `unit`
/// keys hold strings, and so do `lengths`: "10" or "10,10,20".
using Value = std::variant<bool, std::int64_t, double, std::string>;

enum class KeyType : std::uint8_t { text, path, choice, device, unit, boolean, integer, number, lengths };

/// Allowed values of a number; a bound is exclusive where its `open` flag is set.
struct AllowedRange {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    bool low_open = false;
    bool high_open = false;
};

/// A set of initial models, one bit each.
using KindSet = std::uint32_t;
constexpr KindSet bit(InitialKind kind) { return KindSet{1} << static_cast<unsigned>(kind); }

struct Key {
    std::string_view section; ///< "" for the top level
    std::string_view name;
    KeyType type = KeyType::text;
    AllowedRange range{};
    std::vector<std::string_view> (*choices)() = nullptr; ///< of a `choice`
    Unit (*read_unit)(std::string_view text) = nullptr;   ///< of a `unit`
    KindSet kinds = 0;       ///< [initial]: the models that use the key; 0 elsewhere = always used
    KindSet required_by = 0; ///< [initial]: the models that cannot do without it
    bool (*of_kernel)(Kernel kernel) = nullptr; ///< as OptionInfo::of_kernel
    bool required = false;
    std::string default_text{}; ///< as written in TOML, or in words
    std::string_view example{}; ///< a value as written in TOML
    std::string_view unit{};
    std::string doc{};
    std::function<void(Case&, const Value&)> assign{};
};

/// The table, sections together, in the order of the documentation.
std::span<const Key> keys();

/// Of them those of [initial] that vortices use.
std::span<const Key> vortex_keys();

/// The names of the sections in the order of the table, without the top level.
std::span<const std::string_view> sections();

/// The key of that name, or null.
const Key* find_key(std::string_view section, std::string_view name);

/// "force.softening", or "name" on the top level.
std::string full_name(const Key& key);

/// Whether a model (for two clusters: or the model of the clusters) uses the key.
bool used_by(const Key& key, const InitialOptions& initial);

/// Whether simulations with that kernel use the key.
bool used_by(const Key& key, Kernel kernel);

} // namespace farfield::case_file
