// A step of a small simulation is over in less than half a microsecond: it asks for no memory.
#include <farfield/simulation.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> requests{0};

} // namespace

void* operator new(std::size_t size) {
    ++requests;
    if (void* memory = std::malloc(size)) return memory; // NOLINT(*-no-malloc): this is operator new
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }              // NOLINT(*-no-malloc)
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); } // NOLINT(*-no-malloc)

TEST(StepMemory, StepsOfAFewBodiesAskForNone) {
    using namespace farfield;
    Bodies bodies;
    for (int i = 0; i < 8; ++i) {
        bodies.mass.push_back(0.125);
        for (int k = 0; k < 3; ++k) {
            bodies.position.push_back(0.1 * ((7 * i + 3 * k) % 11) - 0.5);
            bodies.velocity.push_back(0.05 * ((5 * i + k) % 7) - 0.15);
        }
    }
    ForceOptions force;
    force.softening = 0.1;
    force.device.kind = DeviceKind::cpu;
    Simulation simulation(bodies, force, {.step = 1e-3, .end = 1.0});
    simulation.step();
    const long before = requests;
    for (int i = 0; i < 100; ++i) simulation.step();
    EXPECT_EQ(requests - before, 0);
    EXPECT_EQ(simulation.step_count(), 101U);
}
