// Data sets by name: the meaning of `--data SPEC`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/csv_dataset.h"
#include "engine/net/dataset.h"

namespace lockstep {

struct DataOptions {
    std::uint64_t seed = 1;    ///< of generated points and of the test split
    std::size_t samples = 500; ///< number of generated points, test points included: 2 to 10,000,000
    double noise = 0;          ///< of generated points: 0 to 0.8
    double testShare = 0.2;    ///< for sources without a test split: in [0, 1)
    TableOptions table = {};   ///< for CSV files

    /// For files: the classes of a trained network, in its order; any other label is an error. Empty: the
    /// classes are found in the data. Ignored for Fashion-MNIST, whose ten classes are fixed.
    std::vector<std::string> classNames = {};
    /// For CSV files: what a trained network expects of its tables. None: the table is understood by itself.
    std::optional<TableSchema> model = {};
    /// For CSV files: rows to predict for, with or without targets (csv_dataset.h).
    bool newRows = false;

    bool operator==(const DataOptions&) const = default;
};

/// Loads or generates the data that `spec` names:
///   circle, xor, gauss, spiral, plane, multi-gauss, moons, checkerboard, rings, spiral3, pinwheel, blobs
///                   generated 2-D points (points_2d.h)
///   fashion-mnist   from the first of these folders that has it: $LOCKSTEP_DATA/fashion-mnist; relative to
///                   the program's folder, assets/data/fashion-mnist, ../assets/data/fashion-mnist and
///                   ../share/lockstep/data/fashion-mnist (the bundle's copy); and last
///                   /usr/share/datasets/fashion-mnist (Debian's package)
///   idx:FOLDER      a folder with files in MNIST's format (mnist_folder.h); idx:FOLDER/emnist-letters
///                   chooses among several sets in it by what their names begin with (idx_folder.h)
///   csv:FILE        a table (csv_dataset.h); its numbers are scaled (table_scaling.h)
/// Sources without a test split get one (splitOffTest), but for rows to predict for; for IDX files, a note
/// says so. Throws std::invalid_argument for an unknown name (the message suggests the nearest one) and for
/// options out of range, std::runtime_error for missing or malformed files.
Dataset loadDataset(std::string_view spec, const DataOptions& options = {});

/// What tells whether data have changed: as many examples with the same numbers and labels, in the same order
/// and split.
struct DataFingerprint {
    std::uint64_t train = 0; ///< examples
    std::uint64_t test = 0;
    std::uint32_t checksum = 0; ///< CRC-32 of pixels or values, labels and targets
    bool operator==(const DataFingerprint&) const = default;
};
DataFingerprint fingerprintOf(const Dataset& data);

/// All specs listed above, for help and completion.
std::vector<std::string_view> dataSpecs();

/// Loads Fashion-MNIST from the first folder that has it. If none has, throws std::runtime_error that lists
/// the folders and names the package to install; otherwise throws as readMnistFolder.
Dataset loadFashionMnist(const std::vector<std::filesystem::path>& folders);

/// The folders searched for `fashion-mnist`, in order.
std::vector<std::filesystem::path> fashionMnistFolders();

/// Moves round(share * count) of the training examples into the (empty) test split. A permutation from stream
/// `split` of the seed chooses them, so the same seed gives the same split everywhere. Both splits keep the
/// source's order.
///   share   in [0, 1)
/// Returns for each example whether it was moved. Throws std::invalid_argument for any other share, and if no
/// training example would be left.
std::vector<bool> splitOffTest(Dataset& data, double share, std::uint64_t seed);

} // namespace lockstep
