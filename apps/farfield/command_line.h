// The parser of the whole command line.
#pragma once

namespace farfield::app {

/// Parses the arguments and runs the command. @throws InvalidArgument for what cannot be parsed.
int run_command_line(int argc, char** argv);

} // namespace farfield::app
