// Where threads of a pool run, if OMP_PROC_BIND binds threads. OpenMP then binds the program's first thread
// to one place as it is loaded, and threads inherit that: without this all of them would share one core.
#pragma once

namespace farfield {

/// Binds the calling thread to the place of this number, as OpenMP would its own; does nothing where OpenMP
/// does not bind.
void take_place(int number);

} // namespace farfield
