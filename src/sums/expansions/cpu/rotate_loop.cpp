// Translations by rotation. Targets lie in lanes, so that every number of a matrix serves them all, and a
// tile of rows and lanes stays in registers.
#include "backend/simd/value.h"
#include "sums/expansions/loops.h"

#include <cstddef>
#include <type_traits>
#include <utility>

namespace farfield {
namespace {

/// Rows of lanes, so many numbers apart.
template <class T>
struct LaneRows {
    T* first;
    std::ptrdiff_t apart;
    T* operator[](int row) const { return first + row * apart; }
};

template <class T>
class Rotation {
    using V = Value<T>;
    using O = Ops<V>;
    static constexpr int width = O::width;
    static constexpr int lanes = rotate_lanes(sizeof(T) == 8);
    static constexpr int most_rows = vector_registers == 32 ? 12 : 6;
    static constexpr int vectors = 2;

    const RotateTask& task_;
    const int rows_an_order_ = rotate_rows(task_.degree);
    T* const gathered_ = static_cast<T*>(task_.scratch);
    T* const turned_ = gathered_ + std::ptrdiff_t{task_.size} * lanes;
    T* const moved_ = turned_ + std::ptrdiff_t{2} * (task_.degree + 1) * rows_an_order_ * lanes;
    T* const before_ = moved_ + std::ptrdiff_t{2} * (task_.degree + 1) * rows_an_order_ * lanes;
    T* const after_ = before_ + std::ptrdiff_t{2} * (task_.degree + 1) * lanes;

    /// Functions by orders and degrees, cosine and sine side by side. Of a degree: its orders.
    LaneRows<T> of_degree(T* functions, int degree, bool sine) const {
        return {functions + (std::ptrdiff_t{2} * degree + (sine ? 1 : 0)) * lanes,
                std::ptrdiff_t{2} * rows_an_order_ * lanes};
    }
    /// Of an order: its degrees, from `order` on.
    LaneRows<T> of_order(T* functions, int order) const {
        return {functions + std::ptrdiff_t{2} * (order * rows_an_order_ + order) * lanes, 2 * lanes};
    }
    /// One degree alone, in `before_` or `after_`.
    LaneRows<T> alone(T* functions, bool sine) const {
        return {functions + (sine ? (task_.degree + 1) * lanes : 0), lanes};
    }

    template <int Rows>
    static void tile(const T* matrix, int height, int depth, LaneRows<const T> in, LaneRows<T> out) {
        V sum[Rows][vectors];
        for (int r = 0; r < Rows; ++r)
            for (int v = 0; v < vectors; ++v) sum[r][v] = O::set(T(0));
        const T* x = in.first;
        for (int k = 0; k < depth; ++k, x += in.apart, matrix += height) {
            V a[vectors];
            for (int v = 0; v < vectors; ++v) a[v] = O::load(x + v * width);
            for (int r = 0; r < Rows; ++r) {
                const V factor = O::set(matrix[r]);
                for (int v = 0; v < vectors; ++v) sum[r][v] = O::fma(factor, a[v], sum[r][v]);
            }
        }
        for (int r = 0; r < Rows; ++r)
            for (int v = 0; v < vectors; ++v) O::store(out[r] + v * width, sum[r][v]);
    }

    using Tile = void (*)(const T*, int, int, LaneRows<const T>, LaneRows<T>);
    template <int... rows>
    static Tile tile_of(int wanted, std::integer_sequence<int, rows...> /*less_one*/) {
        static constexpr Tile tiles[] = {tile<rows + 1>...};
        return tiles[wanted - 1];
    }

    // out = matrix · in, for `columns` numbers a row, in tiles of about as many rows.
    static void multiply(const T* matrix, int height, int depth, LaneRows<const T> in, LaneRows<T> out,
                         int columns) {
        const int tiles = (height + most_rows - 1) / most_rows;
        for (int t = 0, row = 0; t < tiles; ++t) {
            const int rows = (height - row + tiles - t - 1) / (tiles - t);
            const Tile of_rows = tile_of(rows, std::make_integer_sequence<int, most_rows>{});
            for (int column = 0; column < columns; column += vectors * width)
                of_rows(matrix + row, height, depth, {in.first + column, in.apart},
                        {out[row] + column, out.apart});
            row += rows;
        }
    }

    // The sources' coefficients, from one after the other to lanes; classes are padded.
    void gather() const {
        for (int lane = 0; lane < lanes; lane += width)
            for (int parity = 0; parity < parities; ++parity) {
                const int begin = task_.class_begin[parity];
                for (int place = begin; place < begin + task_.class_count[parity]; place += width) {
                    V v[width];
                    for (int k = 0; k < width; ++k)
                        v[k] = O::load(static_cast<const T*>(task_.sources[lane + k]) + place);
                    O::transpose(v);
                    T* const out = gathered_ + std::ptrdiff_t{place} * lanes + lane;
                    for (int k = 0; k < width; ++k) O::store(out + std::ptrdiff_t{k} * lanes, v[k]);
                }
            }
    }

    const std::int32_t* places_of(int degree) const {
        return task_.places + std::ptrdiff_t{degree} * (degree + 1);
    }
    T sign_of(int degree) const { return task_.behind && (degree & 1) != 0 ? T(-1) : T(1); }
    const T* azimuth_of(int order) const {
        return static_cast<const T*>(task_.azimuth) + std::ptrdiff_t{2} * order;
    }

    // B M of a degree.
    void turn_about_z(int degree, LaneRows<T> cosines, LaneRows<T> sines) const {
        const T sign = sign_of(degree);
        const auto* places = places_of(degree);
        for (int m = 0; m <= degree; ++m) {
            const V cosine = O::set(sign * azimuth_of(m)[0]);
            const V sine = O::set(sign * azimuth_of(m)[1]);
            const T* c = gathered_ + std::ptrdiff_t{places[std::ptrdiff_t{2} * m]} * lanes;
            const T* s = gathered_ + std::ptrdiff_t{places[std::ptrdiff_t{2} * m + 1]} * lanes;
            for (int v = 0; v < lanes; v += width) {
                const V a = O::load(c + v);
                if (m == 0) {
                    O::store(cosines[0] + v, cosine * a);
                    continue;
                }
                const V b = O::load(s + v);
                O::store(cosines[m] + v, O::fma(cosine, a, sine * b));
                O::store(sines[m] + v, O::fnma(sine, a, cosine * b));
            }
        }
    }

    // Adds Bᵀ S of a degree to the sums.
    void turn_back(int degree, LaneRows<const T> cosines, LaneRows<const T> sines) const {
        auto* sums = static_cast<T*>(task_.sums);
        const auto* places = places_of(degree);
        for (int m = 0; m <= degree; ++m) {
            const T sign = (m & 1) != 0 ? -sign_of(degree) : sign_of(degree);
            const V cosine = O::set(sign * azimuth_of(m)[0]);
            const V sine = O::set(sign * azimuth_of(m)[1]);
            T* c = sums + std::ptrdiff_t{places[std::ptrdiff_t{2} * m]} * lanes;
            T* s = sums + std::ptrdiff_t{places[std::ptrdiff_t{2} * m + 1]} * lanes;
            for (int v = 0; v < lanes; v += width) {
                const V a = O::load(cosines.first + m * cosines.apart + v);
                if (m == 0) {
                    O::store(c + v, O::fma(cosine, a, O::load(c + v)));
                    continue;
                }
                const V b = O::load(sines.first + m * sines.apart + v);
                O::store(c + v, O::fnma(sine, b, O::fma(cosine, a, O::load(c + v))));
                O::store(s + v, O::fma(sine, a, O::fma(cosine, b, O::load(s + v))));
            }
        }
    }

    static LaneRows<const T> read(LaneRows<T> rows) { return {rows.first, rows.apart}; }
    static LaneRows<T> from_row(LaneRows<T> rows, int row) { return {rows[row], rows.apart}; }
    /// Numbers of A below a degree.
    static std::ptrdiff_t polar_before(std::ptrdiff_t degree) {
        return degree * (2 * degree * degree + 1) / 3;
    }

    // A of a degree, for cosines and sines.
    void turn_about_y(int degree, LaneRows<T> cosines, LaneRows<T> sines, LaneRows<T> to_cosines,
                      LaneRows<T> to_sines) const {
        const T* matrix = static_cast<const T*>(task_.polar) + polar_before(degree);
        multiply(matrix, degree + 1, degree + 1, read(cosines), to_cosines, lanes);
        multiply(matrix + (degree + 1) * (degree + 1), degree, degree, read(from_row(sines, 1)),
                 from_row(to_sines, 1), lanes);
    }

    void turn(int degree) const {
        const auto cosines = of_degree(turned_, degree, false);
        const auto sines = of_degree(turned_, degree, true);
        if (task_.polar == nullptr) return turn_about_z(degree, cosines, sines);
        turn_about_z(degree, alone(before_, false), alone(before_, true));
        turn_about_y(degree, alone(before_, false), alone(before_, true), cosines, sines);
    }

    void turn_again(int degree) const {
        const auto cosines = of_degree(moved_, degree, false);
        const auto sines = of_degree(moved_, degree, true);
        if (task_.polar == nullptr) return turn_back(degree, read(cosines), read(sines));
        turn_about_y(degree, cosines, sines, alone(after_, false), alone(after_, true));
        turn_back(degree, read(alone(after_, false)), read(alone(after_, true)));
    }

    void translate() const {
        const auto* matrix = static_cast<const T*>(task_.along);
        for (int m = 0; m <= task_.degree; ++m) {
            const int degrees = task_.degree - m + 1;
            multiply(matrix, degrees, degrees, read(of_order(turned_, m)), of_order(moved_, m),
                     m == 0 ? lanes : 2 * lanes);
            matrix += degrees * degrees;
        }
    }

public:
    explicit Rotation(const RotateTask& task) : task_(task) {}

    void run() const {
        gather();
        for (int degree = 0; degree <= task_.degree; ++degree) turn(degree);
        translate();
        for (int degree = 0; degree <= task_.degree; ++degree) turn_again(degree);
    }
};

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_rotate)(const farfield::RotateTask* task) {
    if (task->wide)
        farfield::Rotation<double>(*task).run();
    else
        farfield::Rotation<float>(*task).run();
}
