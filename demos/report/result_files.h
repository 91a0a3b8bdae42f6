// Where results go: files, and standard output.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "demos/options/run_options.h"

namespace lockstep::demos {

/// A file that an option names; empty: the option was not given.
struct NamedFile {
    const char* option;
    std::string file;
};

/// Refuses files that would overwrite each other, however they are spelt and linked: two of `written`, or one
/// of them and one of `read`. Also "-", which is no file. Throws std::invalid_argument naming both options.
void requireSeparateFiles(const std::vector<NamedFile>& written, const std::vector<NamedFile>& read = {});

/// Checks a command's output files before its work, so that hours of it are not lost.
///   read   files that the command reads, which results must not replace
/// Throws std::runtime_error if a file cannot be written, std::invalid_argument if two share a file or
/// standard output ("-"), the picture is to go there, or its name is another format's.
void requireResultFiles(const MachineOptions& options, const std::vector<NamedFile>& read = {});

/// The table that a data set is read from, as --data names it ("csv:FILE"); otherwise empty.
NamedFile tableOf(const std::string& data);

/// Whether the path stands for standard output: "-", or the system's names for it, such as /dev/stdout.
bool isStandardOutput(const std::string& path);

/// The stream for people: standard output, or standard error if results for programs go to standard output.
std::FILE* peopleStream(const MachineOptions& options);

/// Writes text to a file atomically, or to standard output for "-". Does nothing for an empty path.
void writeResult(const std::string& path, const std::string& text);

} // namespace lockstep::demos
