// The Sun, the eight planets and the Moon at J2000.0 (JD 2451545.0 TDB) in au, days and solar masses.
//
// Source: JPL's ephemeris DE421 (Folkner, Williams & Boggs 2009, IPN Progress Report 42-178): GM values from
// its header, positions and velocities evaluated from its Chebyshev coefficients (PyPI packages de421 2008.1
// and jplephem). Earth and Moon are split from their barycentre by DE421's mass ratio 81.3005690699153. The
// vectors are barycentric in the ICRF (equator of J2000); the bodies made from them are turned about the x
// axis to the ecliptic of J2000 and moved to the frame where the centre of mass of these ten bodies rests,
// which takes Pluto and asteroids away.
#include "dynamics/initial/common.h"
#include "dynamics/initial/model.h"
#include "io/snapshot.h"

namespace farfield {
namespace {

constexpr double gauss_squared =
    0.01720209895 * 0.01720209895; // GM of the Sun: k² in au³/day², by definition

constexpr double cosine_obliquity = 0.917482062069181826; // of 84381.448″ (IAU 1976)
constexpr double sine_obliquity = 0.397777155931913702;

struct Row {
    double gm;                      ///< au³/day²
    std::array<double, 3> position; ///< au
    std::array<double, 3> velocity; ///< au/day
};

// clang-format off
constexpr std::array<Row, 10> rows{{
    {0.0002959122082855911, // Sun
     {-0.007136456395244341, -0.002647021852902184, -0.0009229478710186404},
     {5.378458816469042e-06, -6.758186170687157e-06, -3.032849308682816e-06}},
    {4.91254957186794e-11, // Mercury
     {-0.13723006244532032, -0.4032407359668477, -0.20141226351948036},
     {0.021371774104503666, -0.00493305755617505, -0.004850466471308616}},
    {7.243452332698441e-10, // Venus
     {-0.7254387528105534, -0.048921267913051576, 0.02371768968223637},
     {0.0008034959684892898, -0.01849859566914229, -0.008372768184206921}},
    {8.887692462968594e-10, // Earth
     {-0.18427155535118353, 0.8847815006942625, 0.3838199508798527},
     {-0.017202246610749716, -0.0029049258897499773, -0.0012594279199901334}},
    {1.0931894529945452e-11, // Moon
     {-0.18622083700837472, 0.8829986087874497, 0.3833112371742975},
     {-0.016830576134679233, -0.003289623718768791, -0.0014334580764804015}},
    {9.54954869562239e-11, // Mars
     {1.3835794654229197, -0.0012458054030935156, -0.03788311342888646},
     {0.0006768779840434078, 0.013807279329646868, 0.006314867583141346}},
    {2.82534584085505e-07, // Jupiter
     {3.994040712133264, 2.7339318400364547, 1.0745889511249778},
     {-0.004562935035030462, 0.0058747040836484455, 0.002629269913481281}},
    {8.459706073308477e-08, // Saturn
     {6.3992724071771425, 6.172010782205168, 2.273847798802086},
     {-0.004286973413521458, 0.0035215863860678276, 0.0016388986618824642}},
    {1.29202482579265e-08, // Uranus
     {14.424720796003834, -12.508913423542024, -5.6826103651263},
     {0.0026834835172542646, 0.002455246591881046, 0.0010373759878326337}},
    {1.52435910924974e-08, // Neptune
     {16.804912254286567, -22.982749682524855, -9.825348544215696},
     {0.002584653188600846, 0.0016616666981557387, 0.0006157823854510027}},
}};
// clang-format on

std::array<double, 3> to_ecliptic(const std::array<double, 3>& v) {
    return {v[0], cosine_obliquity * v[1] + sine_obliquity * v[2],
            cosine_obliquity * v[2] - sine_obliquity * v[1]};
}

InitialState make_solar_system(const InitialOptions& /*options*/, int threads) {
    Bodies bodies = equal_masses(static_cast<std::int64_t>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        bodies.mass[i] = rows[i].gm / rows[0].gm;
        set_body(bodies, static_cast<std::int64_t>(i), to_ecliptic(rows[i].position),
                 to_ecliptic(rows[i].velocity));
    }
    to_centre_of_mass(bodies, threads);
    return {.bodies = std::move(bodies),
            .G = gauss_squared,
            .G_origin = "k² of Gauss, with GM of the Sun from DE421",
            .units = solar_system_units(),
            .body_names = {"Sun", "Mercury", "Venus", "Earth", "Moon", "Mars", "Jupiter", "Saturn", "Uranus",
                           "Neptune"}};
}

} // namespace

const InitialModel solar_system_model{InitialKind::solar_system, "",
                                      "Sun, Mercury, Venus, Earth, Moon, Mars to Neptune at J2000.0 in au, "
                                      "day, solar mass (JPL DE421); time 0 is J2000",
                                      make_solar_system};

} // namespace farfield
