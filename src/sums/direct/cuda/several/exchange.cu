#include "sums/direct/cuda/several/exchange.cuh"

#include "backend/cuda/check.h"
#include "backend/cuda/device_scope.h"

#include <farfield/error.h>

#include <algorithm>
#include <set>
#include <string>

namespace farfield::cuda {

namespace {

constexpr std::size_t row_bytes = sizeof(Vec4<double>);

// Rows of `pieces` 16-byte pieces, a row a blockIdx.y. Plain loads and stores, so that either side may be
// mapped memory.
__global__ void copy_rows_kernel(uint4* to, const uint4* from, long long pieces, long long to_pitch,
                                 long long from_pitch) {
    to += static_cast<long long>(blockIdx.y) * to_pitch;
    from += static_cast<long long>(blockIdx.y) * from_pitch;
    const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < pieces; i += stride)
        to[i] = from[i];
}

// True where `reader` can use the memory of `owner`.
bool reaches(int reader, int owner) {
    int can = 0;
    check(cudaDeviceCanAccessPeer(&can, reader, owner), "asking whether GPUs reach each other's memory");
    return can != 0;
}

void open_memory(int reader, int owner) {
    const DeviceScope scope(reader);
    const cudaError_t status = cudaDeviceEnablePeerAccess(owner, 0);
    if (status == cudaErrorPeerAccessAlreadyEnabled)
        cudaGetLastError(); // not an error: another sum has opened it
    else
        check(status, "letting GPUs read each other's memory");
}

} // namespace

Exchange usable_exchange(Exchange wanted, const std::vector<int>& devices) {
    if (wanted != Exchange::automatic && wanted != Exchange::peer) return wanted;
    const std::set<int> distinct(devices.begin(), devices.end());
    for (int reader : distinct)
        for (int owner : distinct) {
            if (reader == owner || reaches(reader, owner)) continue;
            if (wanted == Exchange::automatic) return Exchange::host;
            throw BackendUnavailable("cuda:" + std::to_string(reader) +
                                     " cannot read the memory of cuda:" + std::to_string(owner) +
                                     ", which the exchange 'peer' needs; use 'host', 'mapped', "
                                     "'write-combined' or 'auto'");
        }
    for (int reader : distinct)
        for (int owner : distinct)
            if (reader != owner) open_memory(reader, owner);
    return Exchange::peer;
}

PartsExchange::PartsExchange(Exchange way, int n, std::size_t point_bytes, std::vector<ExchangePart> parts)
    : way_(way), n_(static_cast<std::size_t>(n)), point_bytes_(point_bytes) {
    for (const auto& each : parts) {
        use_device(each.device); // events belong to a device
        Part part;
        static_cast<ExchangePart&>(part) = each;
        part.first_subtree = subtrees_;
        subtrees_ += each.subtrees;
        parts_.push_back(std::move(part));
    }
    if (way_ == Exchange::peer) return;
    switch (way_) {
    case Exchange::mapped:
        mapped_ = MappedArray<std::byte>(staging_bytes());
        host_points_ = mapped_.data();
        break;
    case Exchange::write_combined:
        write_combined_ = WriteCombinedArray<std::byte>(staging_bytes());
        host_points_ = write_combined_.data();
        break;
    default:
        pinned_ = PinnedArray<std::byte>(staging_bytes());
        host_points_ = pinned_.data();
    }
    host_subtrees_ = reinterpret_cast<Vec4<double>*>(host_points_ + n_ * point_bytes_);
    if (!by_copies()) return;
    for (auto& part : parts_) {
        use_device(part.device);
        part.gathered = DeviceArray<Vec4<double>>(static_cast<std::size_t>(subtrees_ - part.subtrees) *
                                                  static_cast<std::size_t>(part.bodies()));
    }
}

std::size_t PartsExchange::staging_bytes() const {
    return n_ * point_bytes_ + static_cast<std::size_t>(subtrees_) * n_ * row_bytes;
}

void PartsExchange::copy_rows(std::byte* to, const std::byte* from, std::size_t width, int rows,
                              std::size_t to_pitch, std::size_t from_pitch, cudaStream_t stream) const {
    if (width == 0 || rows == 0) return;
    if (way_ != Exchange::mapped && rows == 1) {
        check(cudaMemcpyAsync(to, from, width, cudaMemcpyDefault, stream), "exchanging data between GPUs");
        return;
    }
    if (way_ != Exchange::mapped) {
        check(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, static_cast<std::size_t>(rows),
                                cudaMemcpyDefault, stream),
              "exchanging data between GPUs");
        return;
    }
    constexpr std::size_t threads = 256, most_blocks = 128, piece = sizeof(uint4);
    const auto blocks = std::min((width / piece + threads - 1) / threads, most_blocks);
    copy_rows_kernel<<<dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(rows)), threads, 0,
                       stream>>>(reinterpret_cast<uint4*>(to), reinterpret_cast<const uint4*>(from),
                                 static_cast<long long>(width / piece),
                                 static_cast<long long>(to_pitch / piece),
                                 static_cast<long long>(from_pitch / piece));
    check_launch("exchanging data between GPUs");
}

void PartsExchange::offer_points(int p) {
    auto& own = part(p);
    if (way_ != Exchange::peer) {
        const auto first = static_cast<std::size_t>(own.begin) * point_bytes_;
        const auto width = static_cast<std::size_t>(own.bodies()) * point_bytes_;
        copy_rows(host_points_ + first, own.points + first, width, 1, width, width, own.stream);
    }
    own.ready.record(own.stream);
}

void PartsExchange::take_points(int p) {
    auto& own = part(p);
    for (auto& other : parts_)
        if (&other != &own) other.ready.hold(own.stream);
    if (way_ == Exchange::peer) {
        for (const auto& other : parts_)
            if (&other != &own) copy_points(own, other);
        return;
    }
    const auto before = static_cast<std::size_t>(own.begin) * point_bytes_;
    const auto first_after = static_cast<std::size_t>(own.end) * point_bytes_;
    const auto after = n_ * point_bytes_ - first_after;
    copy_rows(own.points, host_points_, before, 1, before, before, own.stream);
    copy_rows(own.points + first_after, host_points_ + first_after, after, 1, after, after, own.stream);
}

void PartsExchange::copy_points(const Part& to, const Part& from) {
    const auto first = static_cast<std::size_t>(from.begin) * point_bytes_;
    const auto bytes = static_cast<std::size_t>(from.bodies()) * point_bytes_;
    if (bytes == 0) return;
    check(
        cudaMemcpyPeerAsync(to.points + first, to.device, from.points + first, from.device, bytes, to.stream),
        "exchanging points between GPUs");
}

// All rows but those of its own bodies, which nobody else needs.
void PartsExchange::offer_subtrees(int p) {
    auto& own = part(p);
    if (way_ != Exchange::peer && own.subtrees > 0) {
        const auto pitch = n_ * row_bytes;
        auto* to =
            reinterpret_cast<std::byte*>(host_subtrees_ + static_cast<std::size_t>(own.first_subtree) * n_);
        const auto* from = reinterpret_cast<const std::byte*>(own.stack);
        const auto before = static_cast<std::size_t>(own.begin) * row_bytes;
        const auto after = static_cast<std::size_t>(own.end) * row_bytes;
        copy_rows(to, from, before, own.subtrees, pitch, pitch, own.stream);
        copy_rows(to + after, from + after, pitch - after, own.subtrees, pitch, pitch, own.stream);
    }
    own.passed.record(own.stream);
}

// Holding for `passed` of all others also keeps later work of this stream from overwriting points that others
// still read.
void PartsExchange::take_subtrees(int p) {
    auto& own = part(p);
    for (auto& other : parts_)
        if (&other != &own) other.passed.hold(own.stream);
    if (!by_copies()) return; // read in place
    const auto width = static_cast<std::size_t>(own.bodies()) * row_bytes, pitch = n_ * row_bytes;
    const auto* from = reinterpret_cast<const std::byte*>(host_subtrees_ + own.begin);
    auto* to = reinterpret_cast<std::byte*>(own.gathered.data());
    const int after = own.first_subtree + own.subtrees;
    copy_rows(to, from, width, own.first_subtree, width, pitch, own.stream);
    copy_rows(to + static_cast<std::size_t>(own.first_subtree) * width,
              from + static_cast<std::size_t>(after) * pitch, width, subtrees_ - after, width, pitch,
              own.stream);
}

std::vector<const Vec4<double>*> PartsExchange::subtrees_for(int p) const {
    const auto& own = parts_[static_cast<std::size_t>(p)];
    const auto first = static_cast<std::size_t>(own.begin);
    std::vector<const Vec4<double>*> places;
    const auto* gathered = own.gathered.data();
    for (const auto& other : parts_)
        for (int k = 0; k < other.subtrees; ++k) {
            if (&other == &own || way_ == Exchange::peer) {
                places.push_back(other.stack + static_cast<std::size_t>(k) * n_ + first);
            } else if (by_copies()) {
                places.push_back(gathered);
                gathered += own.bodies();
            } else {
                places.push_back(host_subtrees_ + static_cast<std::size_t>(other.first_subtree + k) * n_ +
                                 first);
            }
        }
    return places;
}

} // namespace farfield::cuda
