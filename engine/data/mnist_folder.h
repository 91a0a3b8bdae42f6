// Data sets stored as MNIST's four IDX files: MNIST, Fashion-MNIST, KMNIST, EMNIST, QMNIST, or your own.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/idx.h"
#include "engine/net/dataset.h"

namespace lockstep {

/// A file's bytes, and its name for messages.
struct NamedBytes {
    std::string name;
    std::span<const std::byte> bytes;
};

/// One split of a data set, with labels as the files have them.
struct MnistSplit {
    IdxImages images;
    IdxLabels labels; ///< one per image
};

/// Combines a file of images with its file of labels. Throws std::runtime_error naming file, byte and reason
/// if either file is malformed (idx.h), or if their counts differ.
MnistSplit parseMnistSplit(const NamedBytes& images, const NamedBytes& labels);

/// Reads the data set that findIdxFiles() finds in `place` (idx_folder.h). Without test files the test split
/// is empty. EMNIST's images, which its files hold transposed, are turned upright.
///   name         Dataset::name; empty: "idx:" and the name of the set, or of the folder
///   classNames   those of a trained network; another label is an error. Names that are numbers are the
///   labels,
///                others belong to the labels 0, 1, 2, ... or those of EMNIST's mapping.
///                Empty: EMNIST's own, or else one class per label that occurs, named by its number
/// Dataset::notes says what was guessed: files, classes and the turning.
/// Throws std::runtime_error as findIdxFiles and parseMnistSplit, and for training and test images of
/// different sizes, an unknown label and a single class.
Dataset readMnistFolder(const std::filesystem::path& place, const std::string& name,
                        const std::vector<std::string>& classNames);

/// The classes of EMNIST's split of that name ("emnist-letters", "emnist-balanced", ...), and the label of
/// the first, from which the others count on. No names for any other set. G. Cohen et al., "EMNIST: an
/// extension of MNIST to handwritten letters", 2017.
struct EmnistClasses {
    std::vector<std::string> names;
    std::uint32_t firstLabel = 0;
};
EmnistClasses emnistClasses(std::string_view set);

} // namespace lockstep
