// One row per card, from public reports of these drivers (vulkan.gpuinfo.org, vulkaninfo in bug reports).
#include "tests/faults/cards.h"

#include <algorithm>

namespace lockstep::faults {

namespace {

constexpr VkQueueFlags graphics = VK_QUEUE_GRAPHICS_BIT;
constexpr VkQueueFlags compute = VK_QUEUE_COMPUTE_BIT;
constexpr VkQueueFlags copies = VK_QUEUE_TRANSFER_BIT;
constexpr VkQueueFlags sparse = VK_QUEUE_SPARSE_BINDING_BIT;
constexpr VkExtent3D texels{1, 1, 1};

constexpr VkMemoryHeapFlags onCard = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT;

constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags visible =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
constexpr VkMemoryPropertyFlags uncachedAmd =
    VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD | VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD;
constexpr VkMemoryPropertyFlags tileMemory = VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT;

const Card rtx3060{
    .id = "rtx-3060",
    .name = "NVIDIA GeForce RTX 3060",
    .word = "RTX 3060",
    .driver = "NVIDIA",
    .driverInfo = "535.183.01",
    .driverId = VK_DRIVER_ID_NVIDIA_PROPRIETARY,
    .vendor = 0x10DE,
    .limits = {.groupSize = {1024, 1024, 64},
               .sharedMemory = 49152,
               .pushConstants = 256,
               .descriptorSets = 32},
    .families = {{graphics | compute | copies | sparse, 16, 64, texels},
                 {copies | sparse, 2, 64, texels},
                 {compute | copies | sparse, 8, 64, texels}},
    .heaps = {{12288, onCard}, {23920, 0}, {246, onCard}},
    .types = {{0, 1}, {local, 0}, {visible, 1}, {visible | cached, 1}, {local | visible, 2}},
};

// A driver from before memory of the card could be mapped.
const Card gtx1060{
    .id = "gtx-1060",
    .name = "NVIDIA GeForce GTX 1060 6GB",
    .word = "GTX 1060",
    .driver = "NVIDIA",
    .driverInfo = "470.223.02",
    .driverId = VK_DRIVER_ID_NVIDIA_PROPRIETARY,
    .vendor = 0x10DE,
    .api = VK_API_VERSION_1_2,
    .limits = {.groupSize = {1024, 1024, 64},
               .sharedMemory = 49152,
               .pushConstants = 256,
               .storageAlignment = 32,
               .descriptorSets = 32,
               .allocations = 4096},
    .families = {{graphics | compute | copies | sparse, 16, 64, texels},
                 {copies | sparse, 2, 64, texels},
                 {compute | copies | sparse, 8, 64, texels}},
    .heaps = {{6144, onCard}, {11968, 0}},
    .types = {{0, 1}, {local, 0}, {visible, 1}, {visible | cached, 1}},
    .halfArithmetic = false,
};

// Mesa's RADV offers each type a second time with AMD's own properties, which need a feature of their own.
const Card rx6600{
    .id = "rx-6600",
    .name = "AMD Radeon RX 6600 (RADV NAVI23)",
    .word = "RX 6600",
    .driver = "radv",
    .driverInfo = "Mesa 22.3.6",
    .driverId = VK_DRIVER_ID_MESA_RADV,
    .vendor = 0x1002,
    .limits = {.sharedMemory = 65536,
               .pushConstants = 256,
               .storageAlignment = 4,
               .texelAlignment = 4,
               .descriptorSets = 32,
               .tick = 10},
    .families = {{graphics | compute | copies | sparse, 1, 64, texels},
                 {compute | copies | sparse, 4, 64, texels}},
    .heaps = {{7920, onCard}, {15900, 0}, {256, onCard}},
    .types = {{local | uncachedAmd, 0},
              {local, 0},
              {visible | uncachedAmd, 1},
              {visible, 1},
              {local | visible | uncachedAmd, 2},
              {local | visible, 2},
              {visible | cached | uncachedAmd, 1},
              {visible | cached, 1}},
};

const Card radeon680m{
    .id = "radeon-680m",
    .name = "AMD Radeon 680M (RADV REMBRANDT)",
    .word = "680M",
    .driver = "radv",
    .driverInfo = "Mesa 22.3.6",
    .driverId = VK_DRIVER_ID_MESA_RADV,
    .vendor = 0x1002,
    .type = VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
    .limits = {.sharedMemory = 65536,
               .pushConstants = 256,
               .storageAlignment = 4,
               .texelAlignment = 4,
               .descriptorSets = 32,
               .tick = 10},
    .families = {{graphics | compute | copies | sparse, 1, 64, texels},
                 {compute | copies | sparse, 4, 64, texels}},
    .heaps = {{5120, 0}, {10240, onCard}},
    .types = {{local, 1},
              {visible, 0},
              {local | visible, 1},
              {local | visible | cached, 1},
              {local | uncachedAmd, 1},
              {visible | uncachedAmd, 0},
              {local | visible | uncachedAmd, 1},
              {local | visible | cached | uncachedAmd, 1}},
};

const Card arcA380{
    .id = "arc-a380",
    .name = "Intel(R) Arc(tm) A380 Graphics (DG2)",
    .word = "A380",
    .driver = "Intel open-source Mesa driver",
    .driverInfo = "Mesa 23.2.1",
    .driverId = VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA,
    .vendor = 0x8086,
    .limits = {.sharedMemory = 65536,
               .storageRange = 1u << 30,
               .storageAlignment = 4,
               .storageBuffers = 65535,
               .tick = 52.083333f},
    .families = {{graphics | compute | copies, 1, 36, texels}, {compute | copies, 1, 36, texels}},
    .heaps = {{6064, onCard}, {23800, 0}},
    .types = {{local, 0}, {visible | cached, 1}, {local | visible, 0}},
};

const Card irisXe{
    .id = "iris-xe",
    .name = "Intel(R) Iris(R) Xe Graphics (TGL GT2)",
    .word = "Xe",
    .driver = "Intel open-source Mesa driver",
    .driverInfo = "Mesa 22.3.6",
    .driverId = VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA,
    .vendor = 0x8086,
    .type = VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
    .limits = {.sharedMemory = 65536,
               .storageRange = 1u << 30,
               .storageAlignment = 4,
               .storageBuffers = 65535,
               .tick = 52.083333f},
    .families = {{graphics | compute | copies, 1, 36, texels}},
    .heaps = {{11600, onCard}},
    .types = {{local | visible | cached, 0}},
};

const Card m1{
    .id = "m1",
    .name = "Apple M1",
    .word = "M1",
    .driver = "MoltenVK",
    .driverInfo = "1.2.5",
    .driverId = VK_DRIVER_ID_MOLTENVK,
    .vendor = 0x106B,
    .type = VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
    .api = VK_API_VERSION_1_2,
    .limits = {.pushConstants = 4096, .storageBuffers = 31, .atom = 16384},
    .families = std::vector<VkQueueFamilyProperties>(4, {graphics | compute | copies, 1, 64, texels}),
    .heaps = {{10922, onCard}},
    .types = {{local, 0}, {local | visible | cached, 0}, {local | tileMemory, 0}},
    .without = {"VK_EXT_subgroup_size_control", "VK_KHR_maintenance4", "VK_EXT_shader_atomic_float"},
    .portabilitySubset = true,
};

} // namespace

std::span<const Card> cards() {
    static const std::vector<Card> all{rtx3060, gtx1060, rx6600, arcA380, irisXe, radeon680m, m1};
    return all;
}

const Card* findCard(std::string_view id) {
    const auto found = std::ranges::find(cards(), id, &Card::id);
    return found == cards().end() ? nullptr : &*found;
}

} // namespace lockstep::faults
