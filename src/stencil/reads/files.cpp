// Files as values of cells: which the model mentions, their sizes, and their order in memory.
#include "stencil/reads/files.h"

#include "base/text.h"
#include "io/npy.h"
#include "io/png.h"
#include "stencil/front_end/syntax/diagnostic_kinds.h"
#include "stencil/reads/accesses.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace farfield::stencil {
namespace {

// A mention: image("a.png") on a grid, or along one of its axes.
struct Mention {
    std::string name;
    bool image = false;
    int grid = -1;
    int axis = -1;
    Span span;
};

// In the order of the tables of the model.
template <class Visit>
void for_each_mention(const Model& model, const Visit& visit) {
    const auto in = [&](const lang::Expr* expr, int grid, int axis = -1) {
        if (expr == nullptr) return;
        lang::for_each_node(*expr, [&](const lang::Expr& node) {
            const auto* call = std::get_if<lang::Call>(&node.node);
            if (call == nullptr) return;
            const bool image = call->function == lang::Function::image;
            if (!image && call->function != lang::Function::data) return;
            const auto& text = std::get<lang::TextLiteral>(call->arguments[0]->node);
            visit(Mention{text.value, image, grid, axis, call->arguments[0]->span});
        });
    };
    for (const auto& subdomain : model.subdomains) in(subdomain.condition, subdomain.grid);
    for (const auto& field : model.fields) in(field.initial, field.grid);
    for (const auto& array : model.arrays) in(array.value, array.grid, array.axis);
    for (const auto& coefficient : model.coefficients)
        for (const auto& one : coefficient.cases) in(one.value, coefficient.grid);
}

class FileReader {
public:
    FileReader(const Model& model, const std::filesystem::path& folder, lang::Diagnostics& diagnostics)
        : model_(model), folder_(folder), diagnostics_(diagnostics) {}

    void read(const Mention& mention) {
        if (files_.find(mention.name, mention.grid, mention.axis) >= 0) return;
        ir::Buffer buffer;
        buffer.name = mention.name;
        buffer.kind = ir::BufferKind::data;
        buffer.grid = mention.grid;
        buffer.axis = mention.axis;
        try {
            const auto path = file_path(folder_, mention.name);
            buffer.values = mention.image ? picture(mention, path) : array(mention, path);
        } catch (const IoError& error) {
            diagnostics_.report(kinds::unreadable_file, mention.span, error.what(),
                                "relative names start at the folder of the program");
        } catch (const InvalidArgument& error) {
            diagnostics_.report(kinds::unreadable_file, mention.span, error.what());
        }
        // Also where it failed: once is enough to say so.
        files_.list.push_back(
            {mention.name, mention.grid, mention.axis, static_cast<int>(files_.buffers.size())});
        files_.buffers.push_back(std::move(buffer));
    }

    DataFiles release() { return std::move(files_); }

private:
    // The cells along the axes that the file has to have: all of the grid's, or one.
    std::vector<std::int64_t> cells_of(const Mention& mention) const {
        const auto& axes = model_.grids[static_cast<std::size_t>(mention.grid)].axes;
        if (mention.axis >= 0) return {axes[static_cast<std::size_t>(mention.axis)].cells};
        std::vector<std::int64_t> out;
        out.reserve(axes.size());
        for (const auto& axis : axes) out.push_back(axis.cells);
        return out;
    }

    std::vector<double> picture(const Mention& mention, const std::filesystem::path& path) {
        auto cells = cells_of(mention);
        cells.resize(3, 1);
        const auto fits = [&](std::int64_t width, std::int64_t height) {
            return cells[0] % width == 0 && cells[1] % height == 0;
        };
        const auto picture = read_png(path, fits);
        if (!fits(picture.width, picture.height)) {
            diagnostics_.report(
                kinds::wrong_shape, mention.span,
                fmt::format("the picture '{}' has {} x {} pixels, and {} has {} x {} cells", mention.name,
                            picture.width, picture.height, owner(mention), cells[0], cells[1]),
                fmt::format(
                    "scale it to {} x {} pixels, or to a size of which the cells are a whole multiple",
                    cells[0], cells[1]));
            return {};
        }
        std::vector<double> values;
        values.reserve(static_cast<std::size_t>(cells[0] * cells[1] * cells[2]));
        const auto wide = cells[0] / picture.width;
        const auto high = cells[1] / picture.height;
        for (std::int64_t k = 0; k < cells[2]; ++k)
            for (std::int64_t j = 0; j < cells[1]; ++j) {
                const auto row = (picture.height - 1 - j / high) * picture.width;
                for (std::int64_t i = 0; i < cells[0]; ++i)
                    values.push_back(picture.values[static_cast<std::size_t>(row + i / wide)]);
            }
        return values;
    }

    std::vector<double> array(const Mention& mention, const std::filesystem::path& path) {
        auto file = read_npy(path);
        const auto cells = cells_of(mention);
        const std::vector<std::int64_t> wanted(cells.rbegin(), cells.rend());
        if (file.shape != wanted) {
            diagnostics_.report(
                kinds::wrong_shape, mention.span,
                fmt::format("the array '{}' has the shape ({}), and {} needs ({})", mention.name,
                            joined(file.shape, ", "), owner(mention), joined(wanted, ", ")),
                file.shape == cells && cells.size() > 1
                    ? "arrays are indexed [z][y][x], x fastest: save its transpose, numpy.save(name, "
                      "a.T.copy())"
                    : "arrays are indexed [z][y][x], x fastest, and have a value for each cell");
            return {};
        }
        for (std::size_t i = 0; i < file.values.size(); ++i) {
            if (std::isfinite(file.values[i])) continue;
            diagnostics_.report(kinds::unreadable_file, mention.span,
                                fmt::format("the array '{}' holds {} at [{}]", mention.name, file.values[i],
                                            joined(place_of(i, wanted), ", ")),
                                "give finite values");
            return {};
        }
        return std::move(file.values);
    }

    static std::vector<std::size_t> place_of(std::size_t at, const std::vector<std::int64_t>& shape) {
        std::vector<std::size_t> place(shape.size());
        for (std::size_t axis = shape.size(); axis-- > 0;) {
            place[axis] = at % static_cast<std::size_t>(shape[axis]);
            at /= static_cast<std::size_t>(shape[axis]);
        }
        return place;
    }

    std::string owner(const Mention& mention) const {
        return mention.axis < 0
                   ? fmt::format("the grid '{}'", model_.grids[static_cast<std::size_t>(mention.grid)].name)
                   : fmt::format("an array along {} of the grid '{}'", axis_letter(mention),
                                 model_.grids[static_cast<std::size_t>(mention.grid)].name);
    }
    char axis_letter(const Mention& mention) const {
        const auto& axes = model_.grids[static_cast<std::size_t>(mention.grid)].axes;
        return "xyz"[static_cast<std::size_t>(axes[static_cast<std::size_t>(mention.axis)].coordinate)];
    }

    const Model& model_;
    const std::filesystem::path& folder_;
    lang::Diagnostics& diagnostics_;
    DataFiles files_;
};

} // namespace

int DataFiles::find(std::string_view name, int grid, int axis) const {
    for (const auto& file : list)
        if (file.name == name && file.grid == grid && file.axis == axis) return file.buffer;
    return -1;
}

std::vector<std::string> file_names(const Model& model) {
    std::vector<std::string> names;
    for_each_mention(model, [&](const Mention& mention) {
        if (std::find(names.begin(), names.end(), mention.name) == names.end()) names.push_back(mention.name);
    });
    return names;
}

std::filesystem::path file_path(const std::filesystem::path& folder, const std::filesystem::path& name) {
    return folder / name; // an absolute name stays what it is
}

DataFiles read_files(const Model& model, const std::filesystem::path& folder,
                     lang::Diagnostics& diagnostics) {
    FileReader reader(model, folder, diagnostics);
    for_each_mention(model, [&](const Mention& mention) { reader.read(mention); });
    return reader.release();
}

} // namespace farfield::stencil
