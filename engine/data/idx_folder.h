// Finds the IDX files of a data set, in the spellings and folder layouts in which the field's archives
// unpack.
//
// A file's role is read off its name, in any case, its words separated by "-", ".", "_" or blanks:
//   train or training; t10k, test or testing     the split
//   images (image, imgs, x); labels (label, y)   the content
//   idx, idx1, idx2, idx3, ubyte, int            at the end, one at least; .gz may follow
//   any other words before these                 the data set, such as emnist-letters or qmnist
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// The files of one data set. Paths are empty for test files that do not exist.
struct IdxFiles {
    std::string set; ///< the data set by its files' names, "emnist-letters"; empty for MNIST's own names
    std::filesystem::path trainImages;
    std::filesystem::path trainLabels;
    std::filesystem::path testImages;
    std::filesystem::path testLabels;

    /// Sentences for people: which files were taken as what, unless they lie in the folder under MNIST's own
    /// names, and which files look related and are not read.
    std::vector<std::string> notes;
};

/// Finds the data set in `place`:
///   a folder           the set of MNIST's own names, or else the only other one. Without training images
///                      in it, its subfolders down to the third level are searched
///   FOLDER/SET         where no such folder exists: the set of that name in FOLDER, "emnist-letters"
/// An entry that is not a regular file is passed over; a folder with the name of a file may hold the file.
/// Throws std::runtime_error, with the names of what is there, if training files or half of the test files
/// are missing, if there are several sets or folders to choose from, or if this is not a folder.
IdxFiles findIdxFiles(const std::filesystem::path& place);

/// True if the folder or a subfolder that findIdxFiles() searches has training images.
bool hasIdxFiles(const std::filesystem::path& folder);

/// The data set that a path of findIdxFiles() names, in lower case with dashes: "emnist-letters" for
/// EMNIST_Letters.
std::string idxSetName(std::string_view text);

} // namespace lockstep
