// Where the things of a model stand in ir::Program::buffers: fields, arrays, coefficients, then the files
// that expressions read.
#pragma once

#include "stencil/front_end/model/model.h"
#include "stencil/reads/files.h"

#include <string_view>
#include <vector>

namespace farfield::stencil {

class BufferNumbers {
public:
    /// @param files those that the model mentions; without them nothing that reads a file can be lowered.
    explicit BufferNumbers(const Model& model, const DataFiles& files = {})
        : fields_(static_cast<int>(model.fields.size())), arrays_(static_cast<int>(model.arrays.size())),
          coefficients_(static_cast<int>(model.coefficients.size())), files_(files.list) {}

    int field(int index) const { return index; }
    int array(int index) const { return fields_ + index; }
    int coefficient(int index) const { return fields_ + arrays_ + index; }
    /// DataFiles::buffers[index]
    int data(int index) const { return fields_ + arrays_ + coefficients_ + index; }
    /// @throws InternalError for a file that was not read.
    int data(std::string_view name, int grid, int axis) const;

private:
    int fields_ = 0;
    int arrays_ = 0;
    int coefficients_ = 0;
    std::vector<DataFile> files_;
};

} // namespace farfield::stencil
