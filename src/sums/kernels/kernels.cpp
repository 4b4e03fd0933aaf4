// The table of kernels.
#include "sums/kernels/kernel.h"

#include <farfield/error.h>

#include <array>

namespace farfield {

std::span<const KernelInfo* const> kernels() {
    static const std::array table{&gravity_kernel(), &coulomb_kernel(), &laplace2d_kernel(), &gauss_kernel(),
                                  &vortex2d_kernel()};
    return table;
}

const KernelInfo& kernel_info(Kernel kernel) {
    for (const auto* info : kernels())
        if (info->value == kernel) return *info;
    throw InternalError("a kernel without a row in the table");
}

} // namespace farfield
