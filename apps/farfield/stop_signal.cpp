// Signal handlers; they do no more than the few things a handler may do.
#include "stop_signal.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace farfield::app {
namespace {

std::atomic<int> received_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_stop_signal(int signal) {
    int none = 0;
    if (!received_signal.compare_exchange_strong(none, signal)) ::_exit(128 + signal);
}

void handle(int signal, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART; // a write of the checkpoint must not be cut short
    ::sigaction(signal, &action, nullptr);
}

} // namespace

StopSignal::StopSignal() {
    received_signal = 0;
    handle(SIGINT, on_stop_signal);
    handle(SIGTERM, on_stop_signal);
    struct sigaction before {};
    ::sigaction(SIGHUP, nullptr, &before);
    keeps_hangup_ = before.sa_handler == SIG_IGN; // nohup: the run is to outlive its terminal
    if (!keeps_hangup_) handle(SIGHUP, on_stop_signal);
    handle(SIGPIPE, SIG_IGN); // whoever read our messages may leave; the run goes on
}

StopSignal::~StopSignal() {
    handle(SIGINT, SIG_DFL);
    handle(SIGTERM, SIG_DFL);
    if (!keeps_hangup_) handle(SIGHUP, SIG_DFL);
    handle(SIGPIPE, SIG_DFL);
}

int StopSignal::received() { return received_signal; }

} // namespace farfield::app
