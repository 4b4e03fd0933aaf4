#include "backend/comm/agree.h"

#include <exception>
#include <new>
#include <tuple>

namespace farfield::comm {
namespace {

// The classes of error.h, by number; 0 is none, the last any other exception.
using Kinds = std::tuple<InvalidArgument, BackendUnavailable, DeviceError, CompileError, IoError,
                         ToleranceNotReached, Interrupted, InternalError, RankFailed>;
constexpr int kinds = std::tuple_size_v<Kinds>;
constexpr int no_memory = kinds + 1, other = kinds + 2;

template <int K = 0>
int kind_of(const std::exception& error) {
    if constexpr (K < kinds) {
        if (dynamic_cast<const std::tuple_element_t<static_cast<std::size_t>(K), Kinds>*>(&error) != nullptr)
            return K + 1;
        return kind_of<K + 1>(error);
    } else {
        return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ? no_memory : other;
    }
}

template <int K = 0>
[[noreturn]] void throw_kind(int kind, const std::string& text) {
    if constexpr (K < kinds) {
        if (kind == K + 1) throw std::tuple_element_t<static_cast<std::size_t>(K), Kinds>(text);
        throw_kind<K + 1>(kind, text);
    } else {
        if (kind == no_memory) throw std::bad_alloc();
        throw Error(text);
    }
}

struct Failure {
    int kind = 0;
    std::string text;
    std::exception_ptr error;

    /// The error that all agree on: this rank's own where it is the same, as its class may say more.
    [[noreturn]] void throw_as(int agreed, const std::string& words) const {
        if (kind == agreed && text == words) std::rethrow_exception(error);
        throw_kind(agreed, words);
    }
};

Failure failure_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const std::exception& error) {
        return {kind_of(error), error.what(), std::current_exception()};
    }
    return {};
}

} // namespace

void on_root(Transport& transport, const std::function<void()>& work) {
    if (transport.size() == 1) return work();
    Failure failure;
    if (transport.rank() == 0) failure = failure_of(work);
    const int kind = from_rank(transport, failure.kind);
    if (kind != 0) failure.throw_as(kind, text_from_rank(transport, failure.text));
}

void together(Transport& transport, const std::function<void()>& work) {
    if (transport.size() == 1) return work();
    const auto failure = failure_of(work);
    const auto all = all_values(transport, failure.kind);
    for (int rank = 0; rank < transport.size(); ++rank)
        if (const int kind = all[static_cast<std::size_t>(rank)]; kind != 0)
            failure.throw_as(kind, text_from_rank(transport, failure.text, rank));
}

} // namespace farfield::comm
