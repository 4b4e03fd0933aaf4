// Where threads of a pool run, if OMP_PROC_BIND binds threads. OpenMP then binds the program's first thread
// to one place as it is loaded, and threads inherit that: without this all of them would share one core.
#pragma once

namespace farfield {

/// Asks OpenMP for its places, once: before threads are made that take them, since OpenMP would count those
/// that ask as its own.
void look_at_places();

/// Binds the calling thread to the place of this number, as OpenMP would one of its own; does nothing where
/// OpenMP does not bind.
void take_place(int number);

} // namespace farfield
