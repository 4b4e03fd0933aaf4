// The figure-eight of three equal masses (Chenciner & Montgomery 2000, Ann. Math. 152, 881), with the initial
// values that C. Simó found: G = 1, masses 1, period 6.32591398. The third body starts at the origin.
#include "dynamics/initial/common.h"
#include "dynamics/initial/model.h"

namespace farfield {
namespace {

InitialState make_figure_eight(const InitialOptions& /*options*/) {
    constexpr double x = 0.97000436;
    constexpr double y = -0.24308753;
    constexpr double vx = -0.93240737;
    constexpr double vy = -0.86473146;
    Bodies bodies = equal_masses(3);
    bodies.mass.assign(3, 1.0);
    set_body(bodies, 0, {x, y, 0.0}, {-0.5 * vx, -0.5 * vy, 0.0});
    set_body(bodies, 1, {-x, -y, 0.0}, {-0.5 * vx, -0.5 * vy, 0.0});
    set_body(bodies, 2, {0.0, 0.0, 0.0}, {vx, vy, 0.0});
    return {std::move(bodies)};
}

} // namespace

const InitialModel figure_eight_model{
    InitialKind::figure_eight, "",
    "Three unit masses that chase each other along one figure eight, period 6.3259", make_figure_eight};

} // namespace farfield
