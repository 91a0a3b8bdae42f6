// Data by name: what `--data SPEC` means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/csv_dataset.h"
#include "engine/net/dataset.h"

namespace lockstep {

struct DataOptions {
    std::uint64_t seed = 1;    ///< of generated points and of the test split
    std::size_t samples = 500; ///< points of a generated set, test points included; 2 to 10,000,000
    double noise = 0;          ///< of a generated set: 0 to 0.8
    double testShare = 0.2;    ///< where the source has no test split of its own: in [0, 1)
    // Of CSV files (net/csv_dataset.h):
    std::string labelColumn = {}; ///< the target's column, by name or by number from 1; empty: the last
    CsvTarget target = CsvTarget::automatic; ///< classes or values
    CsvHeader header = CsvHeader::automatic; ///< whether the first row is a header

    /// Of files: the classes of a trained network, in its order; a label that is not among them is an error.
    /// Empty: the classes are found in the data. Fashion-MNIST always has its own ten.
    std::vector<std::string> classNames = {};
};

/// The data that `spec` names:
///   circle, xor, gauss, spiral, plane, multi-gauss, moons, checkerboard, rings, spiral3, pinwheel, blobs
///                   points in the plane (net/points_2d.h)
///   fashion-mnist   from the first folder that has it: $LOCKSTEP_DATA/fashion-mnist,
///                   /usr/share/datasets/fashion-mnist, and assets/data/fashion-mnist near the program
///   idx:FOLDER      any folder with the four files of MNIST (net/mnist_folder.h)
///   csv:FILE        a table (net/csv_dataset.h)
/// Sources without a test split get one (net/test_split.h). Throws std::invalid_argument for an unknown name
/// (with the nearest right one) and for options that make no sense, std::runtime_error for files that are
/// missing or wrong.
Dataset loadDataset(std::string_view spec, const DataOptions& options = {});

/// All specs, as listed above, for help and completion: "circle", ..., "fashion-mnist", "idx:FOLDER",
/// "csv:FILE".
std::vector<std::string_view> dataSpecs();

/// Fashion-MNIST from the first of the folders that has it. Throws std::runtime_error that lists the folders
/// and names the package to install when none has it, and as readMnistFolder.
Dataset loadFashionMnist(const std::vector<std::filesystem::path>& folders);

/// The folders in which `fashion-mnist` is looked for, in order.
std::vector<std::filesystem::path> fashionMnistFolders();

} // namespace lockstep
