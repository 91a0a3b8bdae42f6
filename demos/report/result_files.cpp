#include "demos/report/result_files.h"

#include <stdexcept>

#include <fmt/format.h>

#include "engine/files/atomic_file.h"

namespace lockstep::demos {

void requireResultFiles(const std::string& jsonFile, const std::string& csvFile) {
    if (jsonFile == "-" && csvFile == "-")
        throw std::invalid_argument("only one of --json and --csv can go to standard output");
    for (const std::string& file : {jsonFile, csvFile})
        if (!file.empty() && file != "-") requireWritable(file);
}

void requirePictureFile(const std::string& pngFile) {
    if (pngFile == "-")
        throw std::invalid_argument(
            "--png needs a file name; only --json and --csv can go to standard output");
    if (!pngFile.empty()) requireWritable(pngFile);
}

std::FILE* peopleStream(const std::string& jsonFile, const std::string& csvFile) {
    return jsonFile == "-" || csvFile == "-" ? stderr : stdout;
}

void writeResult(const std::string& path, const std::string& text) {
    if (path == "-")
        fmt::print("{}", text);
    else if (!path.empty())
        writeFileAtomically(path, std::string_view(text));
}

} // namespace lockstep::demos
