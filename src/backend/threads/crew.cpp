#include "backend/threads/crew.h"

#include "backend/threads/await.h"
#include "backend/threads/place.h"

#include <cstddef>

namespace farfield {

Crew::Crew(int size) : failures_(static_cast<std::size_t>(size)) {
    look_at_places();
    try {
        for (int i = 0; i < size; ++i) threads_.emplace_back(&Crew::serve, this, i);
    } catch (...) {
        dismiss();
        throw;
    }
}

Crew::~Crew() { dismiss(); }

void Crew::dismiss() {
    work_ = nullptr;
    ++round_;
    round_.notify_all();
    for (auto& thread : threads_) thread.join();
}

void Crew::run(const std::function<void(int)>& work) {
    work_ = &work;
    busy_ = static_cast<unsigned>(threads_.size());
    ++round_;
    round_.notify_all();
    for (unsigned busy = busy_; busy != 0; busy = busy_) await_change(busy_, busy);
    std::exception_ptr first;
    for (auto& failure : failures_) {
        if (!first) first = failure;
        failure = nullptr;
    }
    if (first) std::rethrow_exception(first);
}

void Crew::serve(int index) {
    take_place(index);
    for (unsigned seen = 0;; ++seen) {
        await_change(round_, seen);
        if (work_ == nullptr) return;
        try {
            (*work_)(index);
        } catch (...) {
            failures_[static_cast<std::size_t>(index)] = std::current_exception();
        }
        --busy_;
        busy_.notify_all();
    }
}

} // namespace farfield
