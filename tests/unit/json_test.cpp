// Values of JSON: what is written, beside what nlohmann's own values write.
#include "base/json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {
namespace {

/// Made in the same way of either kind of value.
template <class J>
J report() {
    J json;
    json["text"] = "a \"quoted\" µ";
    json["view"] = std::string_view("view");
    json["flag"] = true;
    json["numbers"] = {{"int", -3},
                       {"unsigned", std::numeric_limits<std::uint64_t>::max()},
                       {"long", std::numeric_limits<std::int64_t>::min()},
                       {"double", 0.1},
                       {"whole", 2.0},
                       {"float", 0.1F},
                       {"none", std::numeric_limits<double>::quiet_NaN()},
                       {"infinite", std::numeric_limits<double>::infinity()}};
    json["null"];
    json["absent"] = J();
    json["list"] = std::vector<double>{1.5, -2.0};
    json["array"] = std::array<std::int64_t, 2>{1, 2};
    json["texts"] = std::vector<std::string>{"one", "two"};
    json["mixed"] = {1, "two", 3.5, {4, 5}};
    json["empty"] = J::array();
    json["nothing"] = J::object();
    auto& rows = json["rows"] = J::array();
    for (int k = 0; k < 2; ++k) rows.push_back({{"k", k}, {"inner", {{"square", k * k}}}});
    json["late"]["deep"]["member"] = 1;
    json["numbers"].update({{"int", 4}, {"new", "yes"}});
    const J copy = json;
    json["copy"] = copy;
    return json;
}

TEST(Json, IsWrittenAsTheLibraryWritesIt) {
    for (const int indent : {1, 2})
        EXPECT_EQ(report<Json>().dump(indent), report<nlohmann::ordered_json>().dump(indent));
}

TEST(Json, KeepsTheOrderOfMembersAndPutsFirstWhatIsAsked) {
    Json json{{"z", 1}, {"a", 2}};
    json["z"] = 3;
    json["list"].push_back("second");
    json["list"].push_front("first");
    const auto text = json.dump(1);
    EXPECT_EQ(text, "{\n \"z\": 3,\n \"a\": 2,\n \"list\": [\n  \"first\",\n  \"second\"\n ]\n}");
}

TEST(Json, ReplacesBytesThatAreNoText) {
    const auto text = Json{{"name", std::string("a\xff") + "b"}}.dump(1);
    EXPECT_EQ(text, "{\n \"name\": \"a\xEF\xBF\xBD"
                    "b\"\n}");
}

TEST(Json, ReadsWhatIsJsonAndKeepsOtherText) {
    for (const std::string text : {"true", "null", "-4", "18446744073709551615", "0.25", "\"word\"",
                                   "[1,[\"a\",2.5],{}]", "{\"b\":1,\"a\":[]}"})
        EXPECT_EQ(Json::read_or_text(text).dump(1), nlohmann::ordered_json::parse(text).dump(1)) << text;
    EXPECT_EQ(Json::read_or_text("2 apples").dump(1), "\"2 apples\"");
    EXPECT_TRUE(Json::read_or_text("null").is_null());
}

TEST(Json, CopiesDoNotShareMembers) {
    Json first{{"a", 1}};
    const Json second = first;
    first["a"] = 2;
    EXPECT_NE(first.dump(1), second.dump(1));
    first = second;
    EXPECT_EQ(first.dump(1), second.dump(1));
}

} // namespace
} // namespace farfield
