// Declarations and statements of random programs; stencil_expressions.cpp has the expressions.
#include "stencil_generator.h"

#include "stencil_expressions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace farfield::testing {
namespace {

class World {
public:
    World(std::uint64_t seed, std::string suffix)
        : dice_(seed), suffix_(std::move(suffix)), expressions_(dice_, names_) {}

    RandomWorld make() {
        grid();
        subdomains();
        arrays();
        fields();
        boundaries();
        coefficient();
        const auto updates = 1 + dice_.pick(3);
        for (std::size_t i = 0; i < updates; ++i) action(fmt::format("up{}_{}", i, suffix_), false);
        const auto sources = dice_.pick(3);
        for (std::size_t i = 0; i < sources; ++i) action(fmt::format("so{}_{}", i, suffix_), true);
        std::shuffle(out_.step.begin(), out_.step.end(), dice_.engine);
        if (dice_.chance(4)) out_.step.push_back(out_.step.front()); // the same action twice
        records();
        return std::move(out_);
    }

private:
    template <class... Args>
    void line(fmt::format_string<Args...> format, Args&&... args) {
        out_.declarations += fmt::format(format, std::forward<Args>(args)...) + '\n';
    }
    std::string name(std::string_view stem, std::size_t i) const {
        return fmt::format("{}{}_{}", stem, i, suffix_);
    }

    void grid() {
        const auto rank = 1 + dice_.pick(3);
        std::string axes = "xyz";
        while (axes.size() > rank) axes.erase(dice_.pick(axes.size()), 1);
        names_.axes = axes;
        std::vector<std::string> ranges;
        const bool physical = dice_.chance(3);
        for (std::size_t a = 0; a < rank; ++a) {
            // rows of several atoms of 64 cells; few rows
            const auto cells =
                a == 0 ? 1 + dice_.pick(dice_.chance(2) ? 20 : 150) : 1 + dice_.pick(a == 1 ? 12 : 6);
            names_.cells.push_back(static_cast<int>(cells));
            if (!physical)
                ranges.push_back(fmt::format("{}: {}", axes[a], cells));
            else
                ranges.push_back(fmt::format("{}: -1 to {}", axes[a], static_cast<double>(cells) / 8 - 1));
        }
        names_.physical = physical;
        line("grid g_{}[{}]{}", suffix_, fmt::join(ranges, ", "), physical ? " sampling 8" : "");
    }

    std::string coordinates() const {
        std::vector<std::string> out;
        for (const char axis : names_.axes) out.emplace_back(1, axis);
        return fmt::format("{}", fmt::join(out, ", "));
    }

    std::string place() {
        if (!dice_.chance(3)) return {};
        std::vector<std::string> out;
        for (const char axis : names_.axes)
            out.push_back(fmt::format("{}{}", axis,
                                      dice_.chance(2)   ? "+1/2"
                                      : dice_.chance(3) ? "-0.25"
                                                        : ""));
        return fmt::format(" at ({})", fmt::join(out, ", "));
    }

    void subdomains() {
        const auto n = 1 + dice_.pick(2);
        for (std::size_t i = 0; i < n; ++i) {
            const auto it = name("s", i);
            line("subdomain {}({}) on g_{}{} = {}", it, coordinates(), suffix_, place(),
                 expressions_.region(3));
            names_.subdomains.push_back(it);
        }
    }

    std::string precision() { return dice_.chance(2) ? "float" : "double"; }

    void arrays() {
        const auto n = dice_.pick(3);
        for (std::size_t i = 0; i < n; ++i) {
            const auto it = name("arr", i);
            const char axis = names_.axes[dice_.pick(names_.axes.size())];
            const std::string value =
                dice_.chance(2) ? fmt::format("sin(0.3*{})", axis) : fmt::format("1/(1 + {}^2)", axis);
            line("array {}[{}] on g_{}{} : {} = {}", it, axis, suffix_,
                 dice_.chance(2) ? fmt::format(" at ({}+1/2)", axis) : "", precision(), value);
            names_.arrays.push_back(it);
        }
    }

    void fields() {
        const auto n = 2 + dice_.pick(3);
        for (std::size_t i = 0; i < n; ++i) {
            Names::Field field{name("f", i), dice_.chance(3), false, false};
            line("field {} on g_{}{} : {}{} = {}", field.name, suffix_, place(), precision(),
                 field.double_buffered ? ", double-buffered" : "", expressions_.initial(2));
            names_.fields.push_back(field);
        }
        if (!dice_.chance(2)) return;
        Names::Field fixed{name("r", 0), false, true, false};
        line("field {} on g_{} : {}, read-only = {}", fixed.name, suffix_, precision(),
             expressions_.initial(2));
        names_.fields.push_back(fixed);
    }

    void boundaries() {
        constexpr const char* rules[] = {"zero", "periodic", "mirror", "clamp"};
        for (auto& field : names_.fields) {
            std::vector<std::string> out;
            for (const char axis : names_.axes)
                if (!dice_.chance(5)) out.push_back(fmt::format("{} in {}", rules[dice_.pick(4)], axis));
            field.bounded = out.size() == names_.axes.size();
            if (!out.empty()) line("boundary {}: {}", field.name, fmt::join(out, ", "));
        }
    }

    void coefficient() {
        if (!dice_.chance(2)) return;
        const auto it = name("c", 0);
        const auto& where = names_.subdomains.front();
        line("coefficient {} on g_{} : {}:\n    {}: {}", it, suffix_, precision(), where,
             expressions_.initial(1));
        if (names_.subdomains.size() > 1 && dice_.chance(2))
            line("    {} and not {}: {}", names_.subdomains[1], where, expressions_.initial(1));
        line("    elsewhere: {}", expressions_.initial(1));
        names_.coefficients.push_back(it);
    }

    // Some field whose neighbours are read may have no boundary: then the cells where they exist.
    std::string condition() {
        std::string where;
        switch (dice_.pick(4)) {
        case 0:
            where = names_.subdomains[dice_.pick(names_.subdomains.size())];
            break;
        case 1:
            where = fmt::format("not {}", names_.subdomains[dice_.pick(names_.subdomains.size())]);
            break;
        case 2:
            where = fmt::format("({})", expressions_.region(2));
            break;
        default:
            break;
        }
        if (!expressions_.unbounded_reads()) return where;
        return where.empty() ? std::string("interior") : fmt::format("{} and interior", where);
    }

    void action(const std::string& name, bool source) {
        std::vector<std::size_t> targets;
        for (std::size_t i = 0; i < names_.fields.size(); ++i)
            if (!names_.fields[i].read_only && dice_.chance(2)) targets.push_back(i);
        if (targets.empty()) targets.push_back(0);
        expressions_.begin_action(targets);
        std::string body;
        const auto temporaries = dice_.pick(3);
        std::vector<std::string> lets;
        for (std::size_t i = 0; i < temporaries; ++i) {
            lets.push_back(fmt::format("tmp{}_{}", i, name));
            body += fmt::format("    let {} = {}\n", lets.back(), expressions_.real(3));
            expressions_.add_temporary(lets.back());
        }
        constexpr const char* signs[] = {"=", "+=", "-=", "*="};
        for (const auto target : targets)
            body += fmt::format("    {} {} {}\n", names_.fields[target].name, signs[dice_.pick(4)],
                                expressions_.assigned(4));
        const auto every = dice_.chance(3) ? fmt::format(" every {}", 2 + dice_.pick(2)) : "";
        out_.step.push_back(name + every);
        if (source && !expressions_.unbounded_reads() && dice_.chance(2)) {
            line("source {} at ({}):\n{}", name, box(), body);
        } else {
            const auto where = condition();
            const std::string on =
                where.empty() ? source ? " on everywhere" : "" : fmt::format(" on {}", where);
            line("{} {}{}:\n{}", source ? "source" : "update", name, on, body);
        }
        expressions_.end_action();
    }

    // In cells; on a grid in lengths the cells' places.
    std::string box() {
        std::vector<std::string> out;
        for (std::size_t a = 0; a < names_.axes.size(); ++a) {
            const auto number = [&](std::size_t cell) {
                return names_.physical ? fmt::format("{}", static_cast<double>(cell) / 8 - 1)
                                       : fmt::format("{}", cell);
            };
            const auto n = static_cast<std::size_t>(names_.cells[a]);
            const auto first = dice_.pick(n);
            const auto last = first + dice_.pick(n - first);
            if (dice_.chance(4))
                out.emplace_back(1, names_.axes[a]);
            else
                out.push_back(dice_.chance(2) ? number(first)
                                              : fmt::format("{} to {}", number(first), number(last)));
        }
        return fmt::format("{}", fmt::join(out, ", "));
    }

    void records() {
        constexpr const char* kinds[] = {"sum", "mean", "max", "min"};
        const auto n = dice_.pick(4);
        for (std::size_t i = 0; i < n; ++i) {
            expressions_.begin_action({});
            const auto value = fmt::format("{} + {}", names_.fields[0].name, expressions_.real(2));
            const auto every = dice_.chance(3) ? fmt::format(" every {}", 1 + dice_.pick(3)) : "";
            std::string where = condition();
            if (!where.empty()) where = fmt::format(" on {}", where);
            if (!expressions_.unbounded_reads() && dice_.chance(3)) {
                std::vector<std::string> place;
                for (const char axis : names_.axes) (void)axis, place.push_back(names_.physical ? "-1" : "0");
                line("record {} = {} at ({}){}", name("rec", i), value, fmt::join(place, ", "), every);
            } else {
                line("record {} = {} of {}{}{}", name("rec", i), kinds[dice_.pick(4)], value, where, every);
            }
            expressions_.end_action();
        }
    }

    Dice dice_;
    std::string suffix_;
    Names names_;
    Expressions expressions_;
    RandomWorld out_;
};

} // namespace

RandomWorld random_world(std::uint64_t seed, const std::string& suffix) { return World(seed, suffix).make(); }

std::string program_of(const std::vector<RandomWorld>& worlds) {
    std::string out = "program random\ntime dt = 0.25\n";
    std::vector<std::string> step;
    for (const auto& world : worlds) {
        out += world.declarations;
        step.insert(step.end(), world.step.begin(), world.step.end());
    }
    return out + fmt::format("step: {}\n", fmt::join(step, ", "));
}

} // namespace farfield::testing
