// Ranks of an MPI job. The library that knows MPI is looked for beside Farfield's own, in the file that the
// environment's FARFIELD_MPI_LIBRARY names, and then where the loader looks.
#pragma once

#include "backend/comm/transport.h"

#include <memory>
#include <string>

namespace farfield::comm {

/// As a launcher's variables tell it, without MPI: 1 where there is none. Open MPI's mpirun, MPICH's and
/// Intel's mpiexec, MVAPICH's, and srun with PMIx or PMI are known.
int ranks_of_launcher();
int rank_of_launcher();

/// Null where the launcher started this process alone. @throws as Communicator::world.
std::shared_ptr<Transport> world_of_launcher();
std::shared_ptr<Transport> ranks_of_mpi(int fortran_handle);

/// Whether the library is there.
bool has_mpi();
/// Words for `farfield info`: the MPI that it was built for, or why there is none.
std::string mpi_in_words();

/// All ranks of the world have failed alike if all call this within some seconds, and true is returned: each
/// may end by itself. Otherwise the others are at work, or wait for this one.
bool all_ranks_arrive(double seconds);
/// Ends all ranks of the world. Does nothing where this process is alone.
void end_job(int code);

} // namespace farfield::comm
