#include "demos/report/result_files.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "demos/options/parse.h"
#include "demos/words/streams.h"
#include "engine/files/atomic_file.h"

namespace lockstep::demos {

namespace {

void requireSeparate(const NamedFile& a, const NamedFile& b) {
    if (a.file.empty() || b.file.empty() || isStandardOutput(a.file) || isStandardOutput(b.file)) return;
    if (sameFile(a.file, b.file))
        throw std::invalid_argument(fmt::format(
            "{} and {} name the same file, {}; give each a file of its own", a.option, b.option, b.file));
}

} // namespace

void requireSeparateFiles(const std::vector<NamedFile>& written, const std::vector<NamedFile>& read) {
    for (std::size_t i = 0; i < written.size(); ++i) {
        if (isStandardOutput(written[i].file))
            throw std::invalid_argument(fmt::format(
                "{} needs the name of a file; it cannot go to standard output", written[i].option));
        for (std::size_t k = 0; k < i; ++k) requireSeparate(written[k], written[i]);
        for (const NamedFile& input : read) requireSeparate(input, written[i]);
    }
}

void requireResultFiles(const MachineOptions& options, const std::vector<NamedFile>& read) {
    if (isStandardOutput(options.jsonFile) && isStandardOutput(options.csvFile))
        throw std::invalid_argument("only one of --json and --csv can go to standard output");
    std::vector<NamedFile> written;
    for (const NamedFile& result : {NamedFile{"--json", options.jsonFile}, {"--csv", options.csvFile}})
        if (!isStandardOutput(result.file)) written.push_back(result);
    if (isStandardOutput(options.pngFile))
        throw std::invalid_argument(
            "--png needs a file name; only --json and --csv can go to standard output");
    requirePngName(options.pngFile);
    written.push_back({"--png", options.pngFile});
    requireSeparateFiles(written, read);
    for (const NamedFile& result : written)
        if (!result.file.empty()) requireWritable(result.file);
}

NamedFile tableOf(const std::string& data) {
    constexpr std::string_view table = "csv:";
    return {"--data", data.starts_with(table) ? data.substr(table.size()) : std::string()};
}

bool isStandardOutput(const std::string& path) {
    constexpr std::string_view names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    return std::ranges::find(names, path) != std::end(names);
}

std::FILE* peopleStream(const MachineOptions& options) {
    return isStandardOutput(options.jsonFile) || isStandardOutput(options.csvFile) ? stderr : stdout;
}

void writeResult(const std::string& path, const std::string& text) {
    if (isStandardOutput(path))
        writeText(stdout, text);
    else if (!path.empty())
        writeFileAtomically(path, std::string_view(text));
}

} // namespace lockstep::demos
