// Units, G and the file of bodies of a run.
#include "dynamics/run/origin.h"

#include "backend/jit/sha256.h"
#include "io/bodies_file.h"
#include "io/file.h"
#include "io/snapshot.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <cmath>

namespace farfield {
namespace {

constexpr double same_G = 1e-3; // the values of G that codes use differ by less

std::string sum_of_files(const std::filesystem::path& path) {
    jit::Sha256 sum;
    for (const auto& file : files_of_bodies(path)) {
        const auto bytes = read_file(file);
        sum.add_field(as_text(bytes));
    }
    return sum.hex();
}

} // namespace

RunOrigin run_origin(const Case& simulation_case, const InitialState& initial, const Say& say) {
    const bool from_file = simulation_case.initial.kind == InitialKind::file;
    const double G = simulation_case.force.G;
    RunOrigin origin{.units = initial.units, .names = names_text(initial.body_names)};
    if (from_file) origin.file_sum = sum_of_files(simulation_case.initial.path);
    if (G != initial.G)
        origin.G = "given by the case";
    else
        origin.G = initial.G_origin.empty() ? "N-body units" : initial.G_origin;
    if (!are_physical(initial.units) || simulation_case.force.kernel != Kernel::gravity) return origin;
    if (from_file && G == initial.G) say(fmt::format("G = {:.9g} {}", G, origin.G));
    if (std::abs(G - initial.G) > same_G * initial.G)
        say(fmt::format("warning: G is {:.9g} in this run, but {:.9g} in the units of its bodies ({})", G,
                        initial.G, initial.G_origin));
    return origin;
}

void require_same_bodies(const Case& simulation_case, const RunOrigin& before,
                         const std::filesystem::path& folder, const Say& say) {
    if (before.file_sum.empty()) return;
    const auto& path = simulation_case.initial.path;
    if (!std::filesystem::exists(path)) {
        say(fmt::format("the file of bodies '{}' is not there any more; the run goes on without it",
                        path.string()));
        return;
    }
    if (sum_of_files(path) != before.file_sum)
        throw InvalidArgument(
            fmt::format("the file of bodies '{}' has changed since the run in '{}' began; put back what it "
                        "was, or begin a new run in another folder",
                        path.string(), folder.string()));
}

} // namespace farfield
