#include "io/csv.h"

#include "unit/io/io_test.h"

#include <bit>
#include <cmath>
#include <limits>

using namespace farfield;
using namespace farfield::test;

namespace {

using Column = std::vector<double>;

void refused(std::string_view text, std::initializer_list<std::string_view> parts) {
    for (auto part : parts)
        expect_error<InvalidArgument>([&] { (void)parse_csv(text, "t.csv"); }, "t.csv", part);
}

} // namespace

TEST(Csv, ReadsAPlainTable) {
    const auto table = parse_csv("x,y\n1,2\n-3.5e-3,+4\n", "t.csv");
    EXPECT_EQ(table.names, (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(*table.find("x"), (Column{1, -3.5e-3}));
    EXPECT_EQ(*table.find("y"), (Column{2, 4}));
    EXPECT_EQ(table.find("z"), nullptr);
    EXPECT_EQ(table.lines, (std::vector<std::int64_t>{2, 3}));
}

TEST(Csv, ToleratesWhatToolsWrite) {
    const Column expected{1, 2};
    for (const char* text : {"x,y\r\n1,0\r\n2,0\r\n", "x,y\n1,0\n2,0", "\xEF\xBB\xBFx,y\n1,0\n2,0\n",
                             "\n# made by hand\nx,y\n\n1,0\n  \n# more\n2,0\n\n",
                             " x , y \n 1 ,\t0\n2 , 0 \n", "\"x\",\"y\"\n\"1\",0\n2,0\n"})
        EXPECT_EQ(*parse_csv(text, "t.csv").find("x"), expected) << text;
    EXPECT_EQ(parse_csv("x,y\n\n# c\n1,0\n\n2,0\n", "t.csv").lines, (std::vector<std::int64_t>{4, 6}));
}

TEST(Csv, ReadsExtremeNumbers) {
    const auto x =
        parse_csv("x\n1e-400\n-1e-400\n4.9e-324\n1.7976931348623157e308\nnan\n-inf\n", "t").columns[0];
    EXPECT_EQ(x[0], 0.0);
    EXPECT_TRUE(x[1] == 0.0 && std::signbit(x[1]));
    EXPECT_EQ(x[2], std::numeric_limits<double>::denorm_min());
    EXPECT_EQ(x[3], std::numeric_limits<double>::max());
    EXPECT_TRUE(std::isnan(x[4]));
    EXPECT_EQ(x[5], -std::numeric_limits<double>::infinity());
}

TEST(Csv, RoundTripKeepsEveryBit) {
    using limits = std::numeric_limits<double>;
    Table table;
    table.names = {"a", "b"};
    table.columns = {{0.1, -0.0, limits::max()}, {limits::denorm_min(), 1.0 / 3.0, 123456789012345680.0}};
    const auto text = format_csv(table);
    EXPECT_EQ(text, "a,b\n0.1,5e-324\n-0,0.3333333333333333\n1.7976931348623157e+308,123456789012345680\n");
    const auto again = parse_csv(text, "t.csv");
    for (std::size_t c = 0; c < 2; ++c)
        for (std::size_t r = 0; r < 3; ++r)
            EXPECT_EQ(std::bit_cast<std::uint64_t>(again.columns[c][r]),
                      std::bit_cast<std::uint64_t>(table.columns[c][r]));
}

TEST(Csv, FormattingChecksTheTable) {
    expect_error<InvalidArgument>([] { (void)format_csv({{"a", "b"}, {{1}}, {}}); }, "2 names and 1 columns");
    expect_error<InvalidArgument>([] { (void)format_csv({{"a", "b"}, {{1}, {1, 2}}, {}}); }, "'b'", "2 rows");
}

TEST(Csv, RefusesWhatIsNoTable) {
    refused("", {"empty", "header line"});
    refused("\n# only a comment\n", {"empty"});
    refused("1,2,3\n4,5,6\n", {"line 1", "'1'", "names the columns", "comments=''"});
    refused("# x,y\n1,2\n", {"line 2", "names the columns"});
    refused("x,y,x\n1,2,3\n", {"line 1", "'x' is named twice"});
    refused("x,,z\n1,2,3\n", {"line 1", "column 2 of the header has no name"});
    refused("x,y\n1,2\n1\n", {"line 3", "1 values", "2 columns ('x,y')"});
    refused("x,y\n1,2,3\n", {"line 2", "3 values"});
    refused("x,y\n1,2\n\n3,abc\n", {"line 4", "column 'y'", "'abc'", "1.5"});
    refused("x,y\n1,\n", {"line 2", "column 'y'", "''"});
    refused("x,y\n1,1e999\n", {"'1e999'", "a double can hold"});
    refused("x,y\n1,0.5e999\n", {"'0.5e999'", "a double can hold"}); // not small, though it begins with 0.
    refused("x;y\n1,2\n", {"line 2", "column 'x'", "'1,2'"});
    EXPECT_EQ(parse_csv("x;y\n1;2\n", "t.csv").columns[1], std::vector<double>{2});
    refused(std::string_view("x\n\0\n", 4), {"line 2", "'?'"});
    refused("x\n1 2\n", {"'1 2'"});
    refused("x\n+-1\n", {"'+-1'"});
}

TEST(Csv, ReadingNamesTheFile) {
    expect_error<IoError>([] { (void)read_csv("/nowhere/t.csv"); }, "/nowhere/t.csv", "No such file");
}
