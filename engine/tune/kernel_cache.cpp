#include "engine/tune/kernel_cache.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "engine/files/atomic_file.h"
#include "engine/files/json_text.h"
#include "engine/gpu/pipeline_cache.h"
#include "engine/step/shaders.h"

namespace lockstep {

namespace {

using nlohmann::json;

constexpr std::uintmax_t largestCache = std::uintmax_t{64} << 20;

// Empty when the file is missing, too large or not readable.
std::string readFile(const std::filesystem::path& path) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (error || size > largestCache) return {};
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

json readJson(const std::filesystem::path& path) {
    try {
        const json parsed = parseJson(readFile(path), "the cache");
        return parsed.is_object() ? parsed : json::object();
    } catch (const std::runtime_error&) { // missing or damaged: it is measured again
        return json::object();
    }
}

void writeFile(const std::filesystem::path& path, std::string_view text) {
    try {
        std::filesystem::create_directories(path.parent_path());
        writeFileAtomically(path, text);
    } catch (const std::exception&) {
        // A cache that cannot be written costs time at the next start, nothing else.
    }
}

std::filesystem::path kernelsFile() { return cacheFolder() / "kernels.json"; }
std::filesystem::path pipelinesFile() { return cacheFolder() / "pipelines.bin"; }

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
        add(shaderName("dense_backward_weights_update", kernel));
    }
    for (const char* shader :
         {"update", "whole_step", "population_invocation", "population_subgroup", "population_workgroup"})
        add(shader);
    return std::to_string(hash);
}

json toJson(const ProductKernel& kernel) {
    return {{"rung", name(kernel.rung)}, {"groupN", kernel.groupN}, {"groupM", kernel.groupM},
            {"tileM", kernel.tileM},     {"tileN", kernel.tileN},   {"slabK", kernel.slabK},
            {"lanes", kernel.sharers},   {"slices", kernel.slices}};
}

ProductKernel fromJson(const json& entry) {
    ProductKernel kernel;
    kernel.rung = rungFromName(entry.at("rung").get<std::string>(), true);
    kernel.groupN = entry.at("groupN").get<std::uint32_t>();
    kernel.groupM = entry.at("groupM").get<std::uint32_t>();
    kernel.tileM = entry.at("tileM").get<std::uint32_t>();
    kernel.tileN = entry.at("tileN").get<std::uint32_t>();
    kernel.slabK = entry.at("slabK").get<std::uint32_t>();
    kernel.sharers = entry.at("lanes").get<std::uint32_t>();
    kernel.slices = entry.at("slices").get<std::uint32_t>();
    return kernel;
}

} // namespace

std::filesystem::path cacheFolder() {
    if (const char* own = std::getenv("LOCKSTEP_CACHE_DIR"); own != nullptr && *own != '\0') return own;
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
        return std::filesystem::path(cache) / "lockstep";
    if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
        return std::filesystem::path(home) / ".cache" / "lockstep";
    return {};
}

KernelCache::KernelCache(const gpu::Device& device) : identity_(gpu::cacheIdentity(device.report())) {
    // Kernels chosen under pretended limits are useful only there.
    if (device.options().minimumLimits) identity_ += "|minimum limits";
    identity_ += "|" + shaderFingerprint();
    if (cacheFolder().empty()) return;
    try {
        const json mine = readJson(kernelsFile()).value(identity_, json::object());
        for (const auto& [product, entry] : mine.items())
            known_[product] = {{fromJson(entry), entry.at("milliseconds").get<double>()},
                               entry.at("complete").get<bool>()};
    } catch (const std::exception&) { // damaged, or of another version
        known_.clear();
    }
}

std::optional<MeasuredKernel> KernelCache::find(const std::string& operation) const {
    const auto found = known_.find(operation);
    return found == known_.end() || !found->second.complete ? std::nullopt
                                                            : std::optional(found->second.measured);
}

void KernelCache::remember(const std::string& operation, const MeasuredKernel& kernel, bool complete) {
    known_[operation] = {kernel, complete};
    changed_ = true;
}

void KernelCache::store() {
    if (!changed_ || cacheFolder().empty()) return;
    changed_ = false;
    try {
        json stored = readJson(kernelsFile());
        json& mine = stored[identity_];
        if (!mine.is_object()) mine = json::object(); // a damaged file
        for (const auto& [product, choice] : known_) {
            mine[product] = toJson(choice.measured.kernel);
            mine[product]["milliseconds"] = choice.measured.milliseconds;
            mine[product]["complete"] = choice.complete;
        }
        writeFile(kernelsFile(), stored.dump(1, ' ', false, json::error_handler_t::replace));
    } catch (const std::exception&) {
        // As in writeFile.
    }
}

void loadPipelines(gpu::DeviceOptions& options) {
    if (cacheFolder().empty()) return;
    const std::string text = readFile(pipelinesFile());
    const auto bytes = std::as_bytes(std::span(text));
    options.pipelineCache.assign(bytes.begin(), bytes.end());
}

void storePipelines(const gpu::Device& device) {
    if (cacheFolder().empty()) return;
    try {
        const std::vector<std::byte> data = device.pipelineCacheData();
        writeFile(pipelinesFile(), {reinterpret_cast<const char*>(data.data()), data.size()});
    } catch (const std::exception&) {
        // As above; the device may be lost by now.
    }
}

} // namespace lockstep
