// A Vulkan device as the engine uses it: one logical device, one compute queue, one timeline that counts
// submissions.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "engine/gpu/vulkan_api.h"

namespace lockstep::gpu {

class Instance;
class TexelViews;

enum class DeviceType { discrete, integrated, virtualGpu, software, other };

/// C[m][n] += A[m][k] B[k][n] with one instruction of a subgroup; zeros: there is none.
struct MatrixTile {
    std::uint32_t m = 0;
    std::uint32_t n = 0;
    std::uint32_t k = 0;
    bool operator==(const MatrixTile&) const = default;
};

/// Tiles of halves whose products are added up in floats, by the extension that a shader is written for.
struct MatrixTiles {
    MatrixTile khr;
    MatrixTile nv;
};

/// What kernels have to fit into. Sizes in bytes.
struct Limits {
    std::uint32_t groupInvocations = 128;
    std::uint32_t groupSize[3] = {128, 128, 64};
    std::uint32_t groupCount[3] = {65535, 65535, 65535};
    std::uint32_t sharedMemory = 16384;
    std::uint32_t pushConstants = 128;
    std::uint32_t pushDescriptors = 32; ///< 0: the device has none, descriptor sets are used instead
    std::uint64_t storageRange = std::uint64_t{1} << 27;
    std::uint64_t storageAlignment = 256;
    std::uint32_t storageBuffers = 4;                   ///< that one kernel may bind
    std::uint64_t texelRange = std::uint64_t{16} << 16; ///< bytes of a view read as texels, a vec4 each
    std::uint64_t texelAlignment = 256;                 ///< of where such a view starts
    std::uint64_t nonCoherentAtomSize = 256;
    std::uint32_t subgroupSize = 1;
    /// Invocations that every subgroup of a compute shader has at least, where they can read each other's
    /// registers (subgroupBroadcast, from any lane); 0: they cannot.
    std::uint32_t broadcastLanes = 0;
    bool subgroupSums = false;        ///< they can also add up a number of each (subgroupAdd)
    MatrixTiles matrixTiles;          ///< that it was made to use
    double timestampNanoseconds = 0;  ///< of one tick; 0: no timestamps
    std::uint32_t timestampBits = 64; ///< valid ones; higher ones are to be ignored
};

/// One device of the system, usable or not.
struct DeviceReport {
    std::size_t index = 0;
    std::string name;
    DeviceType type = DeviceType::other;
    std::string driver;       ///< "llvmpipe Mesa 22.3.6 (LLVM 15.0.6)"
    std::string uuid;         ///< 32 hexadecimal digits
    std::string apiVersion;   ///< "1.3.230"
    std::uint64_t memory = 0; ///< bytes of its largest device-local heap
    Limits limits;
    std::string refused; ///< why it cannot train; empty: it can
    bool chosen = false;
    std::string reason; ///< why it was chosen, or which device was preferred
};

struct ValidationMessage {
    bool error = false; ///< else a warning
    std::string id;     ///< "VUID-..." or "SYNC-HAZARD-..."
    std::string text;
};

struct DeviceOptions {
    std::string select;      ///< a number of listDevices, a part of a name, or a UUID; empty: the best device
    bool validation = false; ///< the Khronos layer: core, synchronization (GPU-assisted: see gpuAssisted)
    bool gpuAssisted = false; ///< with `validation`: instrument shaders to find out-of-bounds accesses
    std::function<void(const ValidationMessage&)>
        messages;               ///< every warning and error of the layers; any thread
    bool minimumLimits = false; ///< pretend to offer no more than Vulkan's required minimum (for tests)
    bool forceStaging =
        false; ///< upload and download through staging even where memory is shared (for tests)
    bool pushDescriptors = true; ///< false: bind through descriptor sets, as on devices without the extension
                                 ///< (the shader checks of older validation layers know nothing else)
    bool robust = false;  ///< accesses beyond a buffer's end read anything or do nothing, for shaders that
                          ///< nobody has checked
    bool barriers = true; ///< false: the recorder emits none, so that a test can see validation complain
    std::chrono::milliseconds waitLimit{20000};  ///< how long one wait may last before TimeoutError
    bool drawing = false;                        ///< a queue for graphics too: Device::drawing()
    std::vector<std::string> instanceExtensions; ///< further ones: what a window's surface asks for
    std::vector<std::string> deviceExtensions;   ///< further ones: VK_KHR_swapchain for a window
    std::vector<std::byte>
        pipelineCache; ///< what Device::pipelineCacheData returned earlier; ignored when it does not fit
};

/// What has happened on the device so far. Tests count with these.
struct DeviceCounters {
    std::atomic<std::uint64_t> submissions{0};
    std::atomic<std::uint64_t> hostWaits{0};
    std::atomic<std::uint64_t> bytesUploaded{0};
    std::atomic<std::uint64_t> bytesDownloaded{0};
    std::atomic<std::uint64_t> recordingNanoseconds{
        0}; ///< of the host, between a recorder's begin and submit
    std::atomic<std::uint64_t> submissionNanoseconds{0}; ///< of the host, handing over what was recorded
    std::atomic<std::uint64_t> uploadNanoseconds{0};     ///< of the host, until the device has the bytes
    std::atomic<std::uint64_t> downloadNanoseconds{0};
    std::atomic<std::uint64_t> bytesAllocated{0};                            ///< held at the moment
    std::array<std::atomic<std::uint64_t>, VK_MAX_MEMORY_HEAPS> heapBytes{}; ///< the same, by heap
};

/// Adds the time from its making to its end to a counter of nanoseconds.
class CountedTime {
  public:
    explicit CountedTime(std::atomic<std::uint64_t>& counter) : counter_(counter) {}
    ~CountedTime() {
        const auto passed = std::chrono::steady_clock::now() - begin_;
        counter_ +=
            static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count());
    }
    CountedTime(const CountedTime&) = delete;
    CountedTime& operator=(const CountedTime&) = delete;

  private:
    std::atomic<std::uint64_t>& counter_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// All devices of the system in the loader's order, with the one that `options.select` would choose marked.
/// Empty when there is a loader but no driver. Throws NoDeviceError when there is no loader.
std::vector<DeviceReport> listDevices(const DeviceOptions& options = {});

/// "discrete GPU", "integrated GPU", "software, not a GPU", ...
std::string_view describe(DeviceType type);

/// Point in the device's timeline: the n-th submission. Complete when the timeline has reached it.
using Ticket = std::uint64_t;

/// A queue for graphics on the training device, for those who draw (DeviceOptions::drawing). It is a queue of
/// its own where the device has one to spare; else it is the one that computes.
struct DrawQueue {
    VkQueue queue = VK_NULL_HANDLE; ///< used only while *mutex is held: submit and present take turns
    std::uint32_t family = 0;
    std::mutex* mutex = nullptr;
};

class Device {
  public:
    /// Discrete before integrated before software, unless options.select names one. Throws NoDeviceError when
    /// nothing fits, GpuError for a failing call.
    explicit Device(DeviceOptions options = {});
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    const DeviceReport& report() const { return report_; }
    const Limits& limits() const { return report_.limits; }
    const DeviceOptions& options() const { return options_; }
    bool software() const { return report_.type == DeviceType::software; }
    DeviceCounters& counters() { return counters_; }
    /// Bytes of a heap that this device has not taken yet; other programs may have.
    std::uint64_t heapLeft(std::uint32_t heap) const;
    /// The same of the largest device-local heap.
    std::uint64_t memoryLeft() const;

    /// Submits one command buffer; the returned ticket completes when it has run. Any thread.
    Ticket submit(VkCommandBuffer commands);
    /// True when the ticket's work is done. Never waits. Throws DeviceLostError.
    bool done(Ticket ticket);
    /// Waits at most options().waitLimit. Throws TimeoutError, DeviceLostError.
    void wait(Ticket ticket);
    /// Waits for everything submitted so far.
    void waitForAll();
    /// A wait has timed out: the device may still use anything it was given, so nothing is destroyed any
    /// more, not even with the device itself.
    bool abandoned() const { return abandoned_; }
    /// The same by those who draw: a wait of their own has timed out.
    void abandon() { abandoned_ = true; }
    /// Records with `record` into a command buffer of its own, submits and waits: for uploads and start-up
    /// work only.
    void runOnce(const std::function<void(VkCommandBuffer)>& record);

    /// The driver's compiled pipelines, wrapped with a checksum and the device's identity.
    std::vector<std::byte> pipelineCacheData() const;

    const DeviceApi& vk() const { return vk_; }
    VkDevice handle() const { return device_; }
    VkInstance instance() const;
    VkPhysicalDevice physical() const { return physical_; }
    /// A function of the device that the engine itself does not call; null when there is none of that name.
    PFN_vkVoidFunction function(const char* name) const;
    /// Null queue without options().drawing.
    const DrawQueue& drawing() const { return drawing_; }
    /// The semaphore that tickets are values of, for other queues to wait for.
    VkSemaphore timeline() const { return timeline_; }
    VkPipelineCache pipelineCache() const { return pipelineCache_; }
    TexelViews& texelViews() { return *texelViews_; }
    std::uint32_t queueFamily() const { return queueFamily_; }
    const VkPhysicalDeviceMemoryProperties& memory() const { return memory_; }

  private:
    void createLogicalDevice();
    std::vector<const char*> extensionsToEnable() const;
    void createTimeline();
    void createPipelineCache();
    void runInPool(VkCommandPool pool, const std::function<void(VkCommandBuffer)>& record);
    void destroy() noexcept;

    DeviceOptions options_;
    DeviceReport report_;
    DeviceCounters counters_;
    std::unique_ptr<Instance> instance_;
    VkPhysicalDevice physical_ = VK_NULL_HANDLE;
    VkPhysicalDeviceMemoryProperties memory_{};
    VkDevice device_ = VK_NULL_HANDLE;
    DeviceApi vk_;
    std::uint32_t queueFamily_ = 0;
    VkQueue queue_ = VK_NULL_HANDLE;
    std::mutex queueMutex_;
    DrawQueue drawing_;
    std::mutex drawMutex_; ///< of a draw queue that is not the compute queue
    VkSemaphore timeline_ = VK_NULL_HANDLE;
    Ticket lastTicket_ = 0;
    std::atomic<bool> abandoned_{false};
    VkPipelineCache pipelineCache_ = VK_NULL_HANDLE;
    std::unique_ptr<TexelViews> texelViews_;
};

} // namespace lockstep::gpu
