// Memory of a GPU that ranks of one host, processes of their own, open for each other by CUDA's handles.
#pragma once

#include "backend/comm/transport.h"

#include <cuda_runtime_api.h>

#include <set>
#include <vector>

#include <unistd.h>

namespace farfield::cuda {

/// False leaves no error behind: another way is taken.
inline bool succeeded(cudaError_t status) {
    if (status == cudaSuccess) return true;
    cudaGetLastError();
    return false;
}

/// Sets `memory` to what a handle stands for.
template <class T>
bool opened(T*& memory, cudaIpcMemHandle_t handle) {
    void* place = nullptr;
    if (!succeeded(cudaIpcOpenMemHandle(&place, handle, cudaIpcMemLazyEnablePeerAccess))) return false;
    memory = static_cast<T*>(place);
    return true;
}

/// The processes of the ranks, where these are of one host; otherwise none. Nor are there any of threads that
/// play ranks: they have one memory, which no handle opens. Collective.
inline std::vector<pid_t> processes_of_one_host(comm::Transport& ranks) {
    const auto processes = comm::all_values(ranks, ::getpid());
    const bool distinct = std::set<pid_t>(processes.begin(), processes.end()).size() == processes.size();
    if (comm::any_rank(ranks, ranks.local_size() != ranks.size() || !distinct)) return {};
    return processes;
}

} // namespace farfield::cuda
