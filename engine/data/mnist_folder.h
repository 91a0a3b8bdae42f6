// Data sets stored as MNIST's four IDX files: MNIST, Fashion-MNIST, KMNIST, EMNIST's digits, or your own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/data/idx.h"
#include "engine/net/dataset.h"

namespace lockstep {

/// A file's bytes, and its name for messages.
struct NamedBytes {
    std::string name;
    std::span<const std::byte> bytes;
};

/// One split of a data set; the number of classes need not be known yet.
struct MnistSplit {
    IdxImages images;
    std::vector<std::uint8_t> labels; ///< one per image
};

/// Combines a file of images with its file of labels.
///   classes   the number of classes (0: unknown); a label at or above it is an error
/// Throws std::runtime_error naming file, byte and reason if either file is malformed (idx.h), if their
/// counts differ, or for a label out of range.
MnistSplit parseMnistSplit(const NamedBytes& images, const NamedBytes& labels, std::size_t classes);

/// Reads the data set in `folder`: train-images-idx3-ubyte and train-labels-idx1-ubyte, plus
/// t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte (both or neither). Each may end in .gz, and may have a
/// dot instead of the dash before "idx". Without the t10k files the test split is empty.
///   name         Dataset::name
///   classNames   one per class, in order; a label beyond them is an error.
///                Empty: the classes are 0 to the largest label, named by their numbers
/// Throws std::runtime_error as parseMnistSplit, and for missing files, a path that is not a folder, training
/// and test images of different sizes, and a single class.
Dataset readMnistFolder(const std::filesystem::path& folder, const std::string& name,
                        const std::vector<std::string>& classNames);

/// True if the folder has a file of training images.
bool isMnistFolder(const std::filesystem::path& folder);

} // namespace lockstep
