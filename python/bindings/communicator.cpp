// farfield.Communicator.
#include "communicator.h"

#include "bindings.h"

#include <string>

namespace nb = nanobind;

namespace farfield::python {

Communicator communicator_from(nb::handle value) {
    if (value.is_none()) return {};
    if (nb::isinstance<Communicator>(value)) return nb::cast<Communicator>(value);
    if (nb::hasattr(value, "py2f")) return Communicator::from_mpi(nb::cast<int>(value.attr("py2f")()));
    throw nb::type_error(("comm must be a communicator of mpi4py or a farfield.Communicator, not " +
                          nb::cast<std::string>(value.type().attr("__name__")))
                             .c_str());
}

void bind_communicator(nb::module_& module) {
    nb::class_<Communicator>(
        module, "Communicator",
        "The processes, or ranks, that compute together: those of a launcher such as mpirun, "
        "or this one alone.\n\nGive it, or a communicator of mpi4py, as `comm`.")
        .def(nb::init<>(), "This process alone.")
        .def_static(
            "world", &Communicator::world,
            "All processes that a launcher started together; this one alone where none did. Starts MPI "
            "unless the program has.")
        .def_prop_ro("rank", &Communicator::rank, "Number of this process, from 0.")
        .def_prop_ro("size", &Communicator::size, "How many there are.")
        .def("__repr__", [](const Communicator& self) {
            return "Communicator(rank=" + std::to_string(self.rank()) +
                   ", size=" + std::to_string(self.size()) + ")";
        });
}

} // namespace farfield::python
