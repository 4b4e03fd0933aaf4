// Memory and clock of the hand-written loop.
#include "studies/plain_te_run.h"

#include "backend/simd/isa.h"
#include "backend/threads/parallel.h"
#include "plain_te.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sys/mman.h>

namespace farfield {

// Memory as a careful programmer asks for it: large pages, rows that do not collide in the caches.
class PlainRows {
public:
    PlainRows(std::int64_t n, int number, int threads) : pitch_((n * 8 + 127) / 128 * 16 + 8) {
        const auto bytes = static_cast<std::size_t>(pitch_ * (n + 2) * 8 + 8192);
        constexpr std::size_t page = std::size_t{1} << 21;
        memory_.reset(static_cast<std::byte*>(std::aligned_alloc(page, (bytes + page - 1) / page * page)));
        if (!memory_)
            throw IoError(fmt::format("{} bytes of memory are not to be had; take smaller grids", bytes));
#ifdef MADV_HUGEPAGE
        madvise(memory_.get(), bytes, MADV_HUGEPAGE);
#endif
        start_ = reinterpret_cast<double*>(memory_.get() + std::ptrdiff_t{576} * number) + pitch_;
        parallel_for(threads, threads, [&](std::int64_t t) {
            const auto begin = n * t / threads;
            std::memset(start_ + begin * pitch_, 0,
                        static_cast<std::size_t>((n * (t + 1) / threads - begin) * pitch_ * 8));
        });
    }
    double* data() const { return start_; }
    std::int64_t pitch() const { return pitch_; }

private:
    std::int64_t pitch_;
    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };
    std::unique_ptr<std::byte, Free> memory_;
    double* start_ = nullptr;
};

namespace {

using PlainLoop = void (*)(const FfPlainTe*);

PlainLoop plain_loop() {
#if defined(__x86_64__)
    const auto isa = resolve_isa(Isa::automatic);
    if (isa == Isa::avx512) return ff_plain_te_avx512;
    if (isa == Isa::avx2) return ff_plain_te_avx2;
#endif
    return ff_plain_te_scalar;
}

std::vector<double> values_in(const double* first, std::int64_t n, std::int64_t pitch) {
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(n * n));
    for (std::int64_t y = 0; y < n; ++y) {
        const double* row = first + y * pitch;
        values.insert(values.end(), row, row + n);
    }
    return values;
}

} // namespace

struct PlainTeRun::State {
    std::array<std::optional<PlainRows>, 4> fields;
    std::vector<long> first, last;
    FfPlainTe task{};
    std::function<double(double)> wave;
    std::int64_t step = 0;
    std::vector<double> waves;
};

PlainTeRun::PlainTeRun(const PlainTeTask& of) : state_(std::make_unique<State>()) {
    for (int f = 0; f < 4; ++f) state_->fields[f].emplace(of.n, f, of.threads);
    auto& task = state_->task;
    task.n = of.n;
    task.pitch = state_->fields[0]->pitch();
    task.ex = state_->fields[0]->data();
    task.ey = state_->fields[1]->data();
    task.hz = state_->fields[2]->data();
    task.energy = state_->fields[3]->data();
    task.courant = 0.5;
    task.source_x = of.source_x;
    task.source_y = of.source_y;
    task.threads = of.threads;
    task.electric_everywhere = of.electric_everywhere ? 1 : 0;
    state_->wave = of.wave;
    if (of.cells == nullptr) return;
    for (std::int64_t y = 0; y < of.n; ++y) {
        const auto row = of.cells->row(y);
        state_->first.push_back(row.empty() ? 0 : row.front().first);
        state_->last.push_back(row.empty() ? 0 : row.back().last);
    }
    task.first = state_->first.data();
    task.last = state_->last.data();
}

PlainTeRun::~PlainTeRun() = default;
PlainTeRun::PlainTeRun(PlainTeRun&&) noexcept = default;
PlainTeRun& PlainTeRun::operator=(PlainTeRun&&) noexcept = default;

void PlainTeRun::advance(std::int64_t steps) {
    state_->waves.resize(static_cast<std::size_t>(steps));
    for (auto& wave : state_->waves) wave = state_->wave(static_cast<double>(state_->step++));
    state_->task.steps = steps;
    state_->task.waves = state_->waves.data();
    plain_loop()(&state_->task);
}

std::vector<double> PlainTeRun::magnetic() const {
    return values_in(state_->task.hz, state_->task.n, state_->task.pitch);
}

std::vector<double> PlainTeRun::energy() const {
    return values_in(state_->task.energy, state_->task.n, state_->task.pitch);
}

} // namespace farfield
