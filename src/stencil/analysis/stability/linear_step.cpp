// Which fields form closed linear systems, and their matrices for waves.
#include "stencil/analysis/stability/linear_step.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace farfield::stencil {
namespace {

constexpr std::int64_t longest_period = 64; // of kernels that do not run in every step
constexpr std::size_t most_fields = 64;     // written around a cell; matrices are cubic work

using Rows = std::vector<std::vector<LinearRow>>; // of each kernel; `field` and `buffer` are the program's

// Fields whose every new value is linear in such fields; rows of others are removed.
std::vector<bool> closed_fields(Rows& rows, std::vector<bool> closed) {
    for (bool changed = true; std::exchange(changed, false);)
        for (const auto& kernel : rows)
            for (const auto& row : kernel) {
                const bool sound = std::all_of(row.terms.begin(), row.terms.end(), [&](const Term& term) {
                    return closed[static_cast<std::size_t>(term.buffer)];
                });
                if (sound || !closed[row.field]) continue;
                closed[row.field] = false;
                changed = true;
            }
    for (auto& kernel : rows) std::erase_if(kernel, [&](const LinearRow& row) { return !closed[row.field]; });
    return closed;
}

// The fields of one part and the terms among them; the rest of the system drives the part and cannot make it
// grow.
LinearStep part_of(const ir::Program& program, const std::vector<int>& kernels, const Rows& rows,
                   std::vector<int> fields) {
    LinearStep out{std::move(fields), {}, 1};
    const auto place = [&](int buffer) {
        return static_cast<std::size_t>(std::find(out.fields.begin(), out.fields.end(), buffer) -
                                        out.fields.begin());
    };
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        LinearKernel kernel{kernels[k], program.kernels[static_cast<std::size_t>(kernels[k])].every, {}};
        for (const auto& row : rows[k]) {
            const auto field = place(static_cast<int>(row.field));
            if (field == out.fields.size()) continue;
            kernel.rows.push_back({field, {}});
            for (const auto& term : row.terms)
                if (const auto from = place(term.buffer); from < out.fields.size())
                    kernel.rows.back().terms.push_back({static_cast<int>(from), term.offsets, term.factor});
        }
        if (kernel.rows.empty()) continue;
        out.period = std::lcm(out.period, std::min(kernel.every, longest_period + 1));
        out.kernels.push_back(std::move(kernel));
        if (out.period > longest_period) return {};
    }
    return out;
}

// Without std::complex's operator*, which looks for infinities.
std::complex<double> product(const std::complex<double>& a, const std::complex<double>& b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

} // namespace

double LinearStep::growth(const Wave& wave, double scale, double negligible) const {
    const auto n = fields.size();
    auto g = ComplexMatrix::identity(n);
    std::vector<std::complex<double>> next; // the rows that a kernel writes
    for (std::int64_t step = 0; step < period; ++step)
        for (const auto& kernel : kernels) {
            if (step % kernel.every != 0) continue;
            next.clear();
            for (const auto& row : kernel.rows) {
                const auto begin = next.size();
                for (std::size_t j = 0; j < n; ++j) next.push_back((1 - scale) * g.at(row.field, j));
                for (const auto& term : row.terms) {
                    double angle = 0;
                    for (std::size_t a = 0; a < 3; ++a) angle += wave[a] * term.offsets[a];
                    const auto factor =
                        angle == 0 ? scale * term.factor : std::polar(scale, angle) * term.factor;
                    for (std::size_t j = 0; j < n; ++j)
                        next[begin + j] += product(factor, g.at(static_cast<std::size_t>(term.buffer), j));
                }
            }
            auto from = next.cbegin();
            for (const auto& row : kernel.rows)
                for (std::size_t j = 0; j < n; ++j) g.at(row.field, j) = *from++;
        }
    const auto steps = static_cast<double>(period);
    return std::pow(growth_factor(g, std::pow(negligible, steps)), 1 / steps);
}

bool LinearStep::made_of_changes() const {
    for (const auto& kernel : kernels)
        for (const auto& row : kernel.rows) {
            double own = 0;
            for (const auto& term : row.terms)
                if (static_cast<std::size_t>(term.buffer) == row.field) own += term.factor;
            if (std::fabs(own - 1) > 0.5) return false;
        }
    return true;
}

std::vector<LinearStep> linear_steps(const ir::Program& program, const std::vector<int>& kernels,
                                     const Cell& cell) {
    std::vector<bool> written(program.buffers.size(), false);
    for (const int k : kernels)
        for (const auto& store : program.kernels[static_cast<std::size_t>(k)].stores)
            written[static_cast<std::size_t>(store.buffer)] = true;
    if (static_cast<std::size_t>(std::count(written.begin(), written.end(), true)) > most_fields) return {};

    Rows rows;
    auto closed = written;
    Lineariser lineariser(program, program.kernels[static_cast<std::size_t>(kernels.front())].grid, cell,
                          written);
    for (const int k : kernels) {
        const auto& kernel = program.kernels[static_cast<std::size_t>(k)];
        const auto forms = lineariser.forms(kernel.code);
        rows.emplace_back();
        for (const auto& store : kernel.stores) {
            const auto& form = forms[static_cast<std::size_t>(store.node)];
            rows.back().push_back({static_cast<std::size_t>(store.buffer), form.terms});
            if (form.kind == LinearForm::Kind::opaque) closed[static_cast<std::size_t>(store.buffer)] = false;
            for (const auto& term : form.terms)
                if (!std::isfinite(term.factor)) closed[static_cast<std::size_t>(store.buffer)] = false;
        }
    }
    closed = closed_fields(rows, std::move(closed));

    std::vector<int> fields;
    for (std::size_t i = 0; i < closed.size(); ++i)
        if (closed[i]) fields.push_back(static_cast<int>(i));
    std::vector<std::vector<bool>> depends(fields.size(), std::vector<bool>(fields.size(), false));
    const auto place = [&](int buffer) {
        return static_cast<std::size_t>(std::lower_bound(fields.begin(), fields.end(), buffer) -
                                        fields.begin());
    };
    for (const auto& kernel : rows)
        for (const auto& row : kernel)
            for (const auto& term : row.terms)
                if (term.factor != 0) depends[place(static_cast<int>(row.field))][place(term.buffer)] = true;
    std::vector<LinearStep> out;
    for (const auto& part : coupled_parts(depends)) {
        std::vector<int> of_part;
        of_part.reserve(part.size());
        for (const auto i : part) of_part.push_back(fields[i]);
        auto step = part_of(program, kernels, rows, std::move(of_part));
        if (!step.kernels.empty()) out.push_back(std::move(step));
    }
    return out;
}

} // namespace farfield::stencil
