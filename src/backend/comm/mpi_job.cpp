#include "backend/comm/mpi_job.h"

#include "backend/comm/collectives.h"
#include "backend/comm/mpi_calls.h"
#include "backend/threads/parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include <dlfcn.h>

namespace farfield::comm {
namespace {

namespace fs = std::filesystem;

constexpr const char* library_name = "libfarfield_mpi.so";

std::optional<int> number_in(const char* variable) {
    const char* text = std::getenv(variable); // NOLINT(concurrency-mt-unsafe): nobody sets variables here
    if (text == nullptr || *text == '\0') return std::nullopt;
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (*end != '\0' || value < 0 || value > INT_MAX) return std::nullopt;
    return static_cast<int>(value);
}

/// The first of such variables that is there.
template <std::size_t N>
int number_in_any(const char* const (&variables)[N], int otherwise) {
    for (const char* variable : variables)
        if (const auto number = number_in(variable)) return *number;
    return otherwise;
}

fs::path folder_of_this_code() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&ranks_of_launcher), &info) == 0 || info.dli_fname == nullptr)
        return {};
    std::error_code error;
    const auto file = fs::canonical(info.dli_fname, error);
    return error ? fs::path() : file.parent_path();
}

std::vector<std::string> places_of_library() {
    if (const char* named = std::getenv("FARFIELD_MPI_LIBRARY")) // NOLINT(concurrency-mt-unsafe)
        return {named};
    std::vector<std::string> places;
    if (const auto folder = folder_of_this_code(); !folder.empty())
        for (const auto* beside : {"", FARFIELD_LIBRARIES_FROM_PROGRAMS})
            if (const auto file = folder / beside / library_name; fs::exists(file)) places.push_back(file);
    places.emplace_back(library_name);
    return places;
}

/// The table of functions, and where it comes from; or why there is none.
struct Loaded {
    const MpiCalls* calls = nullptr;
    std::string why_not;
};

// Stays loaded: MPI does not expect to go before the program. Its symbols are global, as its own plug-ins
// look for them.
Loaded load() {
    Loaded out;
    for (const auto& place : places_of_library()) {
        void* handle = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
        if (handle == nullptr) {
            const char* words = dlerror(); // NOLINT(concurrency-mt-unsafe): held by one thread at a time
            if (out.why_not.empty()) out.why_not = words == nullptr ? place : words;
            continue;
        }
        const auto function = reinterpret_cast<MpiCallsFunction*>(dlsym(handle, mpi_calls_name));
        const auto* calls = function == nullptr ? nullptr : function();
        if (calls != nullptr && calls->version == mpi_calls_version) return {calls, {}};
        out.why_not = fmt::format("'{}' belongs to another version of Farfield", place);
    }
    return out;
}

const Loaded& loaded() {
    static const Loaded once = load();
    return once;
}

const MpiCalls& calls_or_throw() {
    const auto& found = loaded();
    if (found.calls == nullptr)
        throw BackendUnavailable(
            fmt::format("MPI is not available: {}; build Farfield where an MPI is installed (Debian: "
                        "libopenmpi-dev), or name "
                        "the library in FARFIELD_MPI_LIBRARY, or start one process alone",
                        found.why_not));
    return *found.calls;
}

void require(const MpiCalls& calls, int error, std::string_view what) {
    if (error == 0) return;
    char text[512] = "";
    calls.text_of_error(error, text, sizeof text);
    throw DeviceError(fmt::format("MPI failed in {}: {}", what, text));
}

class MpiMessage : public Message {
public:
    MpiMessage(const MpiCalls& calls, void* message) : calls_(calls), message_(message) {}
    ~MpiMessage() override {
        if (message_ != nullptr) calls_.wait(message_);
    }
    void wait() override {
        if (message_ == nullptr) return;
        const int error = calls_.wait(message_);
        message_ = nullptr;
        require(calls_, error, "waiting for a message");
    }
    bool done() override {
        if (message_ == nullptr) return true;
        int done = 0;
        const int error = calls_.test(message_, &done);
        if (done != 0 || error != 0) message_ = nullptr;
        require(calls_, error, "looking for a message");
        return done != 0;
    }

private:
    const MpiCalls& calls_;
    void* message_;
};

class MpiTransport : public Transport {
public:
    MpiTransport(const MpiCalls& calls, int of) : calls_(calls) {
        require(calls_, calls_.duplicate(of, &communicator_), "copying a communicator");
        require(calls_, calls_.rank(communicator_, &rank_), "asking for the rank");
        require(calls_, calls_.size(communicator_, &size_), "asking for the number of ranks");
        require(calls_, calls_.local(communicator_, &local_rank_, &local_size_),
                "asking for the host's ranks");
    }
    ~MpiTransport() override {
        if (calls_.is_running() != 0) calls_.release(communicator_);
    }

    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return size_; }
    [[nodiscard]] int local_rank() const override { return local_rank_; }
    [[nodiscard]] int local_size() const override { return local_size_; }
    [[nodiscard]] bool takes_gpu_memory() const override { return calls_.takes_gpu_memory() != 0; }

    [[nodiscard]] MessageHandle send(ConstBytes data, int to, int tag) override {
        void* message = nullptr;
        require(calls_, calls_.send(communicator_, data.data(), data.size(), to, tag, &message), "sending");
        return std::make_unique<MpiMessage>(calls_, message);
    }
    [[nodiscard]] MessageHandle receive(Bytes data, int from, int tag) override {
        void* message = nullptr;
        require(calls_, calls_.receive(communicator_, data.data(), data.size(), from, tag, &message),
                "receiving");
        return std::make_unique<MpiMessage>(calls_, message);
    }
    void barrier() override { require(calls_, calls_.barrier(communicator_), "a barrier"); }
    void broadcast(Bytes data, int root) override {
        for (std::size_t begin = 0; begin < data.size(); begin += most_at_once) {
            const auto part = data.subspan(begin, std::min(most_at_once, data.size() - begin));
            require(calls_, calls_.broadcast(communicator_, part.data(), part.size(), root), "a broadcast");
        }
    }
    void all_gather(ConstBytes mine, Bytes all, std::span<const std::size_t> sizes) override {
        if (all.size() >= most_at_once) return all_gather_by_messages(*this, mine, all, sizes);
        std::vector<int> counts, places;
        counts.reserve(sizes.size());
        places.reserve(sizes.size());
        int place = 0;
        for (const auto size : sizes) {
            counts.push_back(static_cast<int>(size));
            places.push_back(place);
            place += static_cast<int>(size);
        }
        require(calls_,
                calls_.all_gather(communicator_, mine.data(), all.data(), counts.data(), places.data()),
                "gathering");
    }
    [[noreturn]] void abort(int code) override {
        calls_.abort(code);
        std::abort(); // MPI does not return
    }

private:
    static constexpr std::size_t most_at_once = std::size_t{1} << 30U;

    const MpiCalls& calls_;
    int communicator_ = 0;
    int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
};

/// MPI as this program has started it; ended with the program.
class World {
public:
    World() : calls_(calls_or_throw()) {
        if (calls_.is_running() == 0) {
            require(calls_, calls_.start(), "its start");
            started_ = true;
        }
        transport_ = std::make_shared<MpiTransport>(calls_, calls_.world());
        share_cores(transport_->local_size());
    }
    World(const World&) = delete;
    World& operator=(const World&) = delete;
    ~World() {
        transport_.reset();
        if (started_ && calls_.is_running() != 0) calls_.finish();
    }
    [[nodiscard]] const std::shared_ptr<MpiTransport>& transport() const { return transport_; }

    static World& instance() {
        static World world;
        begun = true;
        return world;
    }
    inline static bool begun = false;

private:
    const MpiCalls& calls_;
    bool started_ = false;
    std::shared_ptr<MpiTransport> transport_;
};

} // namespace

int ranks_of_launcher() {
    static const char* const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
                                            "SLURM_STEP_NUM_TASKS"};
    return std::max(1, number_in_any(variables, 1));
}

int rank_of_launcher() {
    static const char* const variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK",
                                            "SLURM_PROCID"};
    return number_in_any(variables, 0);
}

std::shared_ptr<Transport> world_of_launcher() {
    if (ranks_of_launcher() == 1) return nullptr;
    return World::instance().transport();
}

std::shared_ptr<Transport> ranks_of_mpi(int fortran_handle) {
    const auto& calls = calls_or_throw();
    if (calls.is_running() == 0)
        throw BackendUnavailable(fmt::format("the communicator belongs to another MPI than the one that "
                                             "Farfield was built for, {}, or MPI was not "
                                             "started",
                                             calls.library()));
    auto ranks = std::make_shared<MpiTransport>(calls, fortran_handle);
    return ranks->size() == 1 ? nullptr : ranks;
}

bool has_mpi() { return loaded().calls != nullptr; }

std::string mpi_in_words() {
    const auto& found = loaded();
    return found.calls != nullptr ? found.calls->library() : fmt::format("none ({})", found.why_not);
}

bool all_ranks_arrive(double seconds) {
    if (!World::begun) { // rank 0 is to speak before a launcher ends it for another's sake
        if (rank_of_launcher() != 0)
            std::this_thread::sleep_for(std::chrono::duration<double>(seconds / 4.0));
        return true;
    }
    const auto& calls = calls_or_throw();
    void* message = nullptr;
    if (calls.arrive(calls.world(), &message) != 0) return false;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < end) {
        int done = 0;
        if (calls.test(message, &done) != 0) return false;
        if (done != 0) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
}

void end_job(int code) {
    if (World::begun) calls_or_throw().abort(code);
}

} // namespace farfield::comm
