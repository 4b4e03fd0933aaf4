// Made by tools/coefficients/portable_math.py; change that, not this.
// Polynomials at Chebyshev nodes and constants split into parts, for README.md of this folder.
#pragma once

#include "math/portable/lanes.h"

#include <cstdint>

namespace farfield::portable {

template <class T>
struct Coefficients;

template <>
struct Coefficients<double> {
    static constexpr double log2_e = 1.4426950408889634;
    static constexpr double two_over_pi = 0.6366197723675814;
    static constexpr double ln2_1 = 0.6931471805598903;
    static constexpr double ln2_2 = 5.497923018708371e-14;
    static constexpr double third_1 = 0.3333333333333333;
    static constexpr double third_2 = 1.850371707708594e-17;
    static constexpr double fifth_1 = 0.2;
    static constexpr double fifth_2 = -1.1102230246251566e-17;
    static constexpr double half_pi_1 = 1.5707963267341256;
    static constexpr double half_pi_2 = 6.077100506303966e-11;
    static constexpr double half_pi_3 = 2.0222662487111665e-21;
    static constexpr double half_pi_4 = 8.4784276603689e-32;

    /// e^r = 1 + r + r² P(r), |r| ≤ ½ ln 2; relative error 2^-56.28
    template <class V>
    FF_HD static V exp(V z) {
        return horner(z, 0.5000000000000001, 0.16666666666666669, 0.04166666666662413, 0.008333333333330062,
                      0.0013888888917213717, 0.00019841269863053618, 2.4801521295954376e-05,
                      2.7557268459997064e-06, 2.7620088445409746e-07, 2.510038549551032e-08);
    }

    /// ln((1+s)/(1−s)) = 2s + s z P(z), z = s² ≤ 0.0295; relative error 2^-57.68
    template <class V>
    FF_HD static V log(V z) {
        return horner(z, 0.666666666666667, 0.39999999999899444, 0.2857142862600327, 0.22222211130259878,
                      0.18182889455674947, 0.15331710618210773, 0.14616585424888623);
    }

    /// the same as 2s (1 + z (1/3 + z (1/5 + z P(z)))), for pow; relative error 2^-68.29
    template <class V>
    FF_HD static V log_tail(V z) {
        return horner(z, 0.142857142857143, 0.11111111111070332, 0.0909090911304029, 0.07692303194530649,
                      0.06667101024572636, 0.05860905995273481, 0.05783180209405219);
    }

    /// sin x = x + x z P(z), z = x² ≤ (π/4)²; relative error 2^-56.24
    template <class V>
    FF_HD static V sin(V z) {
        return horner(z, -0.16666666666666666, 0.008333333333330948, -0.00019841269836756774,
                      2.7557316101617874e-06, -2.505113165023518e-08, 1.5918115263265974e-10);
    }

    /// cos x = 1 − z/2 + z² P(z), z = x² ≤ (π/4)²; relative error 2^-61.01
    template <class V>
    FF_HD static V cos(V z) {
        return horner(z, 0.041666666666666664, -0.0013888888888887398, 2.480158729876456e-05,
                      -2.7557317271145144e-07, 2.087614614655861e-09, -1.1382623647474604e-11);
    }

    /// tanh x = x + x z P(z), z = x² ≤ 0.625²; relative error 2^-59.4
    template <class V>
    FF_HD static V tanh(V z) {
        return horner(z, -0.3333333333333333, 0.13333333333333042, -0.05396825396789699, 0.021869488519008305,
                      -0.008863235103240878, 0.0035921217511549622, -0.0014557754120478055,
                      0.0005896606577757043, -0.0002375906496055562, 9.257116129556769e-05,
                      -3.12011014257974e-05, 6.485163482793113e-06);
    }

    /// first guess of the cube root on [1, 8); relative error 2^-9.09
    template <class V>
    FF_HD static V cbrt_start(V z) {
        return horner(z, 0.6084349186865862, 0.48881233581505845, -0.11212010655657866, 0.018251656689589422,
                      -0.001596887337316374, 5.655254894221102e-05);
    }
};

template <>
struct Coefficients<float> {
    static constexpr float log2_e = 1.44269502F;
    static constexpr float two_over_pi = 0.636619747F;
    static constexpr float ln2_1 = 0.693145752F;
    static constexpr float ln2_2 = 1.42860677e-6F;
    static constexpr float third_1 = 0.333333343F;
    static constexpr float third_2 = -9.93410776e-9F;
    static constexpr float fifth_1 = 0.200000003F;
    static constexpr float fifth_2 = -2.98023228e-9F;
    static constexpr float half_pi_1 = 1.57055664F;
    static constexpr float half_pi_2 = 2.39670277e-4F;
    static constexpr float half_pi_3 = 1.58906914e-8F;
    static constexpr float half_pi_4 = 2.56334407e-12F;

    /// e^r = 1 + r + r² P(r), |r| ≤ ½ ln 2; relative error 2^-32.65
    template <class V>
    FF_HD static V exp(V z) {
        return horner(z, 0.5F, 0.166666672F, 0.0416664667F, 8.33331048e-3F, 1.39336498e-3F, 1.98909911e-4F);
    }

    /// ln((1+s)/(1−s)) = 2s + s z P(z), z = s² ≤ 0.0295; relative error 2^-28.47
    template <class V>
    FF_HD static V log(V z) {
        return horner(z, 0.666666865F, 0.39988777F, 0.295800537F);
    }

    /// the same as 2s (1 + z (1/3 + z (1/5 + z P(z)))), for pow; relative error 2^-39.17
    template <class V>
    FF_HD static V log_tail(V z) {
        return horner(z, 0.142857209F, 0.111072183F, 0.0944061875F);
    }

    /// sin x = x + x z P(z), z = x² ≤ (π/4)²; relative error 2^-35.83
    template <class V>
    FF_HD static V sin(V z) {
        return horner(z, -0.166666672F, 8.33333191e-3F, -1.9840087e-4F, 2.7249896e-6F);
    }

    /// cos x = 1 − z/2 + z² P(z), z = x² ≤ (π/4)²; relative error 2^-30.34
    template <class V>
    FF_HD static V cos(V z) {
        return horner(z, 0.0416666642F, -1.38883025e-3F, 2.45479168e-5F);
    }

    /// tanh x = x + x z P(z), z = x² ≤ 0.625²; relative error 2^-30.86
    template <class V>
    FF_HD static V tanh(V z) {
        return horner(z, -0.333333343F, 0.133333042F, -0.0539592579F, 0.0217689183F, -8.34394526e-3F,
                      2.29274482e-3F);
    }

    /// first guess of the cube root on [1, 8); relative error 2^-9.09
    template <class V>
    FF_HD static V cbrt_start(V z) {
        return horner(z, 0.608434916F, 0.488812327F, -0.112120107F, 0.0182516575F, -1.59688736e-3F,
                      5.65525479e-5F);
    }
};

/// Word i of 64 zero bits followed by the binary digits of 2/π.
FF_HD inline std::uint32_t two_over_pi_word(int i) {
    static constexpr std::uint32_t words[40] = {
        0x00000000U, 0x00000000U, 0xa2f9836eU, 0x4e441529U, 0xfc2757d1U, 0xf534ddc0U, 0xdb629599U,
        0x3c439041U, 0xfe5163abU, 0xdebbc561U, 0xb7246e3aU, 0x424dd2e0U, 0x06492eeaU, 0x09d1921cU,
        0xfe1deb1cU, 0xb129a73eU, 0xe88235f5U, 0x2ebb4484U, 0xe99c7026U, 0xb45f7e41U, 0x3991d639U,
        0x835339f4U, 0x9c845f8bU, 0xbdf9283bU, 0x1ff897ffU, 0xde05980fU, 0xef2f118bU, 0x5a0a6d1fU,
        0x6d367ecfU, 0x27cb09b7U, 0x4f463f66U, 0x9e5fea2dU, 0x7527bac7U, 0xebe5f17bU, 0x3d0739f7U,
        0x8a5292eaU, 0x6bfb5fb1U, 0x1f8d5d08U, 0x56033046U, 0xfc7b6babU,
    };
    return words[i];
}

} // namespace farfield::portable
