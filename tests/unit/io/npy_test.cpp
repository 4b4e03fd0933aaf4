// The bytes expected here were written by NumPy 2.4 (numpy.save), not by our writer.
#include "io/npy.h"

#include "io/file.h"
#include "unit/io/io_test.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using namespace farfield;
using namespace farfield::test;
using namespace std::string_literals;
using namespace std::string_view_literals;

namespace {

class Npy : public IoTest {};

// A version 1 file of the given dictionary and data, padded to `length` as NumPy pads.
std::string npy(std::string_view dictionary, std::string_view data, std::size_t length = 118) {
    std::string text(dictionary);
    if (text.size() < length - 1) text.append(length - 1 - text.size(), ' ');
    text += '\n';
    std::string file("\x93NUMPY\x01\x00"sv);
    file += static_cast<char>(text.size() % 256);
    file += static_cast<char>(text.size() / 256);
    return file + text + std::string(data);
}

NpyArray parse(const std::string& bytes) { return parse_npy(as_byte_span(bytes), "a.npy"); }

template <class T>
std::string bytes_of(std::initializer_list<T> values, bool swapped = false) {
    std::string out;
    for (T value : values) {
        std::string element(sizeof(T), '\0');
        std::memcpy(element.data(), &value, sizeof(T));
        out += swapped ? std::string(element.rbegin(), element.rend()) : element;
    }
    return out;
}

std::string dictionary(std::string_view descr, std::string_view shape, std::string_view fortran = "False") {
    return "{'descr': '" + std::string(descr) + "', 'fortran_order': " + std::string(fortran) +
           ", 'shape': " + std::string(shape) + ", }";
}

} // namespace

TEST_F(Npy, WritesTheBytesThatNumpyWrites) {
    const std::vector<double> values{1.0, -2.5};
    write_npy(file("a.npy"), values, {2, 1});
    const auto expected = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1), }",
                              "\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x04\xc0"sv);
    EXPECT_EQ(content_of(file("a.npy")), expected);
    EXPECT_EQ(expected.size(), 128U + 16U);
    write_npy(file("b.npy"), values, {2}, DType::float32);
    EXPECT_EQ(content_of(file("b.npy")), npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
                                             "\x00\x00\x80\x3f\x00\x00\x20\xc0"sv));
}

TEST_F(Npy, RoundTripKeepsEveryBit) {
    using limits = std::numeric_limits<double>;
    const std::vector<double> values{0.1,
                                     -0.0,
                                     limits::max(),
                                     limits::denorm_min(),
                                     limits::min(),
                                     1.0 / 3.0,
                                     limits::infinity(),
                                     -1e-300,
                                     limits::quiet_NaN()};
    write_npy(file("a.npy"), values, {3, 3});
    const auto array = read_npy(file("a.npy"));
    EXPECT_EQ(array.shape, (std::vector<std::int64_t>{3, 3}));
    EXPECT_EQ(array.dtype, DType::float64);
    ASSERT_EQ(array.values.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_EQ(std::bit_cast<std::uint64_t>(array.values[i]), std::bit_cast<std::uint64_t>(values[i]));
}

TEST_F(Npy, ReadsEveryNumberType) {
    const auto check = [](std::string_view descr, const std::string& data, std::vector<double> expected) {
        const auto array = parse(npy(dictionary(descr, "(2,)"), data));
        EXPECT_EQ(array.values, expected) << descr;
        EXPECT_EQ(array.dtype, descr.ends_with("f4") ? DType::float32 : DType::float64) << descr;
    };
    check("<f8", bytes_of<double>({0.1, -3}), {0.1, -3});
    check(">f8", bytes_of<double>({0.1, -3}, true), {0.1, -3});
    check("<f4", bytes_of<float>({0.5F, -3}), {0.5, -3});
    check(">f4", bytes_of<float>({0.5F, -3}, true), {0.5, -3});
    check("|i1", bytes_of<std::int8_t>({-100, 7}), {-100, 7});
    check("|u1", bytes_of<std::uint8_t>({200, 7}), {200, 7});
    check("<i2", bytes_of<std::int16_t>({-1000, 7}), {-1000, 7});
    check(">u2", bytes_of<std::uint16_t>({60000, 7}, true), {60000, 7});
    check("<i4", bytes_of<std::int32_t>({-100000, 7}), {-100000, 7});
    check("<u4", bytes_of<std::uint32_t>({4000000000U, 7}), {4000000000.0, 7});
    check("<i8", bytes_of<std::int64_t>({-(1LL << 53), 7}), {-9007199254740992.0, 7});
    check(">u8", bytes_of<std::uint64_t>({1ULL << 53U, 7}, true), {9007199254740992.0, 7});
}

TEST_F(Npy, ReadsEveryHeaderVersion) {
    const auto data = bytes_of<double>({1.5});
    for (const char version : {'\x02', '\x03'}) {
        const std::string text = dictionary("<f8", "(1, 1)") + "\n";
        std::string bytes = "\x93NUMPY";
        bytes += {version, '\0', static_cast<char>(text.size()), '\0', '\0', '\0'};
        EXPECT_EQ(parse(bytes + text + data).values, std::vector<double>{1.5});
    }
    // Python 2 wrote 1L; keys may come in any order; a scalar has no extents.
    EXPECT_EQ(parse(npy(dictionary("<f8", "(1L,)"), data)).shape, std::vector<std::int64_t>{1});
    EXPECT_EQ(parse(npy("{\"shape\":(),\"descr\":\"<f8\",\"fortran_order\":False}", data)).values,
              std::vector<double>{1.5});
    expect_error<InvalidArgument>([] { (void)parse("\x93NUMPY\x09\x00\x00\x00"s); }, "version 9", "1 to 3");
}

TEST_F(Npy, RefusesWhatIsNoArrayOfNumbers) {
    const auto refused = [](std::string_view descr, auto... parts) {
        expect_error<InvalidArgument>(
            [&] { (void)parse(npy(dictionary(descr, "(1,)"), std::string(64, '\0'))); }, "a.npy", descr,
            "float32, float64", parts...);
    };
    refused("|O", "Python objects", "astype");
    refused("<c16", "complex", "two columns");
    refused("<U5", "astype");
    refused("|b1", "astype");
    refused("<f2", "astype");
    refused("<f16", "astype");
    refused("<M8[ns]", "astype");
    refused("|V16", "records");
    expect_error<InvalidArgument>(
        [] {
            (void)parse(npy("{'descr': [('x', '<f8'), ('y', '<f8', (2,))], 'fortran_order': False, "
                            "'shape': (1,), }",
                            std::string(24, '\0')));
        },
        "records", "one column a quantity");
}

TEST_F(Npy, ReadsFortranOrder) {
    const auto data = bytes_of<double>({11, 21, 12, 22, 13, 23}); // the first index runs fastest
    const auto array = parse(npy(dictionary("<f8", "(2, 3)", "True"), data));
    EXPECT_EQ(array.shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(array.values, (std::vector<double>{11, 12, 13, 21, 22, 23}));
    EXPECT_EQ(parse(npy(dictionary("<f8", "(6,)", "True"), data)).values,
              (std::vector<double>{11, 21, 12, 22, 13, 23}));
    EXPECT_EQ(parse(npy(dictionary("<f8", "(1, 3, 2)", "True"), data)).values,
              (std::vector<double>{11, 22, 21, 13, 12, 23}));
}

TEST_F(Npy, RefusesTruncatedAndOverlongFiles) {
    const auto good = npy(dictionary("<f8", "(2, 1)"), bytes_of<double>({1, 2}));
    EXPECT_NO_THROW((void)parse(good));
    expect_error<InvalidArgument>([] { (void)parse(""); }, "a.npy", "empty");
    expect_error<InvalidArgument>([] { (void)parse("x,y,z\n1,2,3\n"); }, "not a .npy file", "x,y,z");
    for (std::size_t size : {6U, 8U, 9U, 50U, 127U, 128U, 143U})
        expect_error<IoError>([&] { (void)parse(good.substr(0, size)); }, "a.npy", "truncated");
    expect_error<InvalidArgument>([&] { (void)parse(good + "x"); }, "1 bytes follow the array");
}

TEST_F(Npy, HugeShapesAreRefusedBeforeAllocating) {
    for (const char* shape :
         {"(1000000000000, 4)", "(9223372036854775807, 9223372036854775807)", "(4294967296, 4294967296, 1)"})
        expect_error<IoError>([&] { (void)parse(npy(dictionary("<f8", shape), "12345678")); }, "truncated");
    EXPECT_TRUE(parse(npy(dictionary("<f8", "(0, 9223372036854775807)"), "")).values.empty());
}

TEST_F(Npy, RefusesDamagedHeaders) {
    for (const char* text : {"{'descr': '<f8', 'fortran_order': False}", "{'descr': '<f8'", "garbage",
                             "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,)}",
                             "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
                             "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
                             "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'x': 1}",
                             "{'descr': [, 'fortran_order': False, 'shape': (1,)}",
                             "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} more"})
        expect_error<InvalidArgument>([&] { (void)parse(npy(text, "12345678")); }, "a.npy", "header",
                                      "numpy.save");
}

TEST_F(Npy, WritingChecksTheShape) {
    const std::vector<double> values(5);
    expect_error<InvalidArgument>([&] { write_npy(file("a.npy"), values, {2, 3}); }, "5 values", "(2, 3)");
    EXPECT_FALSE(std::filesystem::exists(file("a.npy")));
}
