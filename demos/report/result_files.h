// Output files for other programs; "-" is standard output.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "engine/files/atomic_file.h"

namespace lockstep::demos {

/// Checks output paths (unless empty) before training, so that hours of work are not lost. Throws
/// std::runtime_error if a file cannot be written, std::invalid_argument if two share standard output or the
/// picture is to go there.
inline void requireResultFiles(const std::string& jsonFile, const std::string& csvFile,
                               const std::string& pngFile = {}) {
    if (jsonFile == "-" && csvFile == "-")
        throw std::invalid_argument("only one of --json and --csv can go to standard output");
    for (const std::string& file : {jsonFile, csvFile})
        if (!file.empty() && file != "-") requireWritable(file);
    if (pngFile == "-")
        throw std::invalid_argument(
            "--png needs a file name; only --json and --csv can go to standard output");
    if (!pngFile.empty()) requireWritable(pngFile);
}

/// The stream for people: standard output, or standard error if results for programs go to standard output.
inline std::FILE* peopleStream(const std::string& jsonFile, const std::string& csvFile) {
    return jsonFile == "-" || csvFile == "-" ? stderr : stdout;
}

/// Writes text to a file atomically, or to standard output for "-". Does nothing for an empty path.
inline void writeResult(const std::string& path, const std::string& text) {
    if (path == "-")
        fmt::print("{}", text);
    else if (!path.empty())
        writeFileAtomically(path, std::string_view(text));
}

} // namespace lockstep::demos
