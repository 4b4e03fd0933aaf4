// Energies and momenta of bodies on a GPU. Blocks of 256 bodies are added up as a tree, blocks in their
// order: the same bits every time.
#pragma once

#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"
#include "dynamics/cuda/method_engine.cuh"
#include "dynamics/cuda/stepper.cuh"
#include "sums/direct/cuda/several/engine.cuh"

#include <variant>

namespace farfield::cuda {

/// ½ m v², s φ, m v and m x × v, added up.
struct DiagnosticSums {
    double value[8];
};

class DeviceDiagnostics {
public:
    /// On the device of the current thread. The potential is always a sum in double, by the method of the
    /// simulation.
    DeviceDiagnostics(const MotionInput& input, int device);
    DeviceDiagnostics(const DeviceDiagnostics&) = delete;
    DeviceDiagnostics& operator=(const DeviceDiagnostics&) = delete;
    ~DeviceDiagnostics(); ///< waits for what is queued

    /// Queues the sums over positions and velocities (3·N on this GPU), which must stay as they are until
    /// `wait`, once `ready` has happened.
    void queue(const double* x, const double* v, const Event& ready);
    /// Waits, and completes the potential energy's ½ G.
    void wait(CapturedState& captured);
    /// Goes on with sums of these options, those of the fields.
    void renew(const SumOptions& sums);

private:
    [[nodiscard]] EnginePart<Point<double>>& part();
    void synchronize();
    /// Queues the sums for bodies at x, on the stream of `part`.
    void compute(const double* x);
    /// Sums of body i are at sums[columns·i], once computed.
    struct Sums {
        const double* sums;
        int columns;
    };
    [[nodiscard]] Sums sums();

    std::variant<SumEngine<Point<double>>, MethodEngine> potential_;
    DeviceArray<double> mass_, strength_;
    DeviceArray<DiagnosticSums> partial_;
    PinnedArray<DiagnosticSums> result_;
    int n_;
    double frame_scale_, G_;
    Unscale unscale_;                ///< of potentials, with their sign
    DeviceArray<double> potentials_; ///< of MotionSetup::compares
    PinnedArray<double> host_potentials_;
};

} // namespace farfield::cuda
