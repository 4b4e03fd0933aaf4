// Ctrl-C, SIGTERM and SIGHUP (a lost connection): the first asks for an orderly stop, a second ends the
// program at once.
#pragma once

namespace farfield::app {

/// Installs the handlers for its lifetime.
class StopSignal {
public:
    StopSignal();
    ~StopSignal();
    StopSignal(const StopSignal&) = delete;
    StopSignal& operator=(const StopSignal&) = delete;

    /// The signal that arrived, or 0.
    [[nodiscard]] static int received();
    /// 128 + the signal: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP.
    [[nodiscard]] static int exit_code() { return 128 + received(); }

private:
    bool keeps_hangup_ = false; ///< SIGHUP was ignored already, as under nohup
};

} // namespace farfield::app
