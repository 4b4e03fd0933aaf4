// The table of options: every row reads and writes its members, its defaults are those of the structs, and
// values that are not allowed are named.
#include "base/spelling.h"
#include "expect_error.h"

#include <farfield/error.h>
#include <farfield/options.h>
#include <farfield/simulation.h>
#include <farfield/sum.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <string>

namespace farfield {
namespace {

// Two values that a user may give.
std::pair<OptionValue, OptionValue> two_values(const OptionInfo& option) {
    switch (option.type) {
    case OptionType::choice:
        return {std::string(option.choices().front()), std::string(option.choices().back())};
    case OptionType::number:
        return {std::isfinite(option.most) ? 0.5 * (option.least + option.most) : 0.25,
                std::min(1e3, option.most)};
    case OptionType::count:
        return {std::int64_t{1}, static_cast<std::int64_t>(std::min(7.0, option.most))};
    case OptionType::flag:
        return {true, false};
    case OptionType::lengths:
        return {std::string("2.5"), std::string("1,2.5,0")};
    default:
        return {std::string("cpu"), std::string("cuda:0,1")};
    }
}

template <class Options>
void expect_round_trip(const OptionInfo& option) {
    const auto& member = option.template in<Options>();
    if (!member) return;
    SCOPED_TRACE(option.name);
    const Options defaults;
    const auto [first, second] = two_values(option);
    for (const auto& value : {first, second}) {
        Options options;
        member.set(options, value);
        EXPECT_TRUE(option.allows(value));
        EXPECT_EQ(member.get(options), value);
        for (const auto& other : option_table()) { // and nothing else is changed
            if (other.name == option.name || !other.template in<Options>()) continue;
            EXPECT_EQ(other.template in<Options>().get(options), other.template in<Options>().get(defaults))
                << other.name;
        }
    }
    EXPECT_EQ(option.allows(member.get(defaults)), option.otherwise.empty());
}

TEST(Options, EveryRowReadsAndWritesItsMembers) {
    std::set<std::string_view> names;
    for (const auto& option : option_table()) {
        EXPECT_TRUE(names.insert(option.name).second) << option.name;
        EXPECT_EQ(find_option(option.name), &option);
        EXPECT_TRUE(option.sum || option.force) << option.name;
        EXPECT_FALSE(option.text.ends_with('.')) << option.name;
        EXPECT_EQ(option.type == OptionType::choice, option.choices != nullptr) << option.name;
        expect_round_trip<SumOptions>(option);
        expect_round_trip<ForceOptions>(option);
    }
    EXPECT_EQ(find_option("multi-gpu"), nullptr);
    EXPECT_EQ(find_option("multi_gpu")->flag(), "--multi-gpu");
}

TEST(Options, WhatMayBeGiven) {
    EXPECT_TRUE(find_option("softening")->allows(0.0));
    EXPECT_FALSE(find_option("sigma")->allows(0.0)); // 0 says that there is none
    EXPECT_FALSE(find_option("G")->allows(0.0));
    for (const double wrong : {-1.0, std::nan(""), HUGE_VAL})
        EXPECT_FALSE(find_option("softening")->allows(wrong)) << wrong;
    EXPECT_FALSE(find_option("threads")->allows(std::int64_t{0}));
    EXPECT_TRUE(find_option("threads")->allows(std::int64_t{4096}));
    EXPECT_FALSE(find_option("threads")->allows(std::int64_t{4097}));
    EXPECT_FALSE(find_option("kernel")->allows(std::string("gravty")));
    EXPECT_EQ(find_option("sigma")->range(), "> 0");
    EXPECT_EQ(find_option("softening")->range(), "≥ 0");
}

template <class Options, class Change>
std::string refusal(Change change) {
    Options options;
    change(options);
    try {
        check_options(options);
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return {};
}

TEST(Options, ValuesThatAreNotAllowedAreNamed) {
    EXPECT_EQ(refusal<SumOptions>([](auto& /*options*/) {}), "");
    EXPECT_EQ(refusal<ForceOptions>([](auto& /*options*/) {}), "");
    EXPECT_EQ(refusal<SumOptions>([](auto& o) { o.softening = -1.0; }),
              "softening is -1; it must be a finite number ≥ 0");
    EXPECT_EQ(refusal<SumOptions>([](auto& o) { o.tolerance = std::nan(""); }),
              "tolerance is nan; it must be a finite number > 0, or 0 for none");
    EXPECT_EQ(refusal<SumOptions>([](auto& o) {
                  o.method = Method::treecode;
                  o.theta = 2.0;
              }),
              "theta is 2; it must be a finite number > 0 and ≤ 1, or 0 for none");
    EXPECT_EQ(refusal<SumOptions>([](auto& o) { o.threads = -2; }),
              "threads is -2; it must be a whole number from 1 to 4096, or 0 for all cores");
    EXPECT_EQ(refusal<ForceOptions>([](auto& o) { o.G = 0.0; }), "G is 0; it must be a finite number > 0");
    EXPECT_EQ(refusal<SumOptions>([](auto& o) { o.kernel = static_cast<Kernel>(77); }),
              "kernel: 77 is not one of its values");
    EXPECT_EQ(refusal<ForceOptions>([](auto& o) { o.exchange = static_cast<Exchange>(9); }),
              "exchange: 9 is not one of its values");
}

// What is given for one method is not ignored by another.
TEST(Options, ThoseOfAMethodAreRefusedByOthers) {
    int count = 0;
    for (const auto& row : option_table()) {
        if (!row.of_method) continue;
        ++count;
        for (const auto method :
             {Method::direct, Method::reference, Method::treecode, Method::automatic, *row.of_method}) {
            SumOptions sum{.method = method};
            row.sum.set(sum, two_values(row).second);
            ForceOptions force{.method = method};
            if (row.force) row.force.set(force, two_values(row).second);
            const bool takes = row.is_of(method);
            if (takes) {
                EXPECT_NO_THROW(check_options(sum)) << row.name;
                EXPECT_NO_THROW(check_options(force)) << row.name;
                continue;
            }
            const std::string name(row.name);
            const auto owner = fmt::format("'{}'", name_of(*row.of_method));
            test::expect_contains(test::error_of<InvalidArgument>([&] { check_options(sum); }),
                                  {name, owner, "leave it out"});
            if (row.force)
                test::expect_contains(test::error_of<InvalidArgument>([&] { check_options(force); }),
                                      {name, owner, "leave it out"});
        }
    }
    EXPECT_EQ(count, 8);
}

TEST(Options, StrategiesOfTheFastGaussTransformAreNoOthers) {
    for (const auto name : names_of<GaussStrategy>()) {
        const auto strategy = from_name<GaussStrategy>(name);
        ASSERT_TRUE(strategy);
        EXPECT_EQ(name_of(*strategy), name);
        EXPECT_NO_THROW(check_options(SumOptions{.method = Method::fgt, .strategy = *strategy}));
        if (*strategy == GaussStrategy::automatic) continue;
        for (const auto method : {Method::direct, Method::fmm, Method::reference})
            test::expect_contains(test::error_of<InvalidArgument>([&] {
                                      check_options(SumOptions{.method = method, .strategy = *strategy});
                                  }),
                                  {"strategy", "'fgt'", "leave it out"});
    }
    EXPECT_EQ(from_name<GaussStrategy>("boxes"), GaussStrategy::boxes);
}

TEST(Options, UnknownNamesSuggestTheNearest) {
    SumOptions options;
    try {
        find_option("precision")->sum.set(options, std::string("duoble"));
        FAIL() << "it was taken";
    } catch (const InvalidArgument& error) {
        EXPECT_STREQ(error.what(), "'duoble' is not known, did you mean 'double'?");
    }
    EXPECT_THROW(find_option("threads")->sum.set(options, std::int64_t{1} << 40), InvalidArgument);
    EXPECT_THROW(find_option("device")->sum.set(options, std::string("cudda")), InvalidArgument);
}

/// Another spelling than that of C++ while it lives.
class Spelling {
public:
    explicit Spelling(OptionSpelling spelling) : before_(spell_options(spelling)) {}
    ~Spelling() { spell_options(before_); }
    Spelling(const Spelling&) = delete;
    Spelling& operator=(const Spelling&) = delete;

private:
    OptionSpelling before_;
};

std::string in_brackets(std::string_view option, std::string_view value) {
    return "[" + std::string(option) + (value.empty() ? "" : "|") + std::string(value) + "]";
}

// Messages of the options, of methods, of devices, of points and of simulations.
TEST(Options, MessagesSpellThemAsTheInterfaceDoes) {
    constexpr std::array<double, 6> points{0, 0, 0, 1, 1, 1};
    constexpr std::array<double, 9> far{0, 0, 0, 1e-30, 0, 0, 1e30, 0, 0};
    const auto refused = [&](const SumOptions& options) {
        return test::error_of<InvalidArgument>(
            [&] { SumPlan(matrix_view(std::span<const double>(points), 3), options); });
    };
    const auto expect_messages = [&](const std::function<std::string(std::string, std::string)>& as) {
        const auto contains = [](const std::string& text, std::initializer_list<std::string> parts) {
            test::expect_contains(text, parts);
        };
        const DeviceChoice gpu{.kind = DeviceKind::cuda};
        const DeviceChoice cpu{.kind = DeviceKind::cpu};
        contains(refused({.threads = -3}), {as("threads", "") + " is -3"});
        contains(refused({.sigma = 0.5}), {"leave " + as("sigma", "0.5") + " out"});
        contains(refused({.kernel = Kernel::gauss}), {"needs " + as("sigma", "") + ","});
        contains(refused({.kernel = Kernel::laplace2d, .softening = 0.1}), {as("softening", "0.1")});
        contains(refused({.kernel = Kernel::gauss, .method = Method::fmm, .sigma = 1.0}),
                 {"use " + as("method", "direct")});
        contains(refused({.self_term = SelfTerm::exclude}), {"leave " + as("self_term", "exclude")});
        contains(refused({.relative_to = RelativeTo::sum}), {as("relative_to", "sum")});
        contains(refused({.isa = Isa::sse42, .variant = Variant::naive}),
                 {as("variant", "naive") + " is scalar code", "cannot use " + as("isa", "sse4.2"),
                  "leave " + as("isa", "") + " at 'auto'"});
        contains(refused({.variant = Variant::flush, .device = cpu}),
                 {as("variant", "flush") + " is a rung for GPUs; use " + as("device", "cuda") + ","});
        contains(refused({.method = Method::fmm, .variant = Variant::naive, .device = cpu}),
                 {as("variant", "naive"), as("method", "direct")});
        contains(refused({.method = Method::fmm, .m2l = M2L::rotation, .device = gpu}),
                 {"use " + as("device", "cpu")});
        contains(refused({.method = Method::reference, .precision = Precision::mixed}),
                 {"leave " + as("precision", "mixed") + " out"});
        contains(refused({.method = Method::reference, .variant = Variant::soa}), {as("variant", "soa")});
        contains(test::error_of<InvalidArgument>([&] {
                     SumPlan(matrix_view(std::span<const double>(far), 3), {.precision = Precision::float32});
                 }),
                 {"for " + as("precision", "float") + ",", "use " + as("precision", "double") + ","});
        contains(refusal<ForceOptions>([](auto& o) { o.G = 0.0; }), {as("G", "") + " is 0"});
    };
    expect_messages([](const std::string& option, const std::string& value) {
        return value.empty() ? option : option + " = " + value;
    });
    const Spelling spelling(in_brackets);
    expect_messages(in_brackets);
}

TEST(Options, FactsOfKernels) {
    EXPECT_EQ(facts_of(Kernel::laplace2d).strength_columns, 2);
    EXPECT_TRUE(facts_of(Kernel::gauss).has_sigma && facts_of(Kernel::gauss).acts_on_itself);
    EXPECT_EQ(facts_of(Kernel::gravity).outputs, Output::potential | Output::field | Output::hessian);
    EXPECT_EQ(facts_of(Kernel::gravity).usual_outputs, Output::potential | Output::field);
}

} // namespace
} // namespace farfield
