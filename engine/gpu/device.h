// A Vulkan device as the engine uses it: one compute queue, and a timeline that counts submissions.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/gpu/reflection.h"
#include "engine/gpu/vulkan_api.h"

namespace lockstep::gpu {

class Instance;
class LoopWatch;
class Pipelines;
class TexelViews;

/// Best for training first.
enum class DeviceType { discrete, integrated, virtualGpu, other, software };

/// The size of a cooperative matrix product: one subgroup instruction computes C[m][n] += A[m][k] B[k][n].
/// All 0: not supported.
struct MatrixTile {
    std::uint32_t m = 0;
    std::uint32_t n = 0;
    std::uint32_t k = 0;
    bool operator==(const MatrixTile&) const = default;
};

/// Tile sizes by extension: for fp16 inputs with fp32 accumulation, and for int8 inputs with int32
/// accumulation.
struct MatrixTiles {
    MatrixTile khr;
    MatrixTile nv;
    MatrixTile khrInt8;
    MatrixTile nvInt8;

    /// Which one kernels use. Shaders are written in NVIDIA's, and translated where the device has only
    /// Khronos'.
    MatrixDialect dialect() const {
        if (nv.m > 0) return MatrixDialect::nv;
        return khr.m > 0 ? MatrixDialect::khr : MatrixDialect::none;
    }
    MatrixTile tile() const { return nv.m > 0 ? nv : khr; }
    MatrixTile int8Tile() const { return nv.m > 0 ? nvInt8 : khrInt8; }
};

/// Limits that kernels must respect. Sizes in bytes.
struct Limits {
    std::uint32_t groupInvocations = 128;
    std::uint32_t groupSize[3] = {128, 128, 64};
    std::uint32_t groupCount[3] = {65535, 65535, 65535};
    std::uint32_t sharedMemory = 16384;
    std::uint32_t pushConstants = 128;
    std::uint32_t pushDescriptors = 32; ///< 0: not supported, descriptor sets are used instead
    std::uint64_t storageRange = std::uint64_t{1} << 27;
    std::uint64_t storageAlignment = 256;
    std::uint32_t storageBuffers = 4;                   ///< per kernel
    std::uint64_t texelRange = std::uint64_t{16} << 16; ///< bytes of a texel view (one vec4 per texel)
    std::uint64_t texelAlignment = 256;                 ///< of the start of a texel view
    std::uint64_t nonCoherentAtomSize = 256;
    std::uint32_t subgroupSize = 1;
    /// Minimum size of a subgroup in compute shaders, if its invocations can read each other's registers
    /// (subgroupBroadcast from any invocation); otherwise 0.
    std::uint32_t broadcastInvocations = 0;
    bool subgroupSums = false;        ///< subgroupAdd is supported too
    MatrixTiles matrixTiles;          ///< the sizes enabled on this device
    bool halfArithmetic = false;      ///< float16_t in registers; otherwise fp16 only in memory
    bool doubleArithmetic = false;    ///< double
    bool dotProducts = false;         ///< SPV_KHR_integer_dot_product: four int8 products, summed up
    bool deviceClock = false;         ///< clockRealtime2x32EXT: a clock that shaders can read
    double timestampNanoseconds = 0;  ///< length of one tick; 0: no timestamps
    std::uint32_t timestampBits = 64; ///< valid bits; ignore higher ones
};

/// A device of the system, usable or not.
struct DeviceReport {
    std::size_t index = 0;
    std::string name;
    DeviceType type = DeviceType::other;
    std::string driver;       ///< "llvmpipe Mesa 22.3.6 (LLVM 15.0.6)"
    std::string uuid;         ///< 32 hexadecimal digits
    std::string apiVersion;   ///< "1.3.230"
    std::uint64_t memory = 0; ///< size of its largest device-local heap in bytes
    Limits limits;
    std::string refused; ///< why it cannot train; empty if it can
    bool chosen = false;
    std::string reason; ///< why it was chosen, or why another device was
};

struct ValidationMessage {
    bool error = false; ///< false: a warning
    std::string id;     ///< "VUID-..." or "SYNC-HAZARD-..."
    std::string text;
};

/// A device that the host program has opened and also uses itself (DeviceOptions::host). Its instance and
/// device are of Vulkan 1.2 or later. Everything stays the host's: it destroys nothing of it before the
/// Device is gone.
struct HostDevice {
    PFN_vkGetInstanceProcAddr getInstanceProcAddr = nullptr; ///< of the loader that the instance came from
    VkInstance instance = VK_NULL_HANDLE;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE;
    VkQueue queue = VK_NULL_HANDLE; ///< that training is submitted to: of a family that computes
    std::uint32_t queueFamily = 0;
    /// The engine holds it around each of its submissions to the queue, and the host around its own. Null if
    /// the queue is for training alone.
    std::mutex* queueMutex = nullptr;
    /// What the device was created with: extensions and features that it has not enabled are not used. Read
    /// by the constructor of Device only.
    const VkDeviceCreateInfo* created = nullptr;
};

struct DeviceOptions {
    std::optional<HostDevice> host; ///< train on this device; select and validation do not apply
    std::string select;      ///< an index from listDevices, part of a name, or a UUID; empty: the best device
    bool validation = false; ///< use the Khronos layer: core and synchronization checks
    bool gpuAssisted = false; ///< with `validation`: also instrument shaders to find out-of-bounds accesses
    std::function<void(const ValidationMessage&)> messages; ///< receives those of the layers, on any thread
    bool minimumLimits = false;  ///< pretend to have only Vulkan's guaranteed minimum limits (for tests)
    bool forceStaging = false;   ///< upload and download through staging even if memory is shared (for tests)
    bool pushDescriptors = true; ///< false: use descriptor sets (older layers check shaders only so)
    bool robust = false;  ///< make out-of-bounds accesses harmless, for shaders that are not verified yet
    bool barriers = true; ///< false: emit no barriers, so that a test can check that validation complains
    std::chrono::milliseconds waitLimit{20000};  ///< longest wait before TimeoutError: Device::wait()
    bool drawing = false;                        ///< also create a graphics queue: Device::drawing()
    std::vector<std::string> instanceExtensions; ///< extra ones, as a window's surface needs
    std::vector<std::string> deviceExtensions;   ///< extra ones: VK_KHR_swapchain for a window
    /// Finds what Device::pipelineCacheData() returned earlier for the device that was chosen; may be null.
    /// What does not match is ignored.
    std::function<std::vector<std::byte>(const DeviceReport&)> pipelineCache;
    /// Where the choice of kernels is remembered between runs (engine/tune/kernel_cache.h). Empty: nowhere;
    /// it lasts as long as the process.
    std::filesystem::path cacheFolder;
};

/// Counts of what has happened on the device, for tests and measurements.
struct DeviceCounters {
    std::atomic<std::uint64_t> submissions{0};
    /// Dispatches of a kernel with buffers of sizes that it was not given before. A driver may compile then,
    /// for milliseconds: a warm-up should include them all.
    std::atomic<std::uint64_t> coldDispatches{0};
    std::atomic<std::uint64_t> hostWaits{0};
    std::atomic<std::uint64_t> bytesUploaded{0};
    std::atomic<std::uint64_t> bytesDownloaded{0};
    std::atomic<std::uint64_t> recordingNanoseconds{0};  ///< host time between begin() and submit()
    std::atomic<std::uint64_t> submissionNanoseconds{0}; ///< host time in queue submission
    std::atomic<std::uint64_t> uploadNanoseconds{0};     ///< host time until the device has the bytes
    std::atomic<std::uint64_t> downloadNanoseconds{0};
    std::atomic<std::uint64_t> longestNanoseconds{0}; ///< device time of the longest submission so far
    std::atomic<std::uint64_t> bytesAllocated{0};     ///< currently allocated
    std::array<std::atomic<std::uint64_t>, VK_MAX_MEMORY_HEAPS> heapBytes{}; ///< currently allocated, by heap
};

/// Adds its lifetime, in nanoseconds, to a counter.
class CountedTime {
  public:
    explicit CountedTime(std::atomic<std::uint64_t>& counter) : counter_(counter) {}
    ~CountedTime() {
        const std::chrono::nanoseconds passed = std::chrono::steady_clock::now() - begin_;
        counter_ += static_cast<std::uint64_t>(passed.count());
    }
    CountedTime(const CountedTime&) = delete;

  private:
    std::atomic<std::uint64_t>& counter_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Lists all devices of the system in the loader's order and marks the one that `options.select` chooses.
/// Empty if there is a loader but no driver. Throws NoDeviceError if there is no loader.
std::vector<DeviceReport> listDevices(const DeviceOptions& options = {});

/// "discrete GPU", "integrated GPU", "software, not a GPU", ...
std::string_view describe(DeviceType type);

/// The n-th submission: a value of the device's timeline, complete once the timeline reaches it.
using Ticket = std::uint64_t;

/// The graphics queue on the training device (DeviceOptions::drawing). A separate queue if the device has one
/// to spare, otherwise the compute queue.
struct DrawQueue {
    VkQueue queue = VK_NULL_HANDLE; ///< use only while holding *mutex, which serializes submit and present
    std::uint32_t family = 0;
    std::mutex* mutex = nullptr;
    bool shared = false; ///< it is the compute queue: whoever holds *mutex for long stalls training
};

class Device {
  public:
    /// Opens the device named by options.select, or the best one: discrete before integrated before software;
    /// or uses options.host. Throws NoDeviceError if none fits, GpuError if a Vulkan call fails, and for a
    /// host's device std::invalid_argument where something is missing: an entry of HostDevice, timeline
    /// semaphores, Vulkan 1.2, a compute queue, or where drawing or robust is asked for.
    explicit Device(DeviceOptions options = {});
    ~Device();

    const DeviceReport& report() const { return report_; }
    const Limits& limits() const { return report_.limits; }
    const DeviceOptions& options() const { return options_; }
    bool software() const { return report_.type == DeviceType::software; }
    DeviceCounters& counters() { return counters_; }
    const DeviceCounters& counters() const { return counters_; }
    /// Bytes of a heap that this Device has not allocated. If the driver has VK_EXT_memory_budget, at most
    /// what it expects other programs and the system to leave; otherwise they may use some of them.
    std::uint64_t heapLeft(std::uint32_t heap) const;
    /// The same for the largest device-local heap.
    std::uint64_t memoryLeft() const;

    /// Submits one command buffer. The returned ticket completes when it has run. Callable from any thread.
    Ticket submit(VkCommandBuffer commands);
    /// True if the ticket's work is done. Never waits. Throws DeviceLostError.
    bool done(Ticket ticket);
    /// Waits for the ticket, at most options().waitLimit; in software, unless the limit is set, six times as
    /// long, because kernels are compiled as they run. Throws TimeoutError, DeviceLostError, LoopError.
    void wait(Ticket ticket);
    /// Waits for everything submitted so far.
    void waitForAll();
    /// True after a wait has timed out. The device may still use its objects, so none are destroyed any more.
    bool abandoned() const { return abandoned_; }
    /// Marks the device as abandoned after the window's own wait has timed out.
    void abandon() { abandoned_ = true; }
    /// Records with `record` into a new command buffer, submits it and waits. For uploads and start-up only.
    void runOnce(const std::function<void(VkCommandBuffer)>& record);

    /// The driver's compiled pipelines, with a checksum and the device's identity.
    std::vector<std::byte> pipelineCacheData() const;

    const DeviceApi& vk() const { return vk_; }
    VkDevice handle() const { return device_; }
    VkInstance instance() const;
    const InstanceApi& instanceApi() const;
    VkPhysicalDevice physical() const { return physical_; }
    /// The graphics queue; null without options().drawing.
    const DrawQueue& drawing() const { return drawing_; }
    /// Milliseconds that no submission should exceed: the window, or a host, draws between those of a queue
    /// that it shares.
    double longestSubmission() const { return drawing_.shared || options_.host ? 16 : 100; }
    /// The timeline semaphore whose values are tickets, so that other queues can wait for them.
    VkSemaphore timeline() const { return timeline_; }
    VkPipelineCache pipelineCache() const { return pipelineCache_; }
    TexelViews& texelViews() { return *texelViews_; }
    /// What kernels share, past ones included.
    Pipelines& pipelines() { return *pipelines_; }
    /// Made at its first use. From then on, wait() throws LoopError when a loop has run out of rounds.
    LoopWatch& loopWatch();
    std::uint32_t queueFamily() const { return queueFamily_; }
    /// Memory types that nothing here should use have no properties: protected, lazily allocated and, on AMD,
    /// device-coherent ones (slow, and they need a feature).
    const VkPhysicalDeviceMemoryProperties& memory() const { return memory_; }

  private:
    void openDevice();
    void createLogicalDevice();
    void useHostDevice();
    void inspectMemory();
    void createTimeline();
    void waitLong(Ticket ticket);
    void createPipelineCache();
    void destroy() noexcept;

    DeviceOptions options_;
    DeviceReport report_;
    DeviceCounters counters_;
    std::unique_ptr<Instance> instance_;
    VkPhysicalDevice physical_ = VK_NULL_HANDLE;
    VkPhysicalDeviceMemoryProperties memory_{};
    bool hasMemoryBudget_ = false;
    VkDevice device_ = VK_NULL_HANDLE;
    DeviceApi vk_;
    std::uint32_t queueFamily_ = 0;
    VkQueue queue_ = VK_NULL_HANDLE;
    std::mutex ownQueueMutex_;
    std::mutex* queueMutex_ = &ownQueueMutex_; ///< or the host's
    DrawQueue drawing_;
    std::mutex drawMutex_; ///< guards a separate graphics queue
    VkSemaphore timeline_ = VK_NULL_HANDLE;
    std::atomic<Ticket> lastTicket_{0}; ///< written under queueMutex_
    std::atomic<bool> abandoned_{false};
    VkPipelineCache pipelineCache_ = VK_NULL_HANDLE;
    std::unique_ptr<TexelViews> texelViews_;
    std::unique_ptr<Pipelines> pipelines_;
    std::once_flag loopWatchMade_;
    std::unique_ptr<LoopWatch> loopWatch_;
    std::atomic<LoopWatch*> watching_{nullptr};
};

} // namespace lockstep::gpu
