#include "io/picture/film.h"

#include "io/atomic_file.h"
#include "io/bodies_file.h"
#include "io/picture/animation.h"
#include "io/picture/axes.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace farfield {
namespace {

namespace fs = std::filesystem;

constexpr int frame_size = 480;
constexpr int frame_milliseconds = 80;

// "0012" of "snapshot_0012.h5"; empty for other names.
std::string number_of(const fs::path& path) {
    constexpr std::string_view prefix = "snapshot_";
    const auto stem = path.stem().string();
    if (path.extension() != ".h5" || !stem.starts_with(prefix)) return {};
    auto number = stem.substr(prefix.size());
    return number.find_first_not_of("0123456789") == std::string::npos ? number : std::string();
}

// Union of frames, made round again.
PictureFrame rounded(PictureFrame frame) {
    frame.width = picture::round_up(frame.width);
    const double grid = frame.width / 20;
    for (auto& coordinate : frame.centre) coordinate = std::floor(coordinate / grid + 0.5) * grid;
    return frame;
}

} // namespace

std::vector<fs::path> snapshots_in(const fs::path& folder) {
    std::vector<std::pair<std::string, fs::path>> found;
    try {
        for (const auto& entry : fs::directory_iterator(folder))
            if (auto number = number_of(entry.path()); !number.empty())
                found.emplace_back(std::move(number), entry.path());
    } catch (const fs::filesystem_error& error) {
        throw IoError(fmt::format("{}: cannot list the folder: {}", folder.string(), error.code().message()));
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return std::pair(a.first.size(), a.first) < std::pair(b.first.size(), b.first);
    });
    std::vector<fs::path> paths;
    paths.reserve(found.size());
    for (auto& [number, path] : found) paths.push_back(std::move(path));
    return paths;
}

FilmFrame film_frame(std::span<const fs::path> snapshots, const DensityPlotOptions& options) {
    FilmFrame film;
    std::vector<double> times;
    std::vector<std::uint64_t> first;
    bool boxes =
        false;        // show themselves, to the border; and who comes back on the other side leaves no trail
    bool same = true; // vortices that are placed anew are others, and leave no trails
    for (std::size_t i = 0; i < snapshots.size(); ++i) {
        const auto snapshot = read_bodies(snapshots[i]);
        try {
            const auto ids = picture::ids_of(snapshot.bodies);
            if (i == 0) first = ids;
            if (snapshot.info.kernel != Kernel::vortex2d && ids.size() != first.size())
                throw InvalidArgument(
                    fmt::format("it holds {} bodies, {} holds {}; snapshots of one run are needed",
                                snapshot.bodies.size(), snapshots[0].string(), first.size()));
            same = same && (snapshot.info.kernel != Kernel::vortex2d || ids == first);
            const auto& box = snapshot.info.box;
            boxes = boxes || box != std::array<double, 3>{};
            film.frame = joined(film.frame, picture_frame(snapshot.bodies, options.plane, 0.0, options.show,
                                                          box, options.threads));
            if (same && !boxes && picture::are_few(snapshot.bodies))
                film.trails.add(snapshot.info.time, snapshot.bodies);
        } catch (const InvalidArgument& error) {
            throw InvalidArgument(fmt::format("{}: {}", snapshots[i].string(), error.what()));
        }
        times.push_back(snapshot.info.time);
        film.order.push_back(i);
    }
    if (!same || boxes) film.trails = {};
    std::stable_sort(film.order.begin(), film.order.end(),
                     [&](auto a, auto b) { return times[a] < times[b]; });
    if (film.frame.width > 0.0 && !boxes) film.frame = rounded(film.frame);
    return film;
}

void write_film(const fs::path& png, std::span<const fs::path> snapshots, const FilmFrame& film,
                DensityPlotOptions options) {
    if (options.trails == nullptr) options.trails = &film.trails;
    options.size = frame_size;
    picture::Animation animation(frame_milliseconds);
    for (const auto index : film.order) {
        const auto snapshot = read_bodies(snapshots[index]);
        animation.add(draw_bodies(snapshot.bodies, snapshot.info, options));
    }
    if (animation.frames() > 0) write_file_atomically(png, animation.bytes());
}

} // namespace farfield
