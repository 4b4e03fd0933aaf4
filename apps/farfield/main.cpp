#include <farfield/farfield.h>

#include <fmt/core.h>

int main() {
    fmt::print("farfield {}\n", farfield::version());
    return 0;
}
