#include "engine/gpu/shader_rules.h"

#include <algorithm>
#include <vector>

#include "engine/gpu/spirv_rewriter.h"

namespace lockstep::gpu {

namespace {

using namespace spv;

constexpr std::uint32_t capabilityMatricesOfKhr = 6022; // not in the headers of Debian 12

// shader_hazards_test compares these lists with the built-in shaders.
constexpr std::uint32_t capabilities[] = {
    CapabilityShader, CapabilityFloat16, CapabilityFloat64, CapabilityInt8, CapabilitySampledBuffer,
    CapabilityGroupNonUniform, CapabilityGroupNonUniformArithmetic, CapabilityGroupNonUniformBallot,
    CapabilityShaderClockKHR, CapabilityDotProductKHR, CapabilityDotProductInput4x8BitPackedKHR,
    CapabilityVulkanMemoryModel, CapabilityCooperativeMatrixNV,
    // Not of built-in shaders.
    CapabilityImageQuery, // textureSize
};
constexpr std::string_view knownExtensions[] = {
    "SPV_KHR_integer_dot_product", "SPV_KHR_shader_clock", "SPV_NV_cooperative_matrix",
    "SPV_KHR_cooperative_matrix", // what its capability becomes: matrix_dialect.h
};
constexpr std::uint32_t storageClasses[] = {
    StorageClassInput,    StorageClassUniformConstant, StorageClassWorkgroup,     StorageClassPrivate,
    StorageClassFunction, StorageClassPushConstant,    StorageClassStorageBuffer,
};

struct Words {
    std::uint32_t capability;
    const char* words;
};
// In the terms of who writes GLSL; others are called by their numbers.
constexpr Words capabilityWords[] = {
    {CapabilityFloat16, "float16_t"},
    {CapabilityFloat64, "double"},
    {CapabilityInt64, "64-bit integers (int64_t, uint64_t)"},
    {CapabilityInt64Atomics, "atomic operations on 64-bit integers"},
    {CapabilityInt16, "16-bit integers (int16_t, uint16_t)"},
    {CapabilityInt8, "8-bit integers (int8_t, uint8_t)"},
    {CapabilityStorageBuffer16BitAccess, "16-bit values in buffers"},
    {CapabilityStorageUniform16, "16-bit values in buffers"},
    {CapabilityStorageBuffer8BitAccess, "8-bit values in buffers"},
    {CapabilityUniformAndStorageBuffer8BitAccess, "8-bit values in buffers"},
    {CapabilityPhysicalStorageBufferAddresses, "raw pointers (buffer_reference)"},
    {CapabilityAddresses, "raw pointers"},
    {CapabilityVariablePointers, "pointers that are chosen at run time"},
    {CapabilityVariablePointersStorageBuffer, "pointers that are chosen at run time"},
    {CapabilityWorkgroupMemoryExplicitLayoutKHR, "several layouts of shared memory (shared blocks)"},
    {CapabilityRuntimeDescriptorArray, "arrays of buffers"},
    {CapabilityStorageBufferArrayDynamicIndexing, "arrays of buffers"},
    {CapabilityGroupNonUniformVote, "subgroupAll, subgroupAny and subgroupAllEqual"},
    {CapabilityGroupNonUniformShuffle, "subgroupShuffle and subgroupShuffleXor"},
    {CapabilityGroupNonUniformShuffleRelative, "subgroupShuffleUp and subgroupShuffleDown"},
    {CapabilityGroupNonUniformClustered, "clustered subgroup operations"},
    {CapabilityGroupNonUniformQuad, "subgroupQuad operations"},
    {CapabilityGroupNonUniformArithmetic, "subgroup sums (GL_KHR_shader_subgroup_arithmetic)"},
    {CapabilityGroupNonUniformBallot, "subgroupBroadcast and subgroupBallot"},
    {CapabilityAtomicFloat32AddEXT, "atomic additions of floats"},
    {CapabilityShaderClockKHR, "clockRealtime2x32EXT"},
    {CapabilityDotProductKHR, "integer dot products"},
    {CapabilityVulkanMemoryModel, "Vulkan's memory model"},
    {CapabilityRayQueryKHR, "ray queries"},
    {CapabilityImageBuffer, "images"},
    {CapabilityStorageImageExtendedFormats, "images"},
    {CapabilityStorageImageReadWithoutFormat, "images"},
    {CapabilityStorageImageWriteWithoutFormat, "images"},
};

bool isIn(const auto& list, const auto& wanted) {
    return std::ranges::find(list, wanted) != std::ranges::end(list);
}

std::string nameOfCapability(std::uint32_t capability) {
    const auto* found = std::ranges::find(capabilityWords, capability, &Words::capability);
    return found != std::end(capabilityWords) ? found->words
                                              : "SPIR-V's capability " + std::to_string(capability);
}

bool supports(const Limits& limits, std::uint32_t capability) {
    switch (capability) {
    case CapabilityFloat16: return limits.halfArithmetic;
    case CapabilityFloat64: return limits.doubleArithmetic;
    case CapabilityShaderClockKHR: return limits.deviceClock;
    case CapabilityDotProductKHR: return limits.dotProducts;
    case CapabilityGroupNonUniformArithmetic: return limits.subgroupSums;
    case CapabilityGroupNonUniformBallot: return limits.broadcastInvocations > 0;
    case CapabilityInt8: return limits.matrixTiles.int8Tile().m > 0;
    case CapabilityVulkanMemoryModel: return limits.matrixTiles.dialect() != MatrixDialect::none;
    default: return true; // cooperative matrices have a check of their own
    }
}

class RuleCheck : SpirvRewriter {
  public:
    RuleCheck(std::span<const std::uint32_t> words, const SpecConstants& constants, const std::string& shader,
              const Limits& limits)
        : SpirvRewriter(words, shader), limits_(limits) {
        checkHeader();
        const ShaderInfo info = reflect(words, constants, shader);
        if (info.privateBytes > mostPrivateBytes)
            fail("has " + bytesText(info.privateBytes) +
                 " of variables for every invocation; edited shaders may have " +
                 bytesText(mostPrivateBytes) + ". Use shared memory, a buffer, or smaller arrays");
        sizes_ = typeSizes(words, constants, shader);
        checkCode();
    }

  private:
    static std::string bytesText(std::uint32_t bytes) {
        return bytes == ~0u ? "4 GB or more" : std::to_string(bytes) + " bytes";
    }

    [[noreturn]] void refuse(const std::string& what) const {
        fail("uses " + what + "; edited shaders may use only what the built-in shaders use");
    }

    static std::string text(std::span<const std::uint32_t> words) {
        std::string text(reinterpret_cast<const char*>(words.data()), words.size_bytes());
        return text.substr(0, text.find('\0'));
    }

    // Before the reflection, which has less to say about what it does not know.
    void checkHeader() {
        // They bring capabilities of other names with them.
        for (const SpirvInstruction& now : code_)
            if (now.opcode == OpMemoryModel && operand(now, 0) != AddressingModelLogical)
                refuse(nameOfCapability(CapabilityPhysicalStorageBufferAddresses));
        for (const SpirvInstruction& now : code_) switch (now.opcode) {
            case OpCapability: checkCapability(operand(now, 0)); break;
            case OpExtension:
                if (const std::string name = text(now.operands); !isIn(knownExtensions, name))
                    refuse("the extension " + name);
                break;
            case OpExtInstImport:
                operand(now, 1);
                if (text(now.operands.subspan(1)) != "GLSL.std.450")
                    refuse("the instructions of " + text(now.operands.subspan(1)));
                break;
            case OpTypeInt:
                if (operand(now, 1) > 32) refuse(nameOfCapability(CapabilityInt64));
                break;
            case OpTypePointer:
                if (!isIn(storageClasses, operand(now, 1)))
                    refuse("the storage class " + std::to_string(operand(now, 1)));
                break;
            case OpPtrAccessChain:
            case OpInBoundsPtrAccessChain:
            case OpCopyMemorySized: refuse("raw pointers"); break;
            default: break;
            }
    }

    void checkCapability(std::uint32_t capability) const {
        if (!isIn(capabilities, capability) && capability != capabilityMatricesOfKhr)
            refuse(nameOfCapability(capability));
        if (!supports(limits_, capability))
            fail("uses " + nameOfCapability(capability) + ", which the device does not support");
    }

    // Drivers take whole arrays apart into their numbers, and follow blocks by recursion.
    void checkCode() {
        constexpr std::uint64_t mostWhole = 16 * mostPrivateBytes;
        constexpr std::size_t deepest = 64;
        std::uint64_t whole = 0;
        std::vector<std::uint32_t> open; // where blocks that are begun end
        for (const SpirvInstruction& now : code_) {
            const std::string& place = placeOf(now);
            const auto refuseHere = [&](const std::string& why) {
                throw std::runtime_error(place.empty() ? shader_ + ": " + why : place + ": " + why);
            };
            if (now.opcode == OpLabel) {
                const auto ended = std::ranges::find(open, operand(now, 0));
                open.erase(ended, open.end());
            }
            if (now.opcode == OpSelectionMerge || now.opcode == OpLoopMerge) open.push_back(operand(now, 0));
            if (open.size() > deepest)
                refuseHere("more than " + std::to_string(deepest) + " blocks inside each other");
            const auto result = resultOf(now);
            if (!result || result->type == 0) continue;
            const auto size = sizes_.find(result->type);
            if (size == sizes_.end() || !isComposite(result->type)) continue;
            whole += size->second;
            if (size->second > mostPrivateBytes || whole > mostWhole)
                refuseHere(
                    "too large an array or structure is copied as a whole; copy its elements in a loop");
        }
    }

    bool isComposite(std::uint32_t type) {
        if (composites_.empty())
            for (const SpirvInstruction& now : code_)
                if (now.opcode == OpTypeArray || now.opcode == OpTypeStruct || now.opcode == OpTypeMatrix)
                    composites_.push_back(operand(now, 0));
        return isIn(composites_, type);
    }

    const Limits& limits_;
    std::map<std::uint32_t, std::uint64_t> sizes_; // of types
    std::vector<std::uint32_t> composites_;        // types
};

} // namespace

std::span<const std::uint32_t> allowedCapabilities() { return capabilities; }
std::span<const std::string_view> allowedExtensions() { return knownExtensions; }
std::span<const std::uint32_t> allowedStorageClasses() { return storageClasses; }

void requireHarmless(std::span<const std::uint32_t> words, const SpecConstants& constants,
                     const std::string& shader, const Limits& limits) {
    RuleCheck(words, constants, shader, limits);
}

} // namespace lockstep::gpu
