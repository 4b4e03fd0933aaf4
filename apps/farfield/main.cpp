// The command line program: builds the parser from the table of commands, runs one, and turns every failure
// into one line on stderr and an exit code: 0 done, 2 the user's mistake, 1 ours or the machine's,
// 129, 130 and 143 stopped by SIGHUP, Ctrl-C and SIGTERM.
#include "command_line.h"
#include "ranks.h"

#include <farfield/error.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

namespace {

int fail(int code, std::string_view message) {
    return farfield::app::end_with_failure(code, "farfield: error: " + std::string(message) + '\n');
}

int run(int argc, char** argv) {
    // what ranks print is the same on all
    if (!farfield::app::speaks() && std::freopen("/dev/null", "w", stdout) == nullptr) std::fclose(stdout);
    const int code = farfield::app::run_command_line(argc, argv);
    if (std::fflush(stdout) != 0)
        return fail(1, "cannot write to standard output; check where it is sent to");
    return code;
}

} // namespace

int main(int argc, char** argv) try {
    return run(argc, argv);
} catch (const farfield::InvalidArgument& error) {
    return fail(2, error.what());
} catch (const farfield::CompileError& error) {
    return fail(2, error.what());
} catch (const farfield::BackendUnavailable& error) {
    return fail(2, error.what());
} catch (const farfield::InternalError& error) {
    return fail(1, std::string(error.what()) + " (a defect of farfield; please report it)");
} catch (const farfield::Error& error) {
    return fail(1, error.what());
} catch (const std::bad_alloc&) {
    return fail(1, "not enough memory; use fewer bodies or a machine with more memory");
} catch (const std::system_error& error) {
    return fail(1, error.what()); // such as standard output on a full disk
} catch (const std::exception& error) {
    return fail(1, std::string("unexpected: ") + error.what() + " (a defect of farfield; please report it)");
} catch (...) {
    return fail(1, "unexpected failure (a defect of farfield; please report it)");
}
