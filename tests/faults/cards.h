// Graphics cards that the layer can pretend to be: what their drivers report about them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <vulkan/vulkan.h>

namespace lockstep::faults {

/// Limits of a card that differ between cards and matter to a program that computes. Sizes in bytes.
struct CardLimits {
    std::uint32_t groupInvocations = 1024;
    std::uint32_t groupSize[3] = {1024, 1024, 1024};
    std::uint32_t groupCount[3] = {65535, 65535, 65535};
    std::uint32_t sharedMemory = 32768;
    std::uint32_t pushConstants = 128;
    std::uint32_t storageRange = ~0u;
    std::uint32_t storageAlignment = 16;
    std::uint32_t storageBuffers = ~0u; ///< per stage
    std::uint32_t texelElements = 1u << 27;
    std::uint32_t texelAlignment = 16;
    std::uint32_t descriptorSets = 8; ///< bound at a time
    std::uint32_t allocations = ~0u;  ///< of memory, at a time
    std::uint32_t atom = 64;          ///< of non-coherent memory
    float tick = 1;                   ///< of the clock, in nanoseconds
};

struct CardHeap {
    std::uint64_t mebibytes = 0;
    VkMemoryHeapFlags flags = 0;
};

struct Card {
    std::string_view id; ///< in LOCKSTEP_FAULT: card:ID
    std::string_view name;
    std::string_view word; ///< part of the name that the program's tables keep
    std::string_view driver;
    std::string_view driverInfo;
    VkDriverId driverId = VK_DRIVER_ID_MAX_ENUM;
    std::uint32_t vendor = 0;
    VkPhysicalDeviceType type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    std::uint32_t api = VK_API_VERSION_1_3;
    CardLimits limits;
    std::vector<VkQueueFamilyProperties> families;
    std::vector<CardHeap> heaps;
    std::vector<VkMemoryType> types;
    std::vector<std::string_view> without{}; ///< extensions that only the real driver has
    bool halfArithmetic = true;              ///< feature shaderFloat16
    bool portabilitySubset = false; ///< to be enabled with the device, found only with the instance's flag
};

/// All cards. Nothing in a row can make the driver below do more than it can: of a limit, the stricter value
/// counts; heaps are scaled down so that the largest fits the real one. The size of subgroups (32 or 64 on
/// most cards) and cooperative matrices cannot be pretended at all: kernels run on the real driver.
std::span<const Card> cards();

/// Null if there is none of that name.
const Card* findCard(std::string_view id);

} // namespace lockstep::faults
