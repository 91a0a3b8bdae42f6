// Data sets kept as the four IDX files of MNIST: MNIST itself, Fashion-MNIST, KMNIST, EMNIST's digits, or
// your own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/net/dataset.h"

namespace lockstep {

/// A file's bytes with the name that messages use.
struct NamedBytes {
    std::string name;
    std::span<const std::byte> bytes;
};

/// One split of a data set, before the number of classes is known.
struct MnistSplit {
    Examples examples;
    std::size_t height = 0;
    std::size_t width = 0;
};

/// Images and labels that belong together.
///   classes   how many classes there are (0: not known); a label at or above it is refused
/// Throws std::runtime_error naming file, byte and reason when either file is wrong (net/idx.h), when they
/// hold different counts, or for a label out of range.
MnistSplit parseMnistSplit(const NamedBytes& images, const NamedBytes& labels, std::size_t classes);

/// The data set in `folder`: train-images-idx3-ubyte, train-labels-idx1-ubyte and, together or not at all,
/// t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte; each plain or with .gz, and with a dot in place of the
/// dash before "idx". Without the t10k files the test split is empty.
///   name         Dataset::name
///   classNames   one per class, in order; a label beyond them is refused. Empty: the classes are 0 to the
///   largest
///                label, named by their numbers
/// Throws std::runtime_error as parseMnistSplit, for missing files and a folder that is none, when training
/// and test images differ in size, and when there is only one class.
Dataset readMnistFolder(const std::filesystem::path& folder, const std::string& name,
                        const std::vector<std::string>& classNames);

/// Whether the folder has a file of training images.
bool isMnistFolder(const std::filesystem::path& folder);

/// The ten classes of Fashion-MNIST, in the order of their numbers.
std::vector<std::string> fashionMnistClasses();

} // namespace lockstep
