#include "engine/tune/kernel_cache.h"

#include <cstdlib>
#include <mutex>
#include <utility>

#include <nlohmann/json.hpp>

#include "engine/files/atomic_file.h"
#include "engine/files/file_bytes.h"
#include "engine/files/json_text.h"
#include "engine/gpu/pipeline_cache.h"
#include "engine/plan/operation.h"
#include "engine/platform/folders.h"
#include "engine/step/shaders.h"

namespace lockstep {

namespace {

using nlohmann::json;

constexpr const char* kernelsFile = "kernels.json";
constexpr std::uint64_t largestCache = std::uint64_t{64} << 20;

// A cache that cannot be read or written costs time at the next start, nothing else.
template <class Work> void quietly(Work work) {
    try {
        work();
    } catch (const std::exception&) { // missing, damaged, of another version, not writable
    }
}

json readKernels(const std::filesystem::path& folder) {
    json kernels;
    quietly([&] { kernels = readJsonFile(folder / kernelsFile, largestCache); });
    return kernels.is_object() ? kernels : json::object();
}

void writeCache(const std::filesystem::path& folder, const std::string& file, std::string_view text) {
    std::filesystem::create_directories(folder);
    writeFileAtomically(folder / file, text);
}

// Changes whenever one of the candidates does: measurements of another kernel are of no use.
std::string shaderFingerprint() {
    std::uint64_t hash = 0xCBF29CE484222325u; // FNV-1a over words
    const auto add = [&hash](const std::string& shader) {
        for (const std::uint32_t word : shaderWords(shader)) hash = (hash ^ word) * 0x100000001B3u;
    };
    for (const RungRow& row : rungTable) {
        const ProductKernel kernel{row.rung};
        for (const Product product : {Product::forward, Product::backwardInputs, Product::backwardWeights})
            add(shaderName(name(product), kernel));
        add(shaderName(name(Operation::denseBackwardWeightsAndUpdate), kernel));
    }
    for (const char* shader : {"update", "whole_step", "last_layer", "weight_gradients", "gathered_dense",
                               "population_invocation", "population_subgroup", "population_workgroup"})
        add(shader);
    return std::to_string(hash);
}

constexpr std::pair<const char*, std::uint32_t ProductKernel::*> sizes[] = {
    {"groupN", &ProductKernel::groupN}, {"groupM", &ProductKernel::groupM},
    {"tileM", &ProductKernel::tileM},   {"tileN", &ProductKernel::tileN},
    {"slabK", &ProductKernel::slabK},   {"lanes", &ProductKernel::sharers},
    {"slices", &ProductKernel::slices}};

json toJson(const ProductKernel& kernel) {
    json entry{{"rung", name(kernel.rung)}};
    for (const auto& [key, size] : sizes) entry[key] = kernel.*size;
    return entry;
}

ProductKernel fromJson(const json& entry) {
    ProductKernel kernel;
    kernel.rung = rungFromName(entry.at("rung").get<std::string>(), true);
    for (const auto& [key, size] : sizes) kernel.*size = entry.at(key).get<std::uint32_t>();
    return kernel;
}

std::string enabledText(const gpu::Limits& limits) {
    std::string text;
    const gpu::MatrixTile tile = limits.matrixTiles.tile(), int8 = limits.matrixTiles.int8Tile();
    for (const std::uint32_t each :
         {limits.pushDescriptors, limits.broadcastInvocations, limits.halfArithmetic ? 1U : 0U,
          limits.dotProducts ? 1U : 0U, tile.m, tile.n, tile.k, int8.m, int8.n, int8.k})
        text += " " + std::to_string(each);
    return text;
}

} // namespace

std::filesystem::path cacheFolder() {
    if (const char* own = std::getenv("LOCKSTEP_CACHE_DIR"); own != nullptr && *own != '\0') return own;
    return platform::ownCacheFolder();
}

/// The choices of processes without a folder, by device.
struct KernelCache::Memory {
    std::mutex mutex;
    std::map<std::string, Choices> choices;
};

KernelCache::Memory& KernelCache::memory() {
    static Memory all;
    return all;
}

KernelCache::KernelCache(const gpu::Device& device)
    : folder_(device.options().cacheFolder), identity_(gpu::cacheIdentity(device.report())) {
    // Kernels chosen under pretended limits are useful only there.
    if (device.options().minimumLimits) identity_ += "|minimum limits";
    // Nor are those for all that a device has of use where a host has enabled less of it.
    if (device.options().host) identity_ += "|a host's" + enabledText(device.limits());
    identity_ += "|" + shaderFingerprint();
    if (folder_.empty()) {
        const std::lock_guard lock(memory().mutex);
        known_ = memory().choices[identity_];
        return;
    }
    quietly([this] {
        Choices known;
        const json mine = readKernels(folder_).value(identity_, json::object());
        for (const auto& [product, entry] : mine.items())
            known[product] = {fromJson(entry), entry.at("milliseconds").get<double>(),
                              entry.at("complete").get<bool>()};
        known_ = std::move(known);
    });
}

std::filesystem::path KernelCache::file(const gpu::Device& device) {
    const std::filesystem::path& folder = device.options().cacheFolder;
    return folder.empty() ? folder : folder / kernelsFile;
}

std::optional<MeasuredKernel> KernelCache::find(const std::string& operation) const {
    const auto found = known_.find(operation);
    if (found == known_.end() || !found->second.complete) return std::nullopt;
    return found->second;
}

void KernelCache::remember(const std::string& operation, const MeasuredKernel& kernel) {
    known_[operation] = kernel;
    changed_ = true;
}

void KernelCache::store() {
    if (!std::exchange(changed_, false)) return;
    quietly([this] {
        if (folder_.empty()) {
            const std::lock_guard lock(memory().mutex);
            for (const auto& [operation, choice] : known_) memory().choices[identity_][operation] = choice;
            return;
        }
        json stored = readKernels(folder_);
        json& mine = stored[identity_];
        if (!mine.is_object()) mine = json::object(); // a damaged file
        for (const auto& [product, choice] : known_) {
            mine[product] = toJson(choice.kernel);
            mine[product]["milliseconds"] = choice.milliseconds;
            mine[product]["complete"] = choice.complete;
        }
        writeCache(folder_, kernelsFile, stored.dump(1, ' ', false, json::error_handler_t::replace));
    });
}

void useCache(gpu::DeviceOptions& options, std::filesystem::path folder) {
    options.cacheFolder = std::move(folder);
    if (options.cacheFolder.empty()) return;
    options.pipelineCache = [folder = options.cacheFolder](const gpu::DeviceReport& device) {
        std::vector<std::byte> stored;
        quietly([&] { stored = readFileBytes(folder / gpu::cacheFileName(device), largestCache); });
        return stored;
    };
}

void storePipelines(const gpu::Device& device) {
    const std::filesystem::path& folder = device.options().cacheFolder;
    if (folder.empty()) return;
    // The device may be lost by now.
    quietly(
        [&] { writeCache(folder, gpu::cacheFileName(device.report()), asText(device.pipelineCacheData())); });
}

} // namespace lockstep
