// Checkpoints of stencil runs: the fields that updates write, the step, and the lengths of growing files.
#pragma once

#include "run/sealed_file.h"
#include "stencil/front_end/model/model.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace farfield {

/// The file of frames of an animation at the time of a checkpoint.
struct FramesMark {
    std::string field;
    std::int64_t every = 1;
    std::uint64_t bytes = 0;
    std::string slice{}; ///< of the field, as slice_text has it
};

/// A file that the program reads: a picture or an array.
struct InputFile {
    std::string name; ///< as the program writes it
    std::string hash; ///< SHA-256 of its bytes; empty where it cannot be read
};

/// @param folder of the program, where relative names start.
std::vector<InputFile> input_files(const stencil::Model& model, const std::filesystem::path& folder);

struct StencilCheckpoint {
    std::string version; ///< of Farfield
    std::string program; ///< deciding_text
    std::vector<InputFile> inputs;
    std::int64_t step = 0;
    std::uint64_t series_bytes = 0; ///< of series.csv, already durable
    std::vector<FramesMark> frames;
    struct Field {
        std::string name;
        bool single_precision = false;
        std::vector<double> values;
    };
    std::vector<Field> fields; ///< that updates write; of a saved StencilRun all
    /// Of a saved StencilRun: what its program is made of again, and what it has recorded.
    struct Source {
        std::string text;
        std::string name;
        std::string folder;
        std::vector<std::string> parameters; ///< "name=value", those given from outside
        std::vector<std::vector<double>> series;
    };
    std::optional<Source> source{};
};

/// The content of such a file, without its seal.
std::vector<std::byte> checkpoint_image(const StencilCheckpoint& checkpoint);

/// @throws IoError or InvalidArgument where the file cannot be read, is damaged or holds something else.
StencilCheckpoint read_stencil_checkpoint(const std::filesystem::path& path);

void write_checkpoint(const Generations& files, const StencilCheckpoint& checkpoint);

/// The newest that can be read; a damaged one is told by `message`. @throws IoError where there are some but
/// none can be read.
std::optional<StencilCheckpoint>
newest_stencil_checkpoint(const Generations& files, const std::function<void(const std::string&)>& message);

/// What differs between two deciding texts, for people; empty where nothing does.
std::string difference_of(const std::string& before, const std::string& now);

} // namespace farfield
