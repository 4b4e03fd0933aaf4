// Values of JSON that reports are made of. The library that writes and reads them stays in json.cpp: each
// source that includes it takes two seconds more to compile.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>

namespace farfield {

/// A value of JSON; members of objects keep the order in which they came. `Json{{"order", 6}, {"leaf", 40}}`
/// is an object, as is any list of pairs that begin with a text; other lists are arrays. Numbers that are not
/// finite are written as null.
class Json {
public:
    Json() noexcept; ///< null
    // NOLINTBEGIN(google-explicit-constructor): a value may be written where JSON is wanted
    Json(bool value);
    template <std::integral T>
    requires(!std::same_as<T, bool>) Json(T value) : Json(whole(value)) {}
    template <std::floating_point T>
    Json(T value) : Json(real(static_cast<double>(value))) {}
    Json(std::string_view text);
    Json(const std::string& text) : Json(std::string_view(text)) {}
    Json(const char* text) : Json(std::string_view(text)) {}
    template <class Values>
    requires(std::ranges::range<Values> && !std::convertible_to<const Values&, std::string_view>)
        Json(const Values& values)
        : Json(array()) {
        for (const auto& value : values) push_back(value);
    }
    Json(std::initializer_list<Json> values);
    // NOLINTEND(google-explicit-constructor)
    Json(const Json& other);
    Json(Json&& other) noexcept;
    Json& operator=(Json other) noexcept;
    ~Json();

    static Json array();
    static Json object();
    /// What `text` says in JSON; the text itself where it is none.
    static Json read_or_text(const std::string& text);

    /// The member of that name; null is made an object first, and a missing member null.
    /// @pre this is null or an object
    Json& operator[](std::string_view name);
    /// @pre this is null or an array
    void push_back(Json value);
    /// The same, before all others.
    void push_front(Json value);
    /// Sets the members of another object.
    /// @pre both are objects
    void update(const Json& other);

    [[nodiscard]] bool is_null() const { return value_ == nullptr; }

    /// As text, `indent` blanks a level. Bytes that are no UTF-8 are replaced.
    [[nodiscard]] std::string dump(int indent) const;

private:
    struct Value;
    std::unique_ptr<Value> value_; ///< none: null

    template <std::integral T>
    static Json whole(T value) {
        if constexpr (std::is_signed_v<T>)
            return signed_number(static_cast<std::int64_t>(value));
        else
            return unsigned_number(static_cast<std::uint64_t>(value));
    }
    static Json signed_number(std::int64_t value);
    static Json unsigned_number(std::uint64_t value);
    static Json real(double value);
    friend struct JsonText;
};

} // namespace farfield
