// Random expressions of the stencil language over the names of a world.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace farfield::testing {

struct Dice {
    explicit Dice(std::uint64_t seed) : engine(seed) {}
    std::mt19937_64 engine;
    std::size_t pick(std::size_t n) { return engine() % n; }
    /// One in n.
    bool chance(std::size_t n) { return pick(n) == 0; }
};

struct Names {
    struct Field {
        std::string name;
        bool double_buffered = false;
        bool read_only = false;
        bool bounded = false; ///< along all axes
    };
    std::string axes; ///< "xz"
    std::vector<int> cells;
    bool physical = false;
    std::vector<Field> fields;
    std::vector<std::string> arrays;
    std::vector<std::string> coefficients;
    std::vector<std::string> subdomains;
};

class Expressions {
public:
    Expressions(Dice& dice, const Names& names) : dice_(dice), names_(names) {}

    /// A condition of coordinates and subdomains.
    std::string region(int depth);
    /// A value of coordinates and subdomains, for initial values and coefficients.
    std::string initial(int depth);

    /// Expressions that follow belong to an update of these fields.
    void begin_action(std::vector<std::size_t> targets);
    void end_action() { in_action_ = false; }
    void add_temporary(std::string name) { temporaries_.push_back(std::move(name)); }
    /// Whether a neighbour was read that may lie outside the grid.
    bool unbounded_reads() const { return unbounded_; }

    std::string real(int depth);
    /// A real expression whose values mostly stay small.
    std::string assigned(int depth);

private:
    std::string whole(int depth);
    std::string truth(int depth);
    std::string leaf();
    std::string access();
    std::string number();
    std::string function(int depth);
    std::string power(int depth);
    std::string coordinate();
    std::string place();
    std::string constant_exponent();

    Dice& dice_;
    const Names& names_;
    bool in_action_ = false;
    bool unbounded_ = false;
    std::vector<std::size_t> targets_;
    std::vector<std::string> temporaries_;
};

} // namespace farfield::testing
