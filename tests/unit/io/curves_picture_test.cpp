// Curves over logarithmic axes: points lie where their logarithms say, in the order of the colours, and bad
// numbers are refused.
#include "io/picture/plot_curves.h"

#include "unit/io/picture_support.h"

using namespace farfield;
using namespace farfield::picture;
using namespace farfield::test;

namespace {

class Curves : public IoTest {};

CurvesPlot two_curves() {
    return {.title = "two",
            .x_label = "N",
            .y_label = "seconds",
            .curves = {{"lines", {1e3, 1e4, 1e5}, {1e-3, 1e-2, 1e-1}, false},
                       {"squares", {1e3, 1e5}, {1e-4, 1.0}, true}}};
}

/// Middle of all pixels of a colour left of the names.
struct Middle {
    double x = 0.0, y = 0.0;
    int count = 0;
};
Middle middle_of(const Decoded& image, Colour colour, int left, int right) {
    Middle out;
    for (int y = 0; y < image.height; ++y)
        for (int x = left; x < right; ++x)
            if (image.at(x, y) == colour) {
                out.x += x;
                out.y += y;
                ++out.count;
            }
    if (out.count > 0) {
        out.x /= out.count;
        out.y /= out.count;
    }
    return out;
}

} // namespace

TEST_F(Curves, LieWhereTheirLogarithmsSay) {
    plot_curves(file("a.png"), two_curves());
    const auto image = decode(file("a.png"));
    EXPECT_EQ(image.width, 1200);
    EXPECT_EQ(image.height, 800);
    constexpr Colour first{40, 84, 160};
    // two decades with a twentieth on both sides: the first point is at 0.1/2.2 of 780 pixels from 150 on
    const double step = 780.0 / 2.2;
    const auto low = middle_of(image, first, 150, 200);
    const auto high = middle_of(image, first, 880, 930);
    ASSERT_GT(low.count, 20);
    EXPECT_NEAR(low.x, 150 + 0.1 * step, 8.0);
    EXPECT_NEAR(high.x, 930 - 0.1 * step, 8.0);
    // a decade up for a decade to the right: of four decades in y the line passes two
    EXPECT_NEAR((low.y - high.y) / (630.0 / 4.4 * 2.0), 1.0, 0.06);
    EXPECT_GT(middle_of(image, {216, 68, 62}, 150, 930).count, 100);
    EXPECT_GT(middle_of(image, {216, 68, 62}, 950, 1000).count, 10) << "its name has a line";
}

TEST_F(Curves, AreTheSameBytesEachTime) {
    plot_curves(file("a.png"), two_curves());
    plot_curves(file("b.png"), two_curves());
    EXPECT_EQ(content_of(file("a.png")), content_of(file("b.png")));
    auto one = two_curves();
    one.curves = {{"a point", {5.0}, {7.0}, false}};
    plot_curves(file("one.png"), one);
    EXPECT_GT(middle_of(decode(file("one.png")), {40, 84, 160}, 150, 930).count, 20);
}

TEST_F(Curves, RefuseWhatHasNoLogarithm) {
    auto plot = two_curves();
    plot.curves[0].y[1] = 0.0;
    EXPECT_THROW(plot_curves(file("a.png"), plot), InvalidArgument);
    plot.curves.clear();
    EXPECT_THROW(plot_curves(file("a.png"), plot), InvalidArgument);
    EXPECT_FALSE(std::filesystem::exists(file("a.png")));
}
