// Sums as a simulation asks for them: a plan is made once, then gets points and is executed again and again.
//     bench_steps POINTS OUT {"method": "treecode", "softening": 0.01, "theta": 1, "order": 1, …} [REPEATS]
// POINTS holds x, y, z and the mass of each point, OUT gets their fields, in doubles as they lie in memory.
// With "kernel": "coulomb" these are charges, and OUT gets potential and field of each. Prints the seconds of
// each repetition and the passes of the fastest one, as JSON.
#include <farfield/farfield.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace farfield;
using Json = nlohmann::ordered_json;

std::vector<double> read_doubles(const std::string& path) {
    std::vector<double> values(std::filesystem::file_size(path) / sizeof(double));
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(double)));
    if (!file || values.size() % 4 != 0) throw std::runtime_error(path + " holds no rows of four doubles");
    return values;
}

SumOptions options_of(const Json& from) {
    SumOptions options;
    options.kernel = from.value("kernel", "") == "coulomb" ? Kernel::coulomb : Kernel::gravity;
    options.outputs = Output::field;
    if (options.kernel == Kernel::coulomb) options.outputs |= Output::potential;
    options.method = from.at("method") == "fmm" ? Method::fmm : Method::treecode;
    options.softening = from.value("softening", 0.0);
    options.theta = from.value("theta", 0.0);
    options.order = from.value("order", 0);
    options.leaf = from.value("leaf", 0);
    options.tolerance = from.value("tolerance", 0.0);
    options.threads = from.value("threads", 2);
    if (const auto precision = from_name<Precision>(from.value("precision", "")))
        options.precision = *precision;
    return options;
}

Json measure(const std::string& in, const std::string& out, const Json& wanted, int repeats) {
    const auto rows = read_doubles(in);
    const auto n = rows.size() / 4;
    std::vector<double> x, q, field(3 * n);
    for (std::size_t i = 0; i < n; ++i) {
        x.insert(x.end(), &rows[4 * i], &rows[4 * i] + 3);
        q.push_back(rows[4 * i + 3]);
    }
    const auto points = matrix_view(std::span<const double>(x), 3);
    const auto masses = matrix_view(std::span<const double>(q), 1);
    const auto options = options_of(wanted);
    SumPlan plan(points, options);
    std::vector<double> potential(options.kernel == Kernel::coulomb ? n : 0);
    SumOutputs outputs;
    if (!potential.empty()) outputs.potential = matrix_view(std::span<double>(potential), 1);
    outputs.field = matrix_view(std::span<double>(field), 3);
    Json result{{"seconds", Json::array()}};
    double least = 0.0;
    for (int k = 0; k <= repeats; ++k) { // the first one warms up, and verifies
        const auto begin = std::chrono::steady_clock::now();
        plan.update(points);
        plan.execute(masses, outputs);
        const double taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (k == 0) continue;
        result["seconds"].push_back(taken);
        if (least > 0.0 && taken >= least) continue;
        least = taken;
        result["order"] =
            plan.report().method == Method::fmm ? plan.report().fmm.order : plan.report().treecode.order;
        result["passes"] = {{"prepare", plan.report().prepare_seconds}};
        for (const auto& pass : plan.report().passes) result["passes"][std::string(pass.name)] = pass.seconds;
        result["passes"]["finish"] = plan.report().finish_seconds;
    }
    std::vector<double> results;
    for (std::size_t i = 0; i < n; ++i) {
        if (!potential.empty()) results.push_back(potential[i]);
        results.insert(results.end(), &field[3 * i], &field[3 * i] + 3);
    }
    std::ofstream file(out, std::ios::binary);
    file.write(reinterpret_cast<const char*>(results.data()),
               static_cast<std::streamsize>(results.size() * sizeof(double)));
    if (!file) throw std::runtime_error("cannot write " + out);
    return result;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fputs("usage: bench_steps POINTS OUT OPTIONS [REPEATS]\n", stderr);
        return 2;
    }
    try {
        const auto result =
            measure(argv[1], argv[2], Json::parse(argv[3]), argc > 4 ? std::stoi(argv[4]) : 9);
        std::printf("%s\n", result.dump().c_str());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_steps: %s\n", error.what());
        return 1;
    }
    return 0;
}
