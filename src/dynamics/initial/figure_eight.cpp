// The figure-eight of three equal masses (Chenciner & Montgomery 2000, Ann. Math. 152, 881) with the initial
// values of C. Simó, refined by Newton's method in quadruple precision: G = 1, masses 1,
// period 6.3259139829144729. The third body starts at the origin.
#include "dynamics/initial/common.h"
#include "dynamics/initial/model.h"

namespace farfield {
namespace {

InitialState make_figure_eight(const InitialOptions& /*options*/, int /*threads*/) {
    constexpr double x = 0.97000435669734;
    constexpr double y = -0.24308753153073352;
    constexpr double vx = -0.93240737143733695;
    constexpr double vy = -0.86473146092616884;
    Bodies bodies = equal_masses(3);
    bodies.mass.assign(3, 1.0);
    set_body(bodies, 0, {x, y, 0.0}, {-0.5 * vx, -0.5 * vy, 0.0});
    set_body(bodies, 1, {-x, -y, 0.0}, {-0.5 * vx, -0.5 * vy, 0.0});
    set_body(bodies, 2, {0.0, 0.0, 0.0}, {vx, vy, 0.0});
    return {.bodies = std::move(bodies), .body_names = {"1", "2", "3"}};
}

} // namespace

const InitialModel figure_eight_model{
    InitialKind::figure_eight, "",
    "Three unit masses that chase each other along one figure eight, period 6.3259", make_figure_eight};

} // namespace farfield
