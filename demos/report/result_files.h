// Files that results for other programs go to, "-" for standard output.
#pragma once

#include <cstdio>
#include <string>

namespace lockstep::demos {

/// Throws before hours of training, not after them: std::runtime_error when a file cannot be written, and
/// std::invalid_argument when two results would be mixed on standard output. An empty path asks for nothing.
void requireResultFiles(const std::string& jsonFile, const std::string& csvFile);
/// The same of a picture, which is no text for standard output.
void requirePictureFile(const std::string& pngFile);

/// Where people read: standard output, unless results for programs go there.
std::FILE* peopleStream(const std::string& jsonFile, const std::string& csvFile);

/// Writes text to a file, whole or not at all, or to standard output for "-". Nothing for an empty path.
void writeResult(const std::string& path, const std::string& text);

} // namespace lockstep::demos
