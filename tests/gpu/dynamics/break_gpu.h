// Ways to get a GPU into trouble, without a CUDA header.
#pragma once

#include <vector>

namespace farfield::test {

/// No CUDA call of this process succeeds afterwards.
void break_gpu();

/// Takes all of the GPU's memory but a megabyte.
std::vector<void*> fill_memory();
void give_back(const std::vector<void*>& blocks);

} // namespace farfield::test
