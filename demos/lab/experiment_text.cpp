// What experiments explain: the Markdown of assets/experiments, with the measured values in place.
#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "demos/kit/assets.h"
#include "demos/lab/experiment.h"
#include "demos/telling/measured_text.h"
#include "demos/words/language.h"
#include "engine/files/file_bytes.h"

namespace lockstep::demos {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largestExplanation = 1u << 16;

void requireReadable(std::string_view paragraph, const std::string& file, std::size_t line) {
    try {
        quotedNames(paragraph);
    } catch (const std::invalid_argument& error) {
        throw std::runtime_error(fmt::format("{}: {}", placeInFile(file, line), error.what()));
    }
}

} // namespace

std::string readExplanation(const fs::path& file) {
    const std::vector<std::byte> bytes = readFileBytes(file, largestExplanation);
    const std::string_view text = asText(bytes);
    std::string paragraph;
    std::size_t line = 0, first = 1;
    for (std::size_t at = 0; at < text.size(); ++line) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        if (end == at) {
            requireReadable(paragraph, file.string(), first);
            paragraph.clear();
            first = line + 2;
        }
        paragraph += std::string(text.substr(at, end - at)) + '\n';
        at = end + 1;
    }
    requireReadable(paragraph, file.string(), first);
    return std::string(text);
}

MeasuredValues valuesOf(const Experiment& experiment, const LabResult& result) {
    MeasuredValues values;
    for (const auto& [name, number] : result.numbers) values[name].number = number;
    if (result.measured() && experiment.conclude != nullptr) experiment.conclude(result, values);
    return values;
}

std::string explanationText(const Experiment& experiment, const LabResult& result) {
    if (!result.measured()) return {};
    if (result.cpu.device.empty())
        return std::string(translated("The explanation compares both machines, and the CPU was left out."));
    static std::mutex reading;
    static std::map<std::pair<std::string_view, std::string>, std::string> read; // by name and language
    const std::lock_guard lock(reading);
    std::string& markdown = read[{experiment.name, spokenLanguage()}];
    if (markdown.empty())
        markdown = readExplanation(
            fileInLanguage(assetFolder("experiments") / fmt::format("{}.md", experiment.name)));
    MeasuredValues values = valuesOf(experiment, result);
    values["machine.cpu.threads"].number = static_cast<double>(result.cpu.threads);
    if (!result.gpu.device.empty()) values["machine.gpu.software"].number = result.gpu.software ? 1 : 0;
    std::string text;
    for (const TextBlock& block : filledBlocks(markdown, values))
        text += (text.empty() ? "" : " ") + plainText(block);
    return text;
}

} // namespace lockstep::demos
