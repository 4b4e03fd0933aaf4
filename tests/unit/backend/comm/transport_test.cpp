// Messages between ranks that are threads of this process: order, sizes, collective calls, failures.
#include "backend/comm/agree.h"
#include "backend/comm/first_ranks.h"
#include "backend/comm/gpu_messages.h"
#include "backend/comm/in_process.h"
#include "backend/comm/slow_ranks.h"
#include "base/stopwatch.h"
#include "expect_error.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <new>
#include <numeric>
#include <span>
#include <string>
#include <vector>

using namespace farfield;
using namespace farfield::comm;
using farfield::test::error_of;

namespace {

using AnyRank = std::function<void(Transport&)>;

class OnRanks : public testing::TestWithParam<int> {
protected:
    [[nodiscard]] static int ranks() { return GetParam(); }
    static void all(const AnyRank& work) { run_ranks(ranks(), work); }
};

INSTANTIATE_TEST_SUITE_P(Transport, OnRanks, testing::Values(1, 2, 3, 5, 8));

TEST(TokenBucket, LetsBytesPassAtItsRate) {
    TokenBucket bucket(1000.0, 100.0); // it starts full
    EXPECT_DOUBLE_EQ(bucket.take(100.0, 0.0), 0.0);
    EXPECT_DOUBLE_EQ(bucket.take(50.0, 0.0), 0.05);
    EXPECT_DOUBLE_EQ(bucket.take(50.0, 0.0), 0.1); // behind the one before
    EXPECT_DOUBLE_EQ(bucket.take(0.0, 0.1), 0.1);
    EXPECT_DOUBLE_EQ(bucket.take(100.0, 9.0), 9.0); // full again, and no fuller
    EXPECT_DOUBLE_EQ(bucket.take(500.0, 9.05), 9.5);
}

TEST_P(OnRanks, SlowLinksCarryTheSameMoreSlowly) {
    constexpr LinkRates rates{.latency = 2e-3, .bandwidth = 1e6};
    all([&](Transport& at) {
        SlowRanks slow(at, rates);
        EXPECT_EQ(slow.rank(), at.rank());
        EXPECT_EQ(slow.size(), at.size());
        EXPECT_EQ(slow.local_size(), 1);
        const auto next = (at.rank() + 1) % at.size(), before = (at.rank() + at.size() - 1) % at.size();
        std::vector<int> data(5000), got(data.size());
        std::iota(data.begin(), data.end(), at.rank());
        const Stopwatch watch;
        auto coming = slow.receive(bytes_of(std::span<int>(got)), before, 7);
        slow.send(bytes_of(std::span<const int>(data)), next, 7)->wait();
        coming->wait();
        EXPECT_GE(watch.seconds(), 2e-3 + (2e4 - 1500.0) / 1e6);
        EXPECT_EQ(got.front(), before);
        EXPECT_EQ(got.back(), before + 4999);
        EXPECT_EQ(from_rank(slow, 10 + at.rank(), at.size() - 1), 9 + at.size());
        slow.barrier();
    });
}

TEST_P(OnRanks, FirstOnesAreAJobOfTheirOwn) {
    all([&](Transport& at) {
        for (int count = 1; count <= at.size(); ++count) {
            if (at.rank() >= count) continue;
            FirstRanks first(at, count);
            EXPECT_EQ(first.rank(), at.rank());
            EXPECT_EQ(first.size(), count);
            EXPECT_EQ(first.local_size(), count);
            std::vector<int> wanted(static_cast<std::size_t>(count));
            std::iota(wanted.begin(), wanted.end(), 0);
            EXPECT_EQ(all_values(first, first.rank()), wanted);
            EXPECT_EQ(from_rank(first, 10 + first.rank(), count - 1), 9 + count);
            first.barrier();
            const auto before = first.sent();
            if (count > 1 && first.rank() == 0)
                first.send(bytes_of(std::span<const int>(wanted)), 1, 7)->wait();
            std::vector<int> got(wanted.size());
            if (first.rank() == 1) first.receive(bytes_of(std::span<int>(got)), 0, 7)->wait();
            EXPECT_EQ(first.sent().messages - before.messages, count > 1 && first.rank() == 0 ? 1 : 0);
            EXPECT_EQ(first.sent().bytes - before.bytes, count > 1 && first.rank() == 0 ? 4 * count : 0);
            if (first.rank() == 1) {
                EXPECT_EQ(got, wanted);
            }
        }
        at.barrier();
    });
}

TEST_P(OnRanks, KnowTheirNumbers) {
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(ranks()));
    all([&](Transport& at) {
        EXPECT_EQ(at.size(), ranks());
        EXPECT_EQ(at.local_size(), ranks());
        EXPECT_EQ(at.local_rank(), at.rank());
        ++seen[static_cast<std::size_t>(at.rank())];
    });
    for (const auto& times : seen) EXPECT_EQ(times, 1);
}

// Each rank sends to each, itself as well: with one tag in order, and tags do not mix.
TEST_P(OnRanks, ReceiveMessagesOfATagInTheirOrder) {
    all([](Transport& at) {
        std::vector<MessageHandle> sent;
        for (int to = 0; to < at.size(); ++to)
            for (const int tag : {3, 4})
                for (const int k : {0, 1}) {
                    const int value = 1000 * at.rank() + 100 * to + 10 * tag + k;
                    sent.push_back(at.send(bytes_of(std::span(&value, 1)), to, tag));
                    sent.back()->wait();
                }
        for (int from = 0; from < at.size(); ++from)
            for (const int tag : {4, 3})
                for (const int k : {0, 1}) {
                    int value = -1;
                    at.receive(bytes_of(std::span(&value, 1)), from, tag)->wait();
                    EXPECT_EQ(value, 1000 * from + 100 * at.rank() + 10 * tag + k);
                }
    });
}

TEST_P(OnRanks, GatherPartsOfAnySizeAlsoNone) {
    all([](Transport& at) {
        std::vector<std::int64_t> counts;
        for (int rank = 0; rank < at.size(); ++rank) counts.push_back((3 * rank) % 4); // 0, 3, 2, 1, 0, …
        std::vector<double> mine(static_cast<std::size_t>(counts[static_cast<std::size_t>(at.rank())]));
        std::iota(mine.begin(), mine.end(), 10.0 * at.rank());
        std::vector<double> expected;
        for (int rank = 0; rank < at.size(); ++rank)
            for (std::int64_t k = 0; k < counts[static_cast<std::size_t>(rank)]; ++k)
                expected.push_back(10.0 * rank + static_cast<double>(k));
        EXPECT_EQ(all_gathered(at, std::span<const double>(mine), counts), expected);
        EXPECT_EQ(all_values(at, at.rank() * at.rank()).back(), (at.size() - 1) * (at.size() - 1));
    });
}

TEST_P(OnRanks, GetWhatAnyRankBroadcasts) {
    all([](Transport& at) {
        for (int root = 0; root < at.size(); ++root) {
            EXPECT_EQ(from_rank(at, 100 + at.rank(), root), 100 + root);
            const auto text = std::string(static_cast<std::size_t>(at.rank() * 7), 'x') + "end";
            EXPECT_EQ(text_from_rank(at, text, root).size(), static_cast<std::size_t>(root * 7 + 3));
        }
        EXPECT_TRUE(text_from_rank(at, at.rank() == 0 ? "" : "of another").empty());
    });
}

// None leaves before all have come.
TEST_P(OnRanks, WaitForAllAtABarrier) {
    std::atomic<int> arrived{0};
    all([&](Transport& at) {
        for (int round = 1; round <= 20; ++round) {
            ++arrived;
            at.barrier();
            EXPECT_GE(arrived, round * at.size());
            at.barrier();
        }
    });
}

TEST_P(OnRanks, KnowWhetherAnySaysYes) {
    all([](Transport& at) {
        EXPECT_FALSE(any_rank(at, false));
        for (int one = 0; one < at.size(); ++one) EXPECT_TRUE(any_rank(at, at.rank() == one));
    });
}

TEST_P(OnRanks, DoNotWaitForOneThatHasFailed) {
    const auto message = error_of<InvalidArgument>([] {
        all([](Transport& at) {
            if (at.rank() == at.size() - 1) throw InvalidArgument("the last rank's own error");
            int value = 0;
            at.receive(bytes_of(std::span(&value, 1)), at.size() - 1, 0)->wait();
            ADD_FAILURE() << "received what was never sent";
        });
    });
    EXPECT_EQ(message, "the last rank's own error");
}

// An error of one rank is the error of all, of the same class and words, and all go on.
TEST_P(OnRanks, ShareAnError) {
    std::atomic<int> invalid{0}, no_memory{0}, after{0};
    all([&](Transport& at) {
        try {
            on_root(at, [] { throw InvalidArgument("rank 0 says no"); });
        } catch (const InvalidArgument& error) {
            if (error.what() == std::string("rank 0 says no")) ++invalid;
        }
        try {
            together(at, [&] {
                if (at.rank() == at.size() - 1) throw std::bad_alloc();
            });
        } catch (const std::bad_alloc&) {
            ++no_memory;
        }
        int done = 0;
        on_root(at, [&] { ++done; });
        EXPECT_EQ(done, at.rank() == 0 ? 1 : 0);
        together(at, [&] { ++after; });
    });
    EXPECT_EQ(invalid, ranks());
    EXPECT_EQ(no_memory, ranks());
    EXPECT_EQ(after, ranks());
}

TEST_P(OnRanks, ShareRowsOfUnequalParts) {
    all([](Transport& at) {
        std::vector<std::int64_t> begins{0};
        for (int rank = 0; rank < at.size(); ++rank) begins.push_back(begins.back() + (rank + 2) % 3);
        const auto rows = begins.back();
        std::vector<double> array(static_cast<std::size_t>(2 * rows), -1.0);
        const auto own = static_cast<std::size_t>(at.rank());
        for (auto i = 2 * begins[own]; i < 2 * begins[own + 1]; ++i)
            array[static_cast<std::size_t>(i)] = static_cast<double>(i);
        share_rows(at, array, 2, begins);
        for (std::int64_t i = 0; i < 2 * rows; ++i)
            EXPECT_EQ(array[static_cast<std::size_t>(i)], static_cast<double>(i));
    });
}

/// What says more than its words.
class WithNumber : public InvalidArgument {
public:
    WithNumber(const std::string& words, int the_number) : InvalidArgument(words), number(the_number) {}
    int number;
};

// Where a rank failed alike, it throws its own error, of its own class.
TEST_P(OnRanks, AddUpTheirNumbers) {
    for (const std::size_t count : {0, 1, 2, 7, 100})
        all([&](Transport& at) {
            std::vector<std::int32_t> numbers(count), sums(count);
            for (std::size_t i = 0; i < count; ++i)
                for (int rank = 0; rank < at.size(); ++rank) {
                    const auto of_rank = static_cast<std::int32_t>(i) * 10 + rank * rank;
                    if (rank == at.rank()) numbers[i] = of_rank;
                    sums[i] += of_rank;
                }
            add_over_ranks(at, numbers);
            EXPECT_EQ(numbers, sums) << count;
        });
}

// From rank a to rank b go a + 2b numbers.
TEST_P(OnRanks, ExchangeWhatEachHasForEach) {
    all([&](Transport& at) {
        const auto message = [](int from, int to) {
            return std::vector<int>(static_cast<std::size_t>(from + 2 * to), 100 * from + to);
        };
        std::vector<std::vector<int>> leaving;
        std::vector<int> expected;
        for (int other = 0; other < at.size(); ++other) {
            leaving.push_back(message(at.rank(), other));
            const auto coming = message(other, at.rank());
            expected.insert(expected.end(), coming.begin(), coming.end());
        }
        EXPECT_EQ(exchanged(at, leaving, 5), expected);
    });
}

TEST_P(OnRanks, TakePartsOfRowsAndBringThemBack) {
    for (const std::int64_t rows : {0, 1, 3, 20})
        all([&](Transport& at) {
            std::vector<double> whole(static_cast<std::size_t>(3 * rows));
            std::iota(whole.begin(), whole.end(), 1.0);
            const auto begins = equal_parts(at, rows);
            ASSERT_EQ(begins.back(), rows);
            const auto part = part_from_root(at, at.rank() == 0 ? whole : std::vector<double>(), 3);
            const auto begin = begins[static_cast<std::size_t>(at.rank())],
                       end = begins[static_cast<std::size_t>(at.rank()) + 1];
            EXPECT_EQ(part, std::vector<double>(whole.begin() + 3 * begin, whole.begin() + 3 * end));
            EXPECT_EQ(parts_on_root(at, part), at.rank() == 0 ? whole : std::vector<double>());
        });
}

TEST_P(OnRanks, KeepTheErrorThatIsTheirOwn) {
    std::atomic<int> own{0};
    all([&](Transport& at) {
        try {
            together(at, [&] { throw WithNumber("alike", at.rank()); });
        } catch (const WithNumber& error) {
            if (error.number == at.rank()) ++own;
        }
        try {
            on_root(at, [] { throw WithNumber("of rank 0", 7); });
        } catch (const WithNumber& error) {
            EXPECT_EQ(at.rank(), 0);
            EXPECT_EQ(error.number, 7);
        } catch (const InvalidArgument&) {
            EXPECT_NE(at.rank(), 0);
        }
    });
    EXPECT_EQ(own, ranks());
}

TEST(Transport, IsNotNeededByOneAlone) {
    int done = 0;
    on_root(static_cast<Transport*>(nullptr), [&] { ++done; });
    together(static_cast<Transport*>(nullptr), [&] { ++done; });
    EXPECT_EQ(done, 2);
    EXPECT_EQ(from_rank(static_cast<Transport*>(nullptr), 5), 5);
    EXPECT_TRUE(any_rank(static_cast<Transport*>(nullptr), true));
    EXPECT_FALSE(any_rank(static_cast<Transport*>(nullptr), false));
}

TEST(Transport, NamesTheErrorOfTheLowestRank) {
    std::atomic<int> right{0};
    run_ranks(4, [&](Transport& at) {
        try {
            together(at, [&] {
                if (at.rank() == 1) throw IoError("first");
                if (at.rank() == 3) throw InvalidArgument("second");
            });
        } catch (const IoError& error) {
            if (error.what() == std::string("first")) ++right;
        }
    });
    EXPECT_EQ(right, 4);
}

// A receiver that expects another size has found a defect.
TEST(Transport, RefusesAMessageOfAnotherSize) {
    const auto message = error_of<InternalError>([] {
        run_ranks(2, AnyRank([](Transport& at) {
                      const std::vector<double> two(2);
                      if (at.rank() == 0) return at.send(bytes_of(std::span(two)), 1, 5)->wait();
                      double one = 0.0;
                      at.receive(bytes_of(std::span(&one, 1)), 0, 5)->wait();
                  }));
    });
    test::expect_contains(message, {"rank 1", "8 bytes", "tag 5", "16"});
}

// Ranks agree: one that cannot is enough.
TEST(GpuMessages, AreSentWhereAllRanksCan) {
    run_ranks(3, AnyRank([](Transport& ranks) {
                  EXPECT_FALSE(sends_gpu_memory(ranks, MpiGpu::automatic));
                  EXPECT_FALSE(sends_gpu_memory(ranks, MpiGpu::off));
                  test::expect_contains(
                      error_of<BackendUnavailable>([&] { sends_gpu_memory(ranks, MpiGpu::on); }),
                      {"MPI", "mpi_gpu = auto"});
              }));
    run_ranks(
        3,
        [](const std::shared_ptr<Transport>& ranks) {
            EXPECT_TRUE(sends_gpu_memory(*ranks, MpiGpu::automatic));
            EXPECT_TRUE(sends_gpu_memory(*ranks, MpiGpu::on));
            EXPECT_FALSE(sends_gpu_memory(*ranks, ranks->rank() == 1 ? MpiGpu::off : MpiGpu::automatic));
        },
        true);
}

} // namespace
