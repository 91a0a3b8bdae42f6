#include "demos/report/memory_report.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

using Json = nlohmann::ordered_json;

std::uint64_t bytesFor(const std::vector<MemoryUse>& uses, std::string_view category) {
    std::uint64_t bytes = 0;
    for (const MemoryUse& use : uses)
        if (name(use.category) == category) bytes += use.bytes;
    return bytes;
}

std::uint64_t allBytes(const std::vector<MemoryUse>& uses) {
    std::uint64_t bytes = 0;
    for (const MemoryUse& use : uses) bytes += use.bytes;
    return bytes;
}

/// "-" for nothing at all: a small array is not none.
std::string inMebibytes(std::uint64_t bytes) {
    return bytes == 0 ? "-" : fmt::format("{:.3f}", static_cast<double>(bytes) / (1 << 20));
}

} // namespace

Json memoryJson(const std::vector<MemoryUse>& predicted, const std::vector<MemoryUse>& allocated) {
    Json categories = Json::object();
    for (const std::string_view category : memoryCategories)
        categories[std::string(category)] = {{"predicted_bytes", bytesFor(predicted, category)},
                                             {"allocated_bytes", bytesFor(allocated, category)}};
    return {{"predicted_bytes", allBytes(predicted)},
            {"allocated_bytes", allBytes(allocated)},
            {"categories", categories}};
}

std::vector<std::string> savingTexts(const MemorySettings& memory) {
    std::vector<std::string> texts;
    if (memory.recompute > 1)
        texts.push_back(translatedFormat("outputs of one layer in {} kept", memory.recompute));
    if (memory.accumulate > 1) texts.push_back(translatedFormat("batch in {} parts", memory.accumulate));
    if (includes(memory.offload, Offload::optimizer))
        texts.emplace_back(translated("optimizer state in the host's memory"));
    if (includes(memory.offload, Offload::activations))
        texts.emplace_back(translated("activations in the host's memory"));
    return texts;
}

std::string memoryText(const std::vector<LaneResult>& lanes) {
    std::vector<std::vector<std::string>> rows(1, {"memory, MiB"});
    for (const std::string_view category : memoryCategories) rows.front().emplace_back(category);
    rows.front().emplace_back("total");
    std::string otherwise;
    bool readsHosts = false;
    std::string away;
    for (const LaneResult& lane : lanes) {
        if (lane.memory.empty()) continue;
        std::vector<std::string> row{lane.spec.text()};
        for (const std::string_view category : memoryCategories)
            row.push_back(inMebibytes(bytesFor(lane.memory, category)));
        const std::uint64_t allocated = allBytes(lane.memory);
        const std::uint64_t predicted = allBytes(lane.predictedMemory);
        row.push_back(inMebibytes(allocated));
        rows.push_back(std::move(row));
        readsHosts |= !lane.machine.gpu;
        for (const MemoryUse& use : lane.memory) {
            if (use.place != MemoryPlace::readback) continue;
            if (use.category == MemoryCategory::optimizer)
                away +=
                    fmt::format("{}: the optimizer's state is in the host's memory; {}\n", lane.spec.text(),
                                lane.machine.software
                                    ? "this device has no other, so nothing is saved"
                                    : "on a card with memory of its own, kernels reach it over the bus");
            if (use.category == MemoryCategory::activations)
                away += fmt::format(
                    "{}: {} MiB of activations wait for the backward pass in the host's memory; {}\n",
                    lane.spec.text(), inMebibytes(use.bytes),
                    lane.machine.software
                        ? "this device has no other, so the copies save nothing"
                        : "on a card with memory of its own, they cross the bus twice a step");
        }
        if (allocated != predicted)
            otherwise += fmt::format("{}: {} bytes were predicted, {} are allocated\n", lane.spec.text(),
                                     grouped(predicted), grouped(allocated));
    }
    if (rows.size() == 1) return {};
    std::string text = table(rows, 1);
    text += otherwise.empty() ? "allocated as predicted, to the byte\n" : otherwise;
    text += away;
    if (readsHosts) text += "CPU lanes read the program's copy of the data\n";
    return text;
}

} // namespace lockstep::demos
