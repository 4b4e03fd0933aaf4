// Programs that reach the forms and corners of GPU code; run emulated, and on a GPU.
#pragma once

#include <string>
#include <vector>

namespace farfield::testing {

inline const std::string microdisk = R"(param n = 100, radius = 40
grid g[x: n, y: 90]
field Ex, Ey, Hz, energy on g
subdomain disk(x, y) = (x - n/2)^2 + (y - 45)^2 < radius^2
update electric on interior:
    Ex += 0.5 * (Hz - Hz[y-1])
    Ey += 0.5 * (Hz[x-1] - Hz)
update magnetic on disk:
    Hz += 0.5 * (Ex[y+1] - Ex + Ey - Ey[x+1])
source dipole at (n/2 + 10, 45):
    Hz += exp(-((t - 6)/2)^2) * sin(0.15*t)
update accumulate on disk: energy += Hz^2
step: electric, magnetic, dipole, accumulate
)";

/// The same with point series, which tiles take between the steps of a pass.
inline const std::string probed =
    microdisk + "record here = Hz at (n/2 + 3, 45)\nrecord slope = Hz[x+1] - Ex[y-1] at (49, 37) every 2\n"
                "record corner = Ex at (1, 1) every 3\nrecord outside = energy at (0, 0)\n";

inline std::string spreading(const std::string& grid, const std::string& boundary,
                             const std::string& attributes, const std::string& sum) {
    return "grid g[" + grid + "]\nfield u on g " + attributes + " = 1 + 0.01*x*x - 0.3*" +
           (grid.find('y') == std::string::npos ? "x" : "y") + "\nfield w on g\nboundary u: " + boundary +
           "\nrecord total = sum of u every 3\nrecord top = max of u*w every 2\nrecord low = min of u on x > "
           "4 every 4\n"
           "record middle = mean of w every 5\nrecord probe = u at (3" +
           (grid.find('y') == std::string::npos ? "" : ", 2") +
           (grid.find('z') == std::string::npos ? "" : ", 1") +
           ") every 4\nupdate spread: u = 0.3*u + 0.1*(" + sum +
           ")\nupdate gather on x % 3 != 1: w += u*u + 0.001*step*t\nstep: spread, gather every 2\n";
}

/// Negatives of sums that are zero: -(0 - 0*0) is -0, while 0*0 - 0 is +0.
inline const std::string signed_zeros = R"(grid g[x: 40]
field a, b, c on g
field p, q on g : float
field direct, chosen, scaled, larger, single on g = 1
update u:
    direct = -(a - b*c)
    chosen = -(where(x < 30, a - b*c, c + 1))
    scaled = -((a - b*c)*(b + 2))
    larger = -(max(-1.5, min(1.5, a - b*c)))
    single = -(where(x < 30, p - q*q, q + 1))
step: u
)";

/// A gap in a subdomain where the new value is infinite, and zeros with signs; of double and float, in place
/// and in another copy.
inline const std::string gap = R"(grid g[x: 20]
field u, v on g = 1
field s on g : float = 1
field w on g : double, double-buffered = 1
field r on g = -0.0
subdomain ends(x) = (x > 0 and x < 5) or x > 7
update fill on ends:
    u = 1/(x - 6)
    v = -0.0
    s = 1/(x - 6)
    w = w[x-1]/(x - 6)
    r = 1
step: fill
)";

struct StencilCase {
    std::string name, text;
};

/// Two half sweeps over the cells of either colour, in place. Some cells of the second colour are left alone;
/// their -0.0 shows whether they are stored again as another zero.
inline std::string two_colours(const std::string& grid, const std::string& boundary, const std::string& type,
                               const std::string& colour, const std::string& sum) {
    return "grid g[" + grid + "]\nfield u on g : " + type + " = if x % 5 < 3 then -0.0 else 0.03*x*x - y\n" +
           "field w on g\nboundary u: " + boundary + "\nsubdomain red(" + colour.substr(0, colour.find(';')) +
           ") = " + colour.substr(colour.find(';') + 1) +
           "\nrecord total = sum of u every 3\nrecord probe = u at (" + "3, 2" +
           (grid.find('z') == std::string::npos ? "" : ", 1") + ")\n" + "update red_half on red: u += 0.3*(" +
           sum + " - u)\n" + "update black_half on not red and x > 9: u += 0.2*(" + sum + " - u)\n" +
           "update gather on red: w += u*u\nstep: red_half, black_half, gather every 2\n";
}

inline std::vector<StencilCase> in_place_cases() {
    const std::string chess = "x, y;(x + y) % 2 == 0", cube = "x, y, z;(x + y + z) % 2 == 0";
    const std::string four = "u[x-1] - u[x+1] + u[y-1] + u[y+1]";
    const std::string six = four + " + u[z-1] - u[z+1]";
    return {
        {"2d zero", two_colours("x: 75, y: 41", "zero", "double", chess, four)},
        {"2d periodic", two_colours("x: 66, y: 30", "periodic", "float", chess, four)},
        {"2d mirror", two_colours("x: 71, y: 33", "mirror", "double", chess, four)},
        {"2d clamp", two_colours("x: 71, y: 33", "clamp", "double", chess, four)},
        {"2d far", two_colours("x: 90, y: 40", "zero", "double", chess, "u[x-2, y+1] - u[x+3] + u[y-3]")},
        {"rows", two_colours("x: 70, y: 44", "periodic", "double", "y;y % 2 == 0", "u[y-1] + u[x+2, y+3]")},
        {"columns", two_colours("x: 70, y: 31", "zero", "double", "x;x % 2 == 0", "u[x-1] + u[x+3, y+2]")},
        {"halves", two_colours("x: 60, y: 44", "zero", "double", "y;y < 22", "u[y+22] - u[y-22, x+1]")},
        {"3d zero", two_colours("x: 21, y: 18, z: 15", "zero", "double", cube, six)},
        {"3d periodic", two_colours("x: 22, y: 18, z: 14", "periodic", "float", cube, six)},
        {"3d planes",
         two_colours("x: 21, y: 18, z: 14", "periodic", "double", "z;z % 2 == 0", "u[z-1] + u[x+1, z+1]")},
    };
}

inline std::vector<StencilCase> boundary_cases() {
    return {
        {"1d periodic",
         spreading("x: 700", "periodic", ": double, double-buffered", "u[x-2] + u[x+1] - u[x+3]")},
        {"1d mirror", spreading("x: 70", "mirror", ": float, double-buffered", "u[x-2] + u[x+1] - u[x+3]")},
        {"2d clamp",
         spreading("x: 90, y: 70", "clamp", ": double, double-buffered", "u[x-2] + u[x+1, y-1] - u[y+2]")},
        {"2d mirror",
         spreading("x: 67, y: 131", "mirror", ": double, double-buffered", "u[x-3] + u[x+1, y-2] - u[y+3]")},
        {"2d zero and periodic", spreading("x: 65, y: 30", "zero in x, periodic in y",
                                           ": float, double-buffered", "u[x-1, y-1] + u[x+1] - u[y+2]")},
        {"2d mixed", spreading("x: 40, y: 101", "periodic in x, clamp in y", ": double, double-buffered",
                               "u[x-1, y-1] + u[x+2] - u[y+1]")},
        {"3d", spreading("x: 21, y: 18, z: 15", "periodic in x and z, mirror in y",
                         ": double, double-buffered", "u[x-1, y-1] + u[x+1, z+1] - u[z-2]")},
    };
}

/// Three dimensions: both kernels of a Yee step, one on a subset of the cells, a source, and a field that
/// stays in place.
inline const std::string yee_ball = R"(grid g[x: 37, y: 22, z: 19]
field Ex, Ey, Ez, Hx, Hy, Hz on g = 0.01*(x - 2*y + z*z)
field energy on g
subdomain ball(x, y, z) = (x - 18)^2 + 2*(y - 10)^2 + (z - 9)^2 < 150
update electric on interior:
    Ex += 0.4*(Hz - Hz[y-1] - Hy + Hy[z-1])
    Ey += 0.4*(Hx - Hx[z-1] - Hz + Hz[x-1])
    Ez += 0.4*(Hy - Hy[x-1] - Hx + Hx[y-1])
update magnetic on ball and interior:
    Hx += 0.4*(Ey[z+1] - Ey - Ez[y+1] + Ez)
    Hy += 0.4*(Ez[x+1] - Ez - Ex[z+1] + Ex)
    Hz += 0.4*(Ex[y+1] - Ex - Ey[x+1] + Ey)
source dipole at (19, 11, 9): Ez += sin(0.15*t)
update accumulate on ball and interior: energy += Ez^2 + Hx*Hy[z-1]
record probe = Ez at (20, 10, 9) every 2
step: electric, magnetic, dipole, accumulate
)";

/// Boundaries of columns that are streamed along z; in the last two cases they do not serve.
inline std::vector<StencilCase> column_cases() {
    const std::string grid = "x: 21, y: 18, z: 15", wide = "u[x-1, y-1] + u[x+1, z+1] - u[z-2] + u[y+2, z-1]";
    const std::string kind = ": double, double-buffered";
    return {
        {"3d zero", spreading(grid, "zero", kind, wide)},
        {"3d periodic", spreading(grid, "periodic", kind, wide)},
        {"3d periodic in z, mirror and clamp",
         spreading(grid, "mirror in x, clamp in y, periodic in z", ": float, double-buffered", wide)},
        {"3d zero in z, clamp and periodic",
         spreading(grid, "clamp in x, periodic in y, zero in z", kind, wide)},
        {"3d forward in z", spreading(grid, "zero", kind, "u[x-1, z+2] + u[y+1, z+1] - u[x+1]")},
        {"3d backward in z", spreading(grid, "periodic", kind, "u[x-1, z-2] + u[y+1, z-1] - u[x+1]")},
        {"3d clamp", spreading(grid, "clamp", kind, wide)},
        {"3d mirror", spreading(grid, "mirror", kind, wide)},
    };
}

} // namespace farfield::testing
