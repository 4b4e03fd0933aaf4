// Where the things of a model stand in ir::Program::buffers: fields, arrays, coefficients, then the files
// that expressions read.
#pragma once

#include "stencil/model.h"

#include <string>
#include <vector>

namespace farfield::stencil {

/// `image("a.png")` or `data("a.npy")` as values for each cell of a grid or, with `axis`, for each index
/// along it.
struct DataFile {
    lang::Function function = lang::Function::data;
    std::string name;
    int grid = -1;
    int axis = -1; ///< of the grid
    friend bool operator==(const DataFile&, const DataFile&) = default;
};

class BufferNumbers {
public:
    explicit BufferNumbers(const Model& model);

    int field(int index) const { return index; }
    int array(int index) const { return fields_ + index; }
    int coefficient(int index) const { return fields_ + arrays_ + index; }
    /// The n-th of files().
    int data(int index) const { return fields_ + arrays_ + coefficients_ + index; }
    /// Each once, in the order: arrays, fields, subdomains, coefficients.
    const std::vector<DataFile>& files() const { return files_; }
    /// Where a file's first mention stands in the text, by its place in files().
    Span span(int index) const { return spans_[static_cast<std::size_t>(index)]; }
    /// The buffer of a file. @throws InternalError for one that is not in files().
    int data(const DataFile& file) const;
    int count() const { return data(static_cast<int>(files_.size())); }

private:
    void collect(const lang::Expr* expr, int grid, int axis);

    int fields_ = 0;
    int arrays_ = 0;
    int coefficients_ = 0;
    std::vector<DataFile> files_;
    std::vector<Span> spans_;
};

} // namespace farfield::stencil
