#include <farfield/version.h>

#define FF_STRING_OF(x) #x
#define FF_STRING(x) FF_STRING_OF(x)

namespace farfield {

std::string_view version() {
    return FF_STRING(FARFIELD_VERSION_MAJOR) "." FF_STRING(FARFIELD_VERSION_MINOR) "." FF_STRING(
        FARFIELD_VERSION_PATCH);
}

} // namespace farfield
