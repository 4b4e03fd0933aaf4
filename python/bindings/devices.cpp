// farfield.gpus and why_no_gpu.
#include "bindings.h"
#include "pickles.h"

#include <farfield/device.h>

#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace farfield::python {

void bind_devices(nb::module_& module) {
    auto cls = nb::class_<GpuInfo>(module, "Gpu", "A GPU of this machine that farfield can use.");
    cls.def_ro("index", &GpuInfo::index, "CUDA's number, as in device=\"cuda:1\".")
        .def_ro("name", &GpuInfo::name)
        .def_prop_ro(
            "compute_capability",
            [](const GpuInfo& gpu) { return std::to_string(gpu.major) + "." + std::to_string(gpu.minor); })
        .def_ro("multiprocessors", &GpuInfo::multiprocessors)
        .def_ro("memory_bytes", &GpuInfo::memory_bytes);
    make_record(cls, {"index", "name", "compute_capability", "multiprocessors", "memory_bytes"});
    make_picklable(cls, &GpuInfo::index, &GpuInfo::name, &GpuInfo::major, &GpuInfo::minor,
                   &GpuInfo::multiprocessors, &GpuInfo::memory_bytes);
    module.def("gpus", &gpus,
               "The GPUs that can be used; empty where there is none or no CUDA in this build.");
    module.def("why_no_gpu", &why_no_gpu,
               "Why `gpus()` is empty, in one line with the remedy; empty where it is not.");
}

} // namespace farfield::python
