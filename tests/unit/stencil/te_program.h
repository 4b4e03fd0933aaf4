// Light in a disk, built by hand as IR, and the same as plain loops: what the cpu target is compared with.
#pragma once

#include "stencil/ir/ir.h"
#include "stencil/ir/reduction.h"

#include <cmath>
#include <memory>
#include <vector>

namespace farfield::stencil::te {

enum Buffers { ex, ey, hz, energy };

class Builder {
public:
    ir::Code code;
    int node(ir::Op op, ir::ValueType type, int a = -1, int b = -1, int c = -1) {
        ir::Node n;
        n.op = op;
        n.type = type;
        n.in = {a, b, c};
        code.nodes.push_back(n);
        return static_cast<int>(code.nodes.size()) - 1;
    }
    int real(double value) {
        const int n = node(ir::Op::constant, ir::ValueType::float64);
        code.nodes[n].real = value;
        return n;
    }
    int load(int buffer, int dx = 0, int dy = 0) {
        const int n = node(ir::Op::load, ir::ValueType::float64);
        code.nodes[n].index = buffer;
        code.nodes[n].offsets = {dx, dy, 0};
        return n;
    }
    int subtract(int a, int b) { return node(ir::Op::subtract, ir::ValueType::float64, a, b); }
    int add(int a, int b) { return node(ir::Op::add, ir::ValueType::float64, a, b); }
    int fma(int a, int b, int c) { return node(ir::Op::fma, ir::ValueType::float64, a, b, c); }
};

struct Options {
    std::int64_t nx = 40;
    std::int64_t ny = 30;
    double radius = 12;
    bool whole = false; ///< all cells instead of the disk
    Boundary boundary = Boundary::none;
};

inline bool in_disk(const Options& o, std::int64_t x, std::int64_t y) {
    if (o.boundary == Boundary::none && (x + 1 >= o.nx || y + 1 >= o.ny)) return false;
    const auto dx = static_cast<double>(x) - static_cast<double>(o.nx) / 2;
    const auto dy = static_cast<double>(y) - static_cast<double>(o.ny) / 2;
    return o.whole || dx * dx + dy * dy < o.radius * o.radius;
}

inline std::shared_ptr<const ir::CellSet> disk(const Options& o) {
    ir::CellSet::Builder builder({o.nx, o.ny, 1});
    for (std::int64_t y = 0; y < o.ny; ++y) {
        for (std::int64_t x = 0; x < o.nx; ++x)
            if (in_disk(o, x, y)) builder.add({x, x + 1});
        builder.end_row();
    }
    return std::make_shared<const ir::CellSet>(builder.finish());
}

inline ir::Code disk_condition(const Options& o, const ir::CellSet& cells) {
    Builder b;
    using ir::Op;
    const auto real = ir::ValueType::float64;
    const auto truth = ir::ValueType::boolean;
    const auto coordinate = [&](int axis) {
        const int c = b.node(Op::cell, ir::ValueType::integer);
        b.code.nodes[c].index = axis;
        return b.node(Op::convert, real, c);
    };
    const auto between = [&](int value, std::int64_t first, std::int64_t last) {
        return b.node(Op::logical_and, truth,
                      b.node(Op::less_equal, truth, b.real(static_cast<double>(first)), value),
                      b.node(Op::less, truth, value, b.real(static_cast<double>(last))));
    };
    const int x = coordinate(0);
    const int y = coordinate(1);
    const auto& box = cells.bounds();
    int inside = b.node(Op::logical_and, truth, between(x, box.first[0], box.last[0]),
                        between(y, box.first[1], box.last[1]));
    if (!o.whole) {
        const int dx = b.subtract(x, b.real(static_cast<double>(o.nx) / 2));
        const int dy = b.subtract(y, b.real(static_cast<double>(o.ny) / 2));
        const int square = b.add(b.node(Op::multiply, real, dx, dx), b.node(Op::multiply, real, dy, dy));
        inside = b.node(Op::logical_and, truth, inside,
                        b.node(Op::less, truth, square, b.real(o.radius * o.radius)));
    }
    b.code.result = inside;
    return b.code;
}

inline ir::Code box_condition(const ir::CellBox& box) {
    Builder b;
    using ir::Op;
    const auto truth = ir::ValueType::boolean;
    const auto integer = [&](std::int64_t value) {
        const int n = b.node(Op::constant, ir::ValueType::integer);
        b.code.nodes[n].integer = value;
        return n;
    };
    int inside = -1;
    for (int axis = 0; axis < 2; ++axis) {
        const int c = b.node(Op::cell, ir::ValueType::integer);
        b.code.nodes[c].index = axis;
        const int here =
            b.node(Op::logical_and, truth, b.node(Op::less_equal, truth, integer(box.first[axis]), c),
                   b.node(Op::less, truth, c, integer(box.last[axis])));
        inside = inside < 0 ? here : b.node(Op::logical_and, truth, inside, here);
    }
    b.code.result = inside;
    return b.code;
}

inline ir::CellBox interior(const Options& o) {
    if (o.boundary != Boundary::none) return {{0, 0, 0}, {o.nx, o.ny, 1}};
    return {{1, 1, 0}, {o.nx, o.ny, 1}};
}

constexpr double courant = 0.5;

inline std::shared_ptr<const ir::Program> program(const Options& o) {
    ir::Program p;
    p.name = "te";
    ir::Grid grid;
    grid.name = "g";
    grid.rank = 2;
    grid.shape = {o.nx, o.ny, 1};
    p.grids.push_back(grid);
    for (const char* name : {"Ex", "Ey", "Hz", "energy"}) {
        ir::Buffer buffer;
        buffer.name = name;
        buffer.grid = 0;
        buffer.boundary = {o.boundary, o.boundary, Boundary::none};
        buffer.written = true;
        Builder zero;
        zero.code.result = zero.real(0.0);
        buffer.initial = zero.code;
        p.buffers.push_back(buffer);
    }
    const auto kernel = [&](const char* name, std::shared_ptr<const ir::CellSet> cells, ir::Code predicate,
                            Builder b, std::vector<ir::Store> stores) {
        ir::Kernel k;
        k.name = name;
        k.grid = 0;
        k.cells = std::move(cells);
        k.predicate = std::move(predicate);
        k.code = std::move(b.code);
        k.stores = std::move(stores);
        p.kernels.push_back(std::move(k));
    };
    Builder e;
    const int c = e.real(courant);
    const int h = e.load(hz);
    const int new_ex = e.fma(c, e.subtract(h, e.load(hz, 0, -1)), e.load(ex));
    const int new_ey = e.fma(c, e.subtract(e.load(hz, -1, 0), h), e.load(ey));
    const auto box = interior(o);
    kernel("electric", std::make_shared<const ir::CellSet>(grid.shape, box), box_condition(box), e,
           {{ex, new_ex, false}, {ey, new_ey, false}});
    const auto cells = disk(o);
    Builder m;
    const int curl =
        m.subtract(m.add(m.subtract(m.load(ex, 0, 1), m.load(ex)), m.load(ey)), m.load(ey, 1, 0));
    const int new_hz = m.fma(m.real(courant), curl, m.load(hz));
    kernel("magnetic", cells, disk_condition(o, *cells), m, {{hz, new_hz, false}});
    Builder s;
    const int time = s.node(ir::Op::time, ir::ValueType::float64);
    const int wave = s.node(ir::Op::sin, ir::ValueType::float64,
                            s.node(ir::Op::multiply, ir::ValueType::float64, s.real(0.15), time));
    const int fed = s.add(s.load(hz), wave);
    const ir::CellBox place{{o.nx / 2, o.ny / 2, 0}, {o.nx / 2 + 1, o.ny / 2 + 1, 1}};
    kernel("dipole", std::make_shared<const ir::CellSet>(grid.shape, place), box_condition(place), s,
           {{hz, fed, false}});
    Builder a;
    const int value = a.load(hz);
    const int sum = a.fma(value, value, a.load(energy));
    kernel("accumulate", cells, disk_condition(o, *cells), a, {{energy, sum, false}});
    const auto record = [&](const char* name, Reduction reduction, std::int64_t every,
                            std::shared_ptr<const ir::CellSet> where, ir::Code predicate) {
        ir::Record r;
        r.name = name;
        r.grid = 0;
        r.reduction = reduction;
        r.every = every;
        r.cells = std::move(where);
        r.predicate = std::move(predicate);
        Builder b;
        const int v = b.load(hz);
        b.code.result =
            reduction == Reduction::sum ? b.node(ir::Op::multiply, ir::ValueType::float64, v, v) : v;
        r.code = b.code;
        p.records.push_back(std::move(r));
    };
    const ir::CellBox probe{{o.nx / 2 + 3, o.ny / 2 - 2, 0}, {o.nx / 2 + 4, o.ny / 2 - 1, 1}};
    record("probe", Reduction::value, 1, std::make_shared<const ir::CellSet>(grid.shape, probe),
           box_condition(probe));
    record("power", Reduction::sum, 3, cells, disk_condition(o, *cells));
    record("largest", Reduction::max, 2, cells, disk_condition(o, *cells));
    return std::make_shared<const ir::Program>(std::move(p));
}

/// The same by loops over arrays.
struct Plain {
    explicit Plain(const Options& options) : o(options) {
        for (auto& field : fields) field.assign(static_cast<std::size_t>(o.nx * o.ny), 0.0);
    }
    double& at(int field, std::int64_t x, std::int64_t y) {
        return fields[field][static_cast<std::size_t>(x + o.nx * y)];
    }
    double get(int field, std::int64_t x, std::int64_t y) {
        const auto index = [&](std::int64_t i, std::int64_t n) {
            if (i >= 0 && i < n) return i;
            switch (o.boundary) {
            case Boundary::periodic:
                return (i + n) % n;
            case Boundary::mirror:
                return i < 0 ? -1 - i : 2 * n - 1 - i;
            case Boundary::clamp:
                return i < 0 ? std::int64_t{0} : n - 1;
            default:
                return std::int64_t{-1};
            }
        };
        const auto i = index(x, o.nx);
        const auto j = index(y, o.ny);
        return i < 0 || j < 0 ? 0.0 : at(field, i, j);
    }
    void step(double wave) {
        const auto box = interior(o);
        for (auto y = box.first[1]; y < box.last[1]; ++y)
            for (auto x = box.first[0]; x < box.last[0]; ++x) {
                at(ex, x, y) = std::fma(courant, get(hz, x, y) - get(hz, x, y - 1), at(ex, x, y));
                at(ey, x, y) = std::fma(courant, get(hz, x - 1, y) - get(hz, x, y), at(ey, x, y));
            }
        each([&](auto x, auto y) {
            at(hz, x, y) = std::fma(
                courant, get(ex, x, y + 1) - get(ex, x, y) + get(ey, x, y) - get(ey, x + 1, y), at(hz, x, y));
        });
        at(hz, o.nx / 2, o.ny / 2) += wave;
        each([&](auto x, auto y) {
            at(energy, x, y) = std::fma(at(hz, x, y), at(hz, x, y), at(energy, x, y));
        });
    }
    template <class F>
    void each(F f) {
        for (std::int64_t y = 0; y < o.ny; ++y)
            for (std::int64_t x = 0; x < o.nx; ++x)
                if (in_disk(o, x, y)) f(x, y);
    }
    /// Hz² over the disk by the rule of ir/reduction.h, from its words.
    double power() {
        ir::TreeSum sum;
        for (std::int64_t y = 0; y < o.ny; ++y)
            for (std::int64_t atom = 0; atom < o.nx; atom += 64) {
                std::array<double, 8> lanes{};
                for (auto x = atom; x < std::min(o.nx, atom + 64); ++x)
                    if (in_disk(o, x, y))
                        lanes[static_cast<std::size_t>(x % 8)] += at(hz, x, y) * at(hz, x, y);
                sum.add(ir::sum_of_lanes(lanes));
            }
        return sum.total();
    }
    double largest() {
        double value = -HUGE_VAL;
        each([&](auto x, auto y) { value = std::max(value, at(hz, x, y)); });
        return value;
    }

    Options o;
    std::array<std::vector<double>, 4> fields;
};

} // namespace farfield::stencil::te
