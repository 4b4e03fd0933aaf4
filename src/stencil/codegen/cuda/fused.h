// What the passes that keep values on the chip have in common: parameters, loops over a thread's patch, which
// cells a kernel updates, and how a thread finds a neighbour's value.
#pragma once

#include "stencil/codegen/cuda/tile_shape.h"
#include "stencil/codegen/cuda/tile_table.h"

#include <set>
#include <string>

namespace farfield::stencil::codegen::cuda {

class FusedPrinter {
public:
    /// @param shape outlives the printer. @param number of the pass.
    FusedPrinter(const PrintJob& job, const TileShape& shape, int number)
        : job_(job), program_(job.program), shape_(shape), number_(number),
          grid_(program_.kernels[static_cast<std::size_t>(shape.kernels[0])].grid),
          extent_(program_.grids[static_cast<std::size_t>(grid_)].shape),
          memory_(in_memory(program_, grid_)) {}

protected:
    const ir::Kernel& kernel(std::size_t k) const {
        return program_.kernels[static_cast<std::size_t>(shape_.kernels[k])];
    }
    const ir::Record& record(std::size_t r) const {
        return program_.records[static_cast<std::size_t>(shape_.records[r])];
    }
    const ir::Buffer& buffer(int b) const { return program_.buffers[static_cast<std::size_t>(b)]; }
    std::string type(int b) const { return std::string(type_name(buffer(b).precision)); }
    /// Names of the kernels.
    std::string names() const;

    void collect_parameters();
    /// Device functions that find a neighbour: near_N, and where `far` is set far_N.
    void print_neighbours(bool far);
    /// Where the thread is in its block and its patch in the tile, along so many axes.
    void print_position(std::size_t axes);
    /// Opens a loop over the thread's patch that the compiler unrolls.
    void open_patch(Text& text, bool coordinates) const;
    /// Defines is_kept(i, j, k).
    void print_kept(Text& text, std::size_t axes = 3) const;
    /// Whether some cells along an axis are not in memory.
    bool is_cut(std::size_t axis) const { return memory_.last[axis] - memory_.first[axis] < extent_[axis]; }
    /// Whether an index is in the grid and in memory: "inside<512>(x)".
    std::string has(std::size_t axis, const std::string& index) const;
    /// Whether (x, y, z) is in memory, and in the grid as far as axes that do not wrap around say.
    std::string is_there(std::size_t axes = 3) const;
    /// Whether the cells of a kernel need a look at each cell, not only at their bounding box.
    bool is_masked(std::size_t k) const;
    /// For tiles at a rim: sets the bits of `cells_K` for the cells of the patch that a kernel updates, as
    /// far as so many axes say; without the third one only for kernels that are not masked.
    void print_cells(Text& text, std::size_t k, std::size_t axes);
    /// Fields whose neighbours a code reads.
    std::set<int> neighbours_read(const ir::Code& code) const;
    std::set<int> neighbours_read(std::size_t k) const { return neighbours_read(kernel(k).code); }
    /// A field's new values wait where the kernel still reads its neighbours.
    bool defers(std::size_t k, int b) const { return neighbours_read(k).contains(b); }
    /// Whether some kernel of the pass writes the buffer in this tile.
    std::string written_test(int b) const;
    /// Adds the function with its two bodies; `launch` has its name and size.
    MemoryPass finish(Launch launch, const std::vector<Tile>& tiles, bool far, const std::string& remark);

    const PrintJob& job_;
    const ir::Program& program_;
    const TileShape& shape_;
    int number_;
    int grid_;
    ir::Shape extent_;
    ir::CellBox memory_; ///< in_memory
    Parameters parameters_;
    Text body_;

private:
    void add_outer_reads(const ir::Code& code);
};

} // namespace farfield::stencil::codegen::cuda
