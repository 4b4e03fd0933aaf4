#include "studies/fmm_strategies/rotations.h"

#include "studies/fmm_strategies/boxes.h"
#include "studies/fmm_strategies/real_form.h"
#include "sums/expansions/rotations.h"

#include <cmath>
#include <map>
#include <utility>

namespace farfield::strategies {
namespace {

// Of R_lm over that of the orthogonal basis (sums/expansions/basis.h), but for a sign both parts share.
long double scale_of(int l, int m) {
    long double product = 1.0L; // (l − m)! (l + m)!
    for (int i = 2; i <= l - m; ++i) product *= i;
    for (int i = 2; i <= l + m; ++i) product *= i;
    return (m % 2 == 0 ? 1.0L : -1.0L) / std::sqrt((m == 0 ? 1.0L : 2.0L) * product);
}

// Of ω, and of µ, which is dual to it: with G = 1 for m = 0 and 2 otherwise, G⁻¹ Dᵀ G.
void add_angle(RotationTables& tables, long double cosine, long double sine) {
    const PolarRotation rotation(tables.order, cosine, -sine); // takes (sin θ, 0, cos θ) to z
    const auto begin = tables.there.size();
    const auto size = static_cast<std::size_t>(rotation_size(tables.order));
    tables.there.resize(begin + size);
    tables.back.resize(begin + size);
    for (int l = 0; l <= tables.order; ++l)
        for (const bool imaginary : {false, true})
            for (int m = imaginary ? 1 : 0; m <= l; ++m)
                for (int k = imaginary ? 1 : 0; k <= l; ++k) {
                    const auto block = begin + static_cast<std::size_t>(rotation_place(l));
                    const auto entry = [&](int row, int column) {
                        return block + static_cast<std::size_t>(rotation_entry(l, row, column, imaginary));
                    };
                    const double value =
                        static_cast<double>(scale_of(l, m) / scale_of(l, k)) * rotation(l, m, k, imaginary);
                    const double dual = (m == 0 ? 1.0 : 2.0) / (k == 0 ? 1.0 : 2.0);
                    tables.there[entry(m, k)] = value;
                    tables.back[entry(k, m)] = value * dual;
                }
    ++tables.angles;
}

void rotate(const double* blocks, int order, const double* in, double* out) {
    for (int l = 0; l <= order; ++l)
        for (const bool imaginary : {false, true})
            for (int m = imaginary ? 1 : 0; m <= l; ++m) {
                double sum = 0.0;
                for (int k = imaginary ? 1 : 0; k <= l; ++k)
                    sum += blocks[rotation_place(l) + rotation_entry(l, m, k, imaginary)] *
                           in[real_place(l, k, imaginary)];
                out[real_place(l, m, imaginary)] = sum;
            }
}

} // namespace

RotationTables make_rotations(int order) {
    RotationTables tables;
    tables.order = order;
    tables.angle_of.assign(offsets, -1);
    const auto terms = static_cast<std::size_t>(order) + 1;
    tables.cosine.assign(offsets * terms, 0.0);
    tables.sine = tables.cosine;
    tables.along.assign(offsets * (2 * terms - 1), 0.0);
    std::map<std::pair<int, int>, int> known; // by x² + y², z
    for (int x = -3; x <= 3; ++x)
        for (int y = -3; y <= 3; ++y)
            for (int z = -3; z <= 3; ++z) {
                if (is_near(x, y, z)) continue;
                const int across = x * x + y * y;
                const auto op = static_cast<std::size_t>(operator_id(x, y, z));
                const long double distance = std::sqrt(static_cast<long double>(across + z * z));
                // from source to target: −x, −y, −z
                const auto [found, is_new] = known.try_emplace({across, z}, tables.angles);
                if (is_new)
                    add_angle(tables, -z / distance, std::sqrt(static_cast<long double>(across)) / distance);
                tables.angle_of[op] = found->second;
                const double azimuth = across == 0 ? 0.0 : std::atan2(-y, -x);
                for (std::size_t m = 0; m < terms; ++m) {
                    tables.cosine[op * terms + m] = std::cos(static_cast<double>(m) * azimuth);
                    tables.sine[op * terms + m] = std::sin(static_cast<double>(m) * azimuth);
                }
                long double power = 1.0L / (unit(order) * distance);
                for (std::size_t n = 0; n < 2 * terms - 1; ++n) {
                    if (n > 0) power *= static_cast<long double>(n) / (unit(order) * distance);
                    tables.along[op * (2 * terms - 1) + n] = static_cast<double>(power);
                }
            }
    return tables;
}

double rotated_multiply_adds(int order) {
    double sum = 0.0;
    for (int l = 0; l <= order; ++l) {
        sum += 2.0 * ((l + 1.0) * (l + 1.0) + l * 1.0 * l); // both rotations by the polar angle
        sum += (l == 0 ? 1.0 : 2.0) * (order - l + 1.0) * (order - l + 1.0); // along z, m = l
        sum += 8.0 * l;                                                      // phases, there and back
    }
    return sum;
}

void rotated_operation(const RotationTables& tables, int op, const double* omega, double* mu) {
    const int order = tables.order, terms = order + 1;
    std::vector<double> a(static_cast<std::size_t>(real_size(order))), b(a);
    const double* cosine = tables.cosine.data() + static_cast<std::ptrdiff_t>(op) * terms;
    const double* sine = tables.sine.data() + static_cast<std::ptrdiff_t>(op) * terms;
    const double* along = tables.along.data() + static_cast<std::ptrdiff_t>(op) * (2 * terms - 1);
    const auto phases = [&](const double* from, auto&& to) { // times e^{imα}
        for (int l = 0; l <= order; ++l) {
            to(real_place(l, 0, false), from[real_place(l, 0, false)]);
            for (int m = 1; m <= l; ++m) {
                const double re = from[real_place(l, m, false)], im = from[real_place(l, m, true)];
                to(real_place(l, m, false), re * cosine[m] - im * sine[m]);
                to(real_place(l, m, true), im * cosine[m] + re * sine[m]);
            }
        }
    };
    phases(omega, [&](int place, double value) { a[static_cast<std::size_t>(place)] = value; });
    rotate(tables.there.data() + tables.blocks(op), order, a.data(), b.data());
    for (int l = 0; l <= order; ++l)
        for (int m = 0; m <= l; ++m)
            for (const bool imaginary : {false, true}) {
                if (imaginary && m == 0) continue;
                double sum = 0.0;
                for (int j = m; j <= order; ++j)
                    sum += along[l + j] * b[static_cast<std::size_t>(real_place(j, m, imaginary))];
                a[static_cast<std::size_t>(real_place(l, m, imaginary))] =
                    (m % 2 == 0) != imaginary ? sum : -sum;
            }
    rotate(tables.back.data() + tables.blocks(op), order, a.data(), b.data());
    phases(b.data(), [&](int place, double value) { mu[place] += value; });
}

} // namespace farfield::strategies
