// libfarfield_mpi: what Farfield asks of MPI, as the table of functions in mpi_calls.h. Built for the MPI
// that was found; nothing else of Farfield includes mpi.h.
#include "backend/comm/mpi_calls.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <string>
#include <vector>

#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

namespace farfield::comm {
namespace {

constexpr std::size_t most_at_once = std::size_t{1} << 30U; ///< MPI counts in int

/// Pieces of one message, each small enough for MPI.
struct Pieces {
    std::vector<MPI_Request> requests;
};

MPI_Comm of(int handle) { return MPI_Comm_f2c(static_cast<MPI_Fint>(handle)); }

template <class Call>
int in_pieces(std::size_t bytes, void** message, const Call& call) {
    auto* pieces = new Pieces;
    std::size_t begin = 0;
    do { // a message of no bytes is sent, too
        const auto size = std::min(most_at_once, bytes - begin);
        pieces->requests.push_back(MPI_REQUEST_NULL);
        if (const int error = call(begin, static_cast<int>(size), &pieces->requests.back()); error != 0) {
            delete pieces;
            return error;
        }
        begin += size;
    } while (begin < bytes);
    *message = pieces;
    return 0;
}

const char* library() {
    static const std::string text = [] {
        char words[MPI_MAX_LIBRARY_VERSION_STRING] = "";
        int length = 0;
        MPI_Get_library_version(words, &length);
        const std::string all(words, static_cast<std::size_t>(std::max(length, 0)));
        return all.substr(0, all.find_first_of(",\n"));
    }();
    return text.c_str();
}

int is_running() {
    int begun = 0, ended = 0;
    MPI_Initialized(&begun);
    if (begun != 0) MPI_Finalized(&ended);
    return begun != 0 && ended == 0 ? 1 : 0;
}

int start() {
    int provided = 0;
    return MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
}

int finish() { return MPI_Finalize(); }
void abort_job(int code) { MPI_Abort(MPI_COMM_WORLD, code); }
int world() { return MPI_Comm_c2f(MPI_COMM_WORLD); }

int duplicate(int communicator, int* copy) {
    MPI_Comm made = MPI_COMM_NULL;
    if (const int error = MPI_Comm_dup(of(communicator), &made); error != 0) return error;
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    *copy = MPI_Comm_c2f(made);
    return 0;
}

int release(int communicator) {
    MPI_Comm gone = of(communicator);
    return MPI_Comm_free(&gone);
}

int rank_of(int communicator, int* rank) { return MPI_Comm_rank(of(communicator), rank); }
int size_of(int communicator, int* size) { return MPI_Comm_size(of(communicator), size); }

int local(int communicator, int* rank, int* size) {
    MPI_Comm host = MPI_COMM_NULL;
    if (const int error =
            MPI_Comm_split_type(of(communicator), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
        error != 0)
        return error;
    MPI_Comm_rank(host, rank);
    MPI_Comm_size(host, size);
    return MPI_Comm_free(&host);
}

int send(int communicator, const void* data, std::size_t bytes, int to, int tag, void** message) {
    const auto* from = static_cast<const char*>(data);
    return in_pieces(bytes, message, [&](std::size_t begin, int size, MPI_Request* request) {
        return MPI_Isend(from + begin, size, MPI_BYTE, to, tag, of(communicator), request);
    });
}

int receive(int communicator, void* data, std::size_t bytes, int from, int tag, void** message) {
    auto* to = static_cast<char*>(data);
    return in_pieces(bytes, message, [&](std::size_t begin, int size, MPI_Request* request) {
        return MPI_Irecv(to + begin, size, MPI_BYTE, from, tag, of(communicator), request);
    });
}

int wait(void* message) {
    auto* pieces = static_cast<Pieces*>(message);
    const int error =
        MPI_Waitall(static_cast<int>(pieces->requests.size()), pieces->requests.data(), MPI_STATUSES_IGNORE);
    delete pieces;
    return error;
}

int test(void* message, int* done) {
    auto* pieces = static_cast<Pieces*>(message);
    const int error = MPI_Testall(static_cast<int>(pieces->requests.size()), pieces->requests.data(), done,
                                  MPI_STATUSES_IGNORE);
    if (*done != 0 || error != 0) delete pieces;
    return error;
}

int barrier(int communicator) { return MPI_Barrier(of(communicator)); }

int arrive(int communicator, void** message) {
    auto* pieces = new Pieces{{MPI_REQUEST_NULL}};
    *message = pieces;
    return MPI_Ibarrier(of(communicator), pieces->requests.data());
}

int broadcast(int communicator, void* data, std::size_t bytes, int root) {
    return MPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, root, of(communicator));
}

int all_gather(int communicator, const void* mine, void* all, const int* sizes, const int* places) {
    int rank = 0;
    if (const int error = rank_of(communicator, &rank); error != 0) return error;
    return MPI_Allgatherv(mine, sizes[rank], MPI_BYTE, all, sizes, places, MPI_BYTE, of(communicator));
}

void text_of_error(int error, char* text, int capacity) {
    char words[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (MPI_Error_string(error, words, &length) != MPI_SUCCESS) return;
    std::strncpy(text, words, static_cast<std::size_t>(capacity) - 1);
    text[capacity - 1] = '\0';
}

int takes_gpu_memory() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support();
#else
    return 0;
#endif
}

constexpr MpiCalls table{.version = mpi_calls_version,
                         .library = library,
                         .is_running = is_running,
                         .start = start,
                         .finish = finish,
                         .abort = abort_job,
                         .world = world,
                         .duplicate = duplicate,
                         .release = release,
                         .rank = rank_of,
                         .size = size_of,
                         .local = local,
                         .send = send,
                         .receive = receive,
                         .wait = wait,
                         .test = test,
                         .barrier = barrier,
                         .arrive = arrive,
                         .broadcast = broadcast,
                         .all_gather = all_gather,
                         .text_of_error = text_of_error,
                         .takes_gpu_memory = takes_gpu_memory};

} // namespace
} // namespace farfield::comm

extern "C" __attribute__((visibility("default"))) const farfield::comm::MpiCalls* farfield_mpi_calls() {
    return &farfield::comm::table;
}
