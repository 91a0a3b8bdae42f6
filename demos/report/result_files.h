// Output files for other programs; "-" is standard output.
#pragma once

#include <cstdio>
#include <string>

namespace lockstep::demos {

/// Checks output paths (unless empty) before training, so that hours of work are not lost. Throws
/// std::runtime_error if a file cannot be written, std::invalid_argument if two share standard output.
void requireResultFiles(const std::string& jsonFile, const std::string& csvFile);
/// The same check for a picture, which cannot go to standard output.
void requirePictureFile(const std::string& pngFile);

/// The stream for people: standard output, or standard error if results for programs go to standard output.
std::FILE* peopleStream(const std::string& jsonFile, const std::string& csvFile);

/// Writes text to a file atomically, or to standard output for "-". Does nothing for an empty path.
void writeResult(const std::string& path, const std::string& text);

} // namespace lockstep::demos
