// Threads that stay: each does its own numbered part of whatever the crew is given, again and again. For work
// that belongs to a thread, such as driving one GPU; to share out independent tasks, use parallel.h.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace farfield {

class Crew {
public:
    /// Starts `size` ≥ 1 threads.
    explicit Crew(int size);
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    /// Calls work(i) on thread i, for all i, and returns when all calls have. Of exceptions the one of the
    /// lowest i is rethrown. Called by one thread at a time, and not by the crew's own.
    void run(const std::function<void(int)>& work);

private:
    void serve(int index);
    void dismiss();

    const std::function<void(int)>* work_ = nullptr; ///< null: go home
    std::atomic<unsigned> round_{0};                 ///< counts the calls of `run`
    std::atomic<unsigned> busy_{0};                  ///< threads that are not done with this round
    std::vector<std::exception_ptr> failures_;
    std::vector<std::thread> threads_;
};

} // namespace farfield
