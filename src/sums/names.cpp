// The names of the options of a sum.
#include "base/names.h"

#include <farfield/sum.h>

namespace farfield {
namespace {

constexpr NameTable<2> kernel_names{"gravity", "coulomb"};
constexpr NameTable<1> method_names{"direct"};
constexpr NameTable<3> precision_names{"float", "double", "mixed"};
constexpr NameTable<5> isa_names{"auto", "scalar", "sse4.2", "avx2", "avx512"};
constexpr NameTable<2> coincident_names{"error", "skip"};
constexpr NameTable<19> variant_names{"auto",       "naive",         "soa",           "simd",   "symmetric",
                                      "one-thread", "constant",      "rsqrt",         "shared", "unrolled",
                                      "softened",   "fma",           "unrolled-128",  "flush",  "two-loops",
                                      "atomics",    "atomics-tiled", "register-tile", "tensor"};
constexpr NameTable<2> multi_gpu_names{"threads", "single"};
constexpr NameTable<5> exchange_names{"auto", "host", "mapped", "write-combined", "peer"};

} // namespace

FF_DEFINE_ENUM_NAMES(Kernel, kernel_names)
FF_DEFINE_ENUM_NAMES(Method, method_names)
FF_DEFINE_ENUM_NAMES(Precision, precision_names)
FF_DEFINE_ENUM_NAMES(Isa, isa_names)
FF_DEFINE_ENUM_NAMES(Coincident, coincident_names)
FF_DEFINE_ENUM_NAMES(Variant, variant_names)
FF_DEFINE_ENUM_NAMES(MultiGpu, multi_gpu_names)
FF_DEFINE_ENUM_NAMES(Exchange, exchange_names)

} // namespace farfield
