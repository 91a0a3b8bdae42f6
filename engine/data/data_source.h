// Data sets by name: the meaning of `--data SPEC`.
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
    std::size_t samples = 500; ///< number of generated points, test points included: 2 to 10,000,000
    double noise = 0;          ///< of generated points: 0 to 0.8
    double testShare = 0.2;    ///< for sources without a test split: in [0, 1)
    // For CSV files (csv_dataset.h):
    std::string labelColumn = {}; ///< the target's column, by name or number from 1; empty: the last
    CsvTarget target = CsvTarget::automatic; ///< classes or values
    CsvHeader header = CsvHeader::automatic; ///< whether the first row is a header

    /// For files: the classes of a trained network, in its order; any other label is an error. Empty: the
    /// classes are found in the data. Ignored for Fashion-MNIST, whose ten classes are fixed.
    std::vector<std::string> classNames = {};

    bool operator==(const DataOptions&) const = default;
};

/// Loads or generates the data that `spec` names:
///   circle, xor, gauss, spiral, plane, multi-gauss, moons, checkerboard, rings, spiral3, pinwheel, blobs
///                   generated 2-D points (points_2d.h)
///   fashion-mnist   from the first of these folders that has it: $LOCKSTEP_DATA/fashion-mnist; relative to
///                   the program's folder, assets/data/fashion-mnist, ../assets/data/fashion-mnist (the
///                   bundle's copy) and ../share/lockstep/data/fashion-mnist; and last
///                   /usr/share/datasets/fashion-mnist (Debian's package)
///   idx:FOLDER      any folder with the four files of MNIST (mnist_folder.h)
///   csv:FILE        a table (csv_dataset.h), perhaps with a split (csv_split.h)
/// Sources without a test split get one (splitOffTest). Throws std::invalid_argument for an unknown name (the
/// message suggests the nearest one) and for options out of range, std::runtime_error for missing or
/// malformed files.
Dataset loadDataset(std::string_view spec, const DataOptions& options = {});

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
