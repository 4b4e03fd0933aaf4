// Tipsy files are put together here byte by byte from the format's description.
#include "io/tipsy.h"

#include "io/bodies_file.h"
#include "io/file.h"
#include "unit/io/io_test.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace farfield;
using namespace farfield::test;

namespace {

class Tipsy : public IoTest {};

struct TipsyFile {
    bool big_endian = true;
    std::string bytes;

    template <class T>
    void put(T value) {
        std::string element(sizeof(T), '\0');
        std::memcpy(element.data(), &value, sizeof(T));
        if (big_endian) std::reverse(element.begin(), element.end());
        bytes += element;
    }
    void header(std::int32_t gas, std::int32_t dark, std::int32_t stars, std::int32_t dimensions = 3) {
        put(0.5);
        for (std::int32_t value : {gas + dark + stars, dimensions, gas, dark, stars, 0}) put(value);
    }
    // Mass, position, velocity, then `rest` other fields.
    void particle(float first, int rest) {
        for (int i = 0; i < 7; ++i) put(first + static_cast<float>(i));
        for (int i = 0; i < rest; ++i) put(-99.0F);
    }
};

TipsyFile one_of_each(bool big_endian) {
    TipsyFile tipsy{big_endian, {}};
    tipsy.header(1, 1, 1);
    tipsy.particle(10, 5);
    tipsy.particle(20, 2);
    tipsy.particle(30, 4);
    return tipsy;
}

Snapshot parse(const TipsyFile& tipsy) { return parse_tipsy(as_byte_span(tipsy.bytes), "t.tipsy"); }

} // namespace

TEST_F(Tipsy, ReadsAllKindsInBothByteOrders) {
    for (const bool big_endian : {true, false}) {
        const auto snapshot = parse(one_of_each(big_endian));
        EXPECT_EQ(snapshot.info.time, 0.5);
        EXPECT_EQ(snapshot.bodies.mass, (std::vector<double>{10, 20, 30}));
        EXPECT_EQ(snapshot.bodies.position, (std::vector<double>{11, 12, 13, 21, 22, 23, 31, 32, 33}));
        EXPECT_EQ(snapshot.bodies.velocity, (std::vector<double>{14, 15, 16, 24, 25, 26, 34, 35, 36}));
        EXPECT_EQ(snapshot.bodies.id, (std::vector<std::uint64_t>{1, 2, 3}));
    }
    EXPECT_EQ(read_bodies(written("t.tipsy", one_of_each(true).bytes)).bodies.size(), 3);
}

TEST_F(Tipsy, ReadsHeadersWithoutPadding) {
    auto tipsy = one_of_each(false);
    tipsy.bytes.erase(28, 4);
    EXPECT_EQ(parse(tipsy).bodies.mass, (std::vector<double>{10, 20, 30}));
}

TEST_F(Tipsy, RefusesWhatIsNotAllowed) {
    const auto good = one_of_each(true);
    const auto cut = [&](std::size_t size) { return TipsyFile{true, good.bytes.substr(0, size)}; };
    expect_error<InvalidArgument>([&] { (void)parse(cut(0)); }, "t.tipsy", "empty");
    for (std::size_t size : {20U, 28U, 32U, 100U, 159U})
        expect_error<IoError>([&] { (void)parse(cut(size)); }, "t.tipsy", "truncated");
    auto longer = good;
    longer.bytes += "x";
    expect_error<InvalidArgument>([&] { (void)parse(longer); }, "160 bytes", "holds 161");
    TipsyFile flat;
    flat.header(1, 0, 0, 2);
    expect_error<InvalidArgument>([&] { (void)parse(flat); }, "not a Tipsy file of 3 dimensions");
    TipsyFile negative;
    negative.header(-1, 2, 0);
    expect_error<InvalidArgument>([&] { (void)parse(negative); }, "-1 gas", "add up");
    TipsyFile bomb;
    bomb.header(0, std::numeric_limits<std::int32_t>::max(), 0);
    expect_error<IoError>([&] { (void)parse(bomb); }, "truncated");
    TipsyFile bad;
    bad.header(0, 2, 0);
    bad.particle(1, 2);
    bad.particle(std::numeric_limits<float>::infinity(), 2);
    expect_error<InvalidArgument>([&] { (void)parse(bad); }, "particle 1", "inf", "finite");
}
