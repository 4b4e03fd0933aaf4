#include "base/json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace farfield {

using JsonArray = std::vector<Json>;
using JsonObject = std::vector<std::pair<std::string, Json>>;

struct Json::Value
    : std::variant<bool, std::int64_t, std::uint64_t, double, std::string, JsonArray, JsonObject> {
    using variant::variant;
    [[nodiscard]] const variant& held() const { return *this; }
};

/// The same value as the library's.
struct JsonText {
    using Theirs = nlohmann::ordered_json;

    static Theirs of(const Json& json) {
        if (json.value_ == nullptr) return {};
        return std::visit([](const auto& value) { return one(value); }, json.value_->held());
    }

private:
    template <class T>
    static Theirs one(const T& value) {
        return Theirs(value);
    }
    static Theirs one(const JsonArray& values) {
        auto out = Theirs::array();
        for (const auto& value : values) out.push_back(of(value));
        return out;
    }
    static Theirs one(const JsonObject& members) {
        auto out = Theirs::object();
        for (const auto& [name, value] : members) out[name] = of(value);
        return out;
    }

public:
    static Json from(const Theirs& theirs) {
        if (theirs.is_array()) {
            auto out = Json::array();
            for (const auto& value : theirs) out.push_back(from(value));
            return out;
        }
        if (theirs.is_object()) {
            auto out = Json::object();
            for (const auto& [name, value] : theirs.items()) out[name] = from(value);
            return out;
        }
        if (theirs.is_boolean()) return theirs.get<bool>();
        if (theirs.is_number_unsigned()) return theirs.get<std::uint64_t>();
        if (theirs.is_number_integer()) return theirs.get<std::int64_t>();
        if (theirs.is_number_float()) return theirs.get<double>();
        if (theirs.is_string()) return theirs.get<std::string>();
        return {};
    }
};

Json::Json() noexcept = default;
Json::Json(bool value) : value_(std::make_unique<Value>(value)) {}
Json::Json(std::string_view text) : value_(std::make_unique<Value>(std::string(text))) {}
Json::Json(const Json& other) : value_(other.value_ ? std::make_unique<Value>(*other.value_) : nullptr) {}
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(Json other) noexcept {
    value_ = std::move(other.value_);
    return *this;
}
Json::~Json() = default;

Json::Json(std::initializer_list<Json> values) {
    const bool is_object = std::all_of(values.begin(), values.end(), [](const Json& pair) {
        const auto* elements = pair.value_ ? std::get_if<JsonArray>(pair.value_.get()) : nullptr;
        return elements != nullptr && elements->size() == 2 && elements->front().value_ &&
               std::holds_alternative<std::string>(*elements->front().value_);
    });
    if (!is_object) {
        value_ = std::make_unique<Value>(JsonArray(values));
        return;
    }
    value_ = std::make_unique<Value>(JsonObject());
    for (const auto& pair : values) {
        const auto& elements = std::get<JsonArray>(*pair.value_);
        (*this)[std::get<std::string>(*elements.front().value_)] = elements.back();
    }
}

Json Json::array() {
    Json out;
    out.value_ = std::make_unique<Value>(JsonArray());
    return out;
}

Json Json::object() {
    Json out;
    out.value_ = std::make_unique<Value>(JsonObject());
    return out;
}

Json Json::signed_number(std::int64_t value) {
    Json out;
    out.value_ = std::make_unique<Value>(value);
    return out;
}

Json Json::unsigned_number(std::uint64_t value) {
    Json out;
    out.value_ = std::make_unique<Value>(value);
    return out;
}

Json Json::real(double value) {
    Json out;
    out.value_ = std::make_unique<Value>(value);
    return out;
}

Json Json::read_or_text(const std::string& text) {
    const auto read = JsonText::Theirs::parse(text, nullptr, false);
    return read.is_discarded() ? Json(text) : JsonText::from(read);
}

Json& Json::operator[](std::string_view name) {
    if (!value_) *this = object();
    auto& members = std::get<JsonObject>(*value_);
    const auto found = std::find_if(members.begin(), members.end(),
                                    [&](const auto& member) { return member.first == name; });
    if (found != members.end()) return found->second;
    return members.emplace_back(name, Json()).second;
}

void Json::push_back(Json value) {
    if (!value_) *this = array();
    std::get<JsonArray>(*value_).push_back(std::move(value));
}

void Json::push_front(Json value) {
    if (!value_) *this = array();
    auto& elements = std::get<JsonArray>(*value_);
    elements.insert(elements.begin(), std::move(value));
}

void Json::update(const Json& other) {
    for (const auto& [name, value] : std::get<JsonObject>(*other.value_)) (*this)[name] = value;
}

std::string Json::dump(int indent) const {
    return JsonText::of(*this).dump(indent, ' ', false, JsonText::Theirs::error_handler_t::replace);
}

} // namespace farfield
