// What a launcher's variables say, and the refusal to start several processes that know nothing of each
// other.
#include "backend/comm/mpi_job.h"
#include "environment.h"
#include "expect_error.h"

#include <farfield/communicator.h>
#include <farfield/error.h>

#include <gtest/gtest.h>

using namespace farfield;

namespace {

TEST(Launcher, IsAbsentWithoutItsVariables) {
    EXPECT_EQ(comm::ranks_of_launcher(), 1);
    const auto world = Communicator::world();
    EXPECT_EQ(world.size(), 1);
    EXPECT_EQ(world.rank(), 0);
    EXPECT_EQ(world, Communicator());
}

TEST(Launcher, IsKnownByTheVariablesOfSeveralKinds) {
    for (const auto* size :
         {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}) {
        const test::Variable ranks(size, "5");
        EXPECT_EQ(comm::ranks_of_launcher(), 5) << size;
    }
    const test::Variable ranks("OMPI_COMM_WORLD_SIZE", "many");
    EXPECT_EQ(comm::ranks_of_launcher(), 1);
}

// Several processes that each believe to be alone would write the same files.
TEST(Launcher, OfSeveralRanksNeedsMpi) {
    const test::Variable ranks("OMPI_COMM_WORLD_SIZE", "2");
    const test::Variable library("FARFIELD_MPI_LIBRARY", "/nowhere/libfarfield_mpi.so");
    const auto message = test::error_of<BackendUnavailable>([] { Communicator::world(); });
    test::expect_contains(message,
                          {"MPI", "/nowhere/libfarfield_mpi.so", "libopenmpi-dev", "FARFIELD_MPI_LIBRARY"});
    EXPECT_NE(comm::mpi_in_words().find("none"), std::string::npos);
}

} // namespace
