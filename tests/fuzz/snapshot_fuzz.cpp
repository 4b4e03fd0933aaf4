// The layer that reads snapshots, fed with well-formed HDF5 files of arbitrary content: the input chooses
// groups, datasets and attributes, their types, shapes and layouts. (Bytes that are no HDF5 file only
// exercise the HDF5 library.) Files are refused with one of our errors, or give bodies of consistent lengths
// and finite values.
#include "io/hdf5.h"
#include "io/snapshot.h"

#include <farfield/error.h>

#include <fuzzer/FuzzedDataProvider.h>
#include <hdf5.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using Provider = FuzzedDataProvider;

hid_t number_type(Provider& input) {
    const std::array types{H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT,  H5T_IEEE_F64BE,
                           H5T_NATIVE_INT32,  H5T_NATIVE_UINT64, H5T_NATIVE_INT8,
                           H5T_NATIVE_UINT32, H5T_NATIVE_INT64,  H5T_STD_I16BE};
    return H5Tcopy(types[input.ConsumeIntegralInRange<std::size_t>(0, types.size() - 1)]);
}

// Choices are made so that an input that has run out gives an ordinary file: 0 is always the usual case.

// A type that is mostly a number, sometimes text, records or arrays.
hid_t any_type(Provider& input) {
    const auto kind = input.ConsumeIntegralInRange<int>(0, 7);
    if (kind == 4) {
        const hid_t type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, input.ConsumeIntegralInRange<std::size_t>(1, 9));
        return type;
    }
    if (kind == 5) {
        const hid_t type = H5Tcreate(H5T_COMPOUND, 8);
        H5Tinsert(type, "x", 0, H5T_NATIVE_DOUBLE);
        return type;
    }
    if (kind == 6) return H5Tenum_create(H5T_NATIVE_INT32);
    if (kind != 7) return number_type(input);
    const hsize_t extent = 2;
    return H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &extent);
}

hid_t any_space(Provider& input, std::vector<hsize_t>& extents) {
    const auto rank = input.ConsumeIntegralInRange<int>(0, 3);
    if (rank == 0) return H5Screate(input.ConsumeIntegralInRange<int>(0, 7) == 0 ? H5S_NULL : H5S_SCALAR);
    for (int i = 0; i < rank; ++i) extents.push_back(input.ConsumeIntegralInRange<hsize_t>(0, 6));
    return H5Screate_simple(rank, extents.data(), nullptr);
}

std::vector<std::uint8_t> bytes_for(Provider& input, hid_t type, hid_t space) {
    const auto elements = H5Sget_simple_extent_npoints(space);
    std::vector<std::uint8_t> bytes(
        (elements > 0 ? static_cast<std::size_t>(elements) : 0) * H5Tget_size(type) + 8, 0);
    const auto given = input.ConsumeBytes<std::uint8_t>(bytes.size());
    std::copy(given.begin(), given.end(), bytes.begin());
    return bytes;
}

// Mostly one small number, or a short text where texts are expected.
void add_attribute(Provider& input, hid_t object, const char* name, bool text) {
    const auto deviation = input.ConsumeIntegralInRange<int>(0, 15);
    if (deviation == 1) return;
    std::vector<hsize_t> extents;
    hid_t type = -1;
    if (deviation == 2) {
        type = any_type(input);
    } else if (text) {
        type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, input.ConsumeIntegralInRange<std::size_t>(7, 9));
    } else {
        type = H5Tcopy(H5T_NATIVE_INT8);
    }
    const hid_t space = deviation >= 2 && deviation <= 3 ? any_space(input, extents) : H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0) {
        auto bytes = bytes_for(input, type, space);
        const std::string usual = "gravity";
        if (deviation == 0 && text) std::copy(usual.begin(), usual.end(), bytes.begin());
        H5Awrite(attribute, type, bytes.data());
        H5Aclose(attribute);
    }
    H5Sclose(space);
    H5Tclose(type);
}

// Sometimes of a shape that fits nothing, compressed, never written, or of a size nobody has memory for.
void add_dataset(Provider& input, hid_t group, const char* name, std::vector<hsize_t> extents) {
    hid_t space = -1;
    const auto deviation = input.ConsumeIntegralInRange<int>(0, 31);
    if (deviation == 5) {
        extents.clear();
        space = any_space(input, extents);
    } else {
        if (deviation == 1) extents[0] = hsize_t{1} << input.ConsumeIntegralInRange<unsigned>(3, 60);
        space = H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr);
    }
    const hid_t type = deviation == 2 ? any_type(input) : number_type(input);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    const bool compressed = (deviation == 1 || deviation == 3) && !extents.empty();
    if (compressed) {
        const std::vector<hsize_t> chunk(extents.size(), 2);
        H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data());
        if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) H5Pset_deflate(properties, 4);
    }
    const hid_t dataset = H5Dcreate2(group, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    if (dataset >= 0) {
        if (deviation != 1 && deviation != 4)
            H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes_for(input, type, space).data());
        H5Dclose(dataset);
    }
    H5Pclose(properties);
    H5Sclose(space);
    H5Tclose(type);
}

void add_part(Provider& input, hid_t file, int type, hsize_t rows) {
    const auto name = "PartType" + std::to_string(type);
    const hid_t group = H5Gcreate2(file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (const auto* matrix : {"Coordinates", "Velocities"})
        if (input.ConsumeIntegralInRange<int>(0, 31) != 1) add_dataset(input, group, matrix, {rows, 3});
    for (const auto* column : {"Masses", "ParticleIDs", "Charge"})
        if (!input.ConsumeBool()) add_dataset(input, group, column, {rows});
    H5Gclose(group);
}

void add_group(Provider& input, hid_t file, const char* name, std::initializer_list<const char*> numbers,
               std::initializer_list<const char*> texts) {
    const hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (const auto* attribute : numbers) add_attribute(input, group, attribute, false);
    for (const auto* attribute : texts) add_attribute(input, group, attribute, true);
    H5Gclose(group);
}

std::vector<std::uint8_t> build_file(Provider& input) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, 1 << 16, 0);
    const hid_t file = H5Fcreate("fuzz", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    std::array<std::uint64_t, 6> counts{};
    for (int type = 0; type < 6; ++type) {
        if (input.ConsumeBool()) continue;
        const auto rows = 4 - input.ConsumeIntegralInRange<hsize_t>(0, 4);
        counts[static_cast<std::size_t>(type)] = rows;
        add_part(input, file, type, rows);
    }
    add_group(input, file, "Header", {"Time", "NumFilesPerSnapshot"}, {});
    const hid_t header = H5Gopen2(file, "Header", H5P_DEFAULT);
    if (input.ConsumeBool()) add_attribute(input, header, "MassTable", false);
    if (input.ConsumeIntegralInRange<int>(0, 15) == 1)
        add_attribute(input, header, "NumPart_ThisFile", false);
    if (H5Aexists(header, "NumPart_ThisFile") == 0) {
        const hsize_t extent = counts.size();
        const hid_t space = H5Screate_simple(1, &extent, nullptr);
        const hid_t attribute =
            H5Acreate2(header, "NumPart_ThisFile", H5T_NATIVE_UINT64, space, H5P_DEFAULT, H5P_DEFAULT);
        H5Awrite(attribute, H5T_NATIVE_UINT64, counts.data());
        H5Aclose(attribute);
        H5Sclose(space);
    }
    H5Gclose(header);
    add_group(input, file, "Parameters",
              {"GravityConstantInternal", "UnitLength_in_cm", "ComovingIntegrationOn"}, {});
    if (!input.ConsumeBool())
        add_group(input, file, "Farfield", {"Softening"},
                  {"Name", "LengthUnit", "MassUnit", "VelocityUnit", "Kernel"});
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    const auto size = H5Fget_file_image(file, nullptr, 0);
    std::vector<std::uint8_t> image(size > 0 ? static_cast<std::size_t>(size) : 0);
    H5Fget_file_image(file, image.data(), image.size());
    H5Fclose(file);
    H5Pclose(access);
    return image;
}

void check(const farfield::Bodies& bodies) {
    const auto n = bodies.mass.size();
    bool good = n > 0 && bodies.position.size() == 3 * n && bodies.velocity.size() == 3 * n &&
                bodies.id.size() == n && (bodies.charge.empty() || bodies.charge.size() == n);
    for (const auto* values : {&bodies.position, &bodies.velocity, &bodies.mass, &bodies.charge})
        for (const double value : *values) good = good && std::isfinite(value);
    if (!good) std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    Provider input(data, size);
    const auto image = build_file(input);
    try {
        check(farfield::parse_snapshot(std::as_bytes(std::span(image)), "fuzz.h5").bodies);
    } catch (const farfield::InvalidArgument&) {
    } catch (const farfield::IoError&) {
    }
    return 0;
}
