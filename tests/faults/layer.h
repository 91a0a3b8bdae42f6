// What the parts of the layer share: the plan, the report, and who comes next in the chain of calls.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include <vulkan/vulkan.h>

#include "engine/gpu/vulkan_api.h"
#include "tests/faults/faults.h"
#include "tests/faults/lending.h"
#include "tests/faults/plan.h"

namespace lockstep::faults {

struct InstanceState {
    PFN_vkGetInstanceProcAddr getNext = nullptr;
    VkInstance handle = VK_NULL_HANDLE;
    gpu::InstanceApi next;
    VkPhysicalDevice first = VK_NULL_HANDLE; ///< of those listed
    bool portability = false;                ///< made with VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR
};

/// A queue that the layer hands out. It begins with what the loader keeps there.
struct QueueState {
    void* table = nullptr;
    VkQueue real = VK_NULL_HANDLE;
    std::atomic<int> users{0};
};

/// The use of a queue, by one thread at a time.
class QueueUse {
  public:
    explicit QueueUse(VkQueue queue);
    ~QueueUse() { --queue_.users; }
    QueueUse(const QueueUse&) = delete;
    VkQueue real() const { return queue_.real; }

  private:
    QueueState& queue_;
};

/// Memory that a program holds.
struct MemoryState {
    std::uint64_t size = 0;
    std::uint32_t heap = 0;
    bool mappable = true;
    bool coherent = true;
    std::byte* real = nullptr;     ///< where the driver has mapped it; null before
    std::vector<std::byte> shadow; ///< what the program sees of non-coherent memory
};

struct DeviceState {
    PFN_vkGetDeviceProcAddr getNext = nullptr;
    VkDevice handle = VK_NULL_HANDLE;
    bool first = false;  ///< its physical device is the first one listed
    gpu::DeviceApi next; ///< members are null where the device was not asked for what they belong to
    VkPhysicalDeviceMemoryProperties memory{}; ///< as the program sees it
    std::vector<std::uint32_t> realTypes;      ///< the driver's memory type of each of those
    std::mutex queue;                          ///< a device is not lost amid a submission
    std::atomic<bool> lost{false};
    std::atomic<bool> hangs{false};
    std::atomic<std::uint64_t> firstTick{0}; ///< that was read of the driver's clock
    Lending lending;
    std::mutex objects; ///< guards all below
    std::map<std::string_view, std::int64_t> living;
    std::map<VkDeviceMemory, MemoryState> memories;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::unique_ptr<QueueState>> queues; ///< family, index
};

const Plan& plan();
Report& report();

/// Counts a call; true when it is the one that the plan wants to fail.
bool isDue(std::string_view function);
/// isDue() for calls that create: those of `create:N` too.
bool creationIsDue(std::string_view function);

void misuse(const char* what);

/// The state of an instance or physical device, and of a device, queue or command buffer.
InstanceState& instanceOf(void* handle);
DeviceState& deviceOf(void* handle);

/// The memory that the program is to see instead of the driver's, and the driver's type of each type.
VkPhysicalDeviceMemoryProperties pretendedMemory(const VkPhysicalDeviceMemoryProperties& real,
                                                 std::vector<std::uint32_t>& realTypes);

/// What a card has instead of the driver's.
void pretendProperties(const Card& card, VkPhysicalDeviceProperties2& out);
void pretendFeatures(const Card& card, VkPhysicalDeviceFeatures2& out);
VkPhysicalDeviceMemoryProperties cardMemory(const Card& card, const VkPhysicalDeviceMemoryProperties& real,
                                            std::vector<std::uint32_t>& realTypes);
std::uint32_t realFamily(std::uint32_t family);

/// Extensions that only the layer offers: the driver below must not be asked for them.
bool isPretendedExtension(std::string_view name);

/// Bytes of a heap that programs of this process hold.
std::uint64_t heapUsage(std::uint32_t heap);

/// Shows its images one by one, each when the screen is ready.
bool isFifo(VkSwapchainKHR swapchain);
/// Also loses it, when that is due.
bool surfaceIsLost(VkSwapchainKHR swapchain);

/// The types of memory that the program sees for those of the driver, a bit each.
std::uint32_t pretendedTypes(const DeviceState& device, std::uint32_t real);

/// The layer's own functions by name; null for those that pass it by.
PFN_vkVoidFunction physicalFunction(std::string_view name);
PFN_vkVoidFunction deviceFunction(std::string_view name);
PFN_vkVoidFunction memoryFunction(std::string_view name);
PFN_vkVoidFunction drawFunction(std::string_view name);
PFN_vkVoidFunction queueFunction(std::string_view name);
PFN_vkVoidFunction cardFunction(std::string_view name);
PFN_vkVoidFunction commandFunction(std::string_view name);

/// What every call of a lost device answers; the first time, the driver below is brought to rest.
VkResult lose(DeviceState& device);

/// What a lost device leaves in memory is undefined.
void spoilMappedMemory(DeviceState& device);

void noteCreated(DeviceState& device, std::string_view kind, std::int64_t change);

/// Ranges of non-coherent memory have to start and end at multiples of this.
inline constexpr std::uint64_t pretendedAtom = 256;

struct NamedFunction {
    std::string_view name;
    PFN_vkVoidFunction function;
};

template <class Function> NamedFunction named(std::string_view name, Function function) {
    return {name, reinterpret_cast<PFN_vkVoidFunction>(function)};
}

template <class Table> PFN_vkVoidFunction findFunction(const Table& table, std::string_view name) {
    for (const NamedFunction& entry : table)
        if (entry.name == name) return entry.function;
    return nullptr;
}

} // namespace lockstep::faults
