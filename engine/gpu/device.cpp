#include "engine/gpu/device.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <span>
#include <stdexcept>

#include "engine/gpu/bindings.h"
#include "engine/gpu/device_features.h"
#include "engine/gpu/error.h"
#include "engine/gpu/instance.h"
#include "engine/gpu/loop_watch.h"
#include "engine/gpu/owned.h"
#include "engine/gpu/pipeline_cache.h"
#include "engine/gpu/pipelines.h"

namespace lockstep::gpu {

namespace {

Instance::Candidate chosenCandidate(const Instance& instance, const DeviceOptions& options) {
    std::string reasons;
    for (Instance::Candidate& candidate : instance.candidates(options)) {
        if (candidate.report.chosen) return candidate;
        const DeviceReport& report = candidate.report;
        reasons += "\n  " + std::to_string(report.index) + " " + report.name + ": " +
                   (report.refused.empty() ? report.reason : report.refused);
    }
    if (reasons.empty()) throw NoDeviceError("no Vulkan device was found. " + installHint());
    if (!options.select.empty())
        throw NoDeviceError("no usable device matches '" + options.select + "'. Found:" + reasons);
    throw NoDeviceError("no Vulkan device can be used:" + reasons + "\n" + installHint());
}

} // namespace

Device::Device(DeviceOptions options) : options_(std::move(options)) {
    try {
        if (options_.host)
            useHostDevice();
        else
            openDevice();
        inspectMemory();
        createTimeline();
        createPipelineCache();
        texelViews_ = std::make_unique<TexelViews>(*this);
        pipelines_ = std::make_unique<Pipelines>();
    } catch (...) {
        destroy();
        throw;
    }
}

Device::~Device() { destroy(); }

void Device::destroy() noexcept {
    try {
        if (lastTicket_ > 0 && !abandoned_) waitForAll(); // vkDeviceWaitIdle has no time limit
    } catch (const std::exception&) {
        // If the device is lost, nothing runs any more. If it hangs, it is abandoned now.
    }
    if (abandoned_) {
        static_cast<void>(instance_.release()); // it cannot be destroyed either
        return;
    }
    if (device_ != VK_NULL_HANDLE) {
        if (!options_.host) vk_.DeviceWaitIdle(device_);
        loopWatch_.reset();
        texelViews_.reset();
        pipelines_.reset();
        if (pipelineCache_ != VK_NULL_HANDLE) vk_.DestroyPipelineCache(device_, pipelineCache_, nullptr);
        if (timeline_ != VK_NULL_HANDLE) vk_.DestroySemaphore(device_, timeline_, nullptr);
        if (!options_.host) vk_.DestroyDevice(device_, nullptr);
    }
}

void Device::openDevice() {
    instance_ = std::make_unique<Instance>(options_);
    const Instance::Candidate candidate = chosenCandidate(*instance_, options_);
    report_ = candidate.report;
    queueFamily_ = candidate.queueFamily;
    physical_ = candidate.handle;
    drawing_.family = candidate.drawFamily;
    createLogicalDevice();
}

void Device::inspectMemory() {
    const InstanceApi& api = instance_->api();
    api.GetPhysicalDeviceMemoryProperties(physical_, &memory_);
    constexpr VkMemoryPropertyFlags unwanted =
        VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT | VK_MEMORY_PROPERTY_PROTECTED_BIT |
        VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD | VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD;
    for (VkMemoryType& type : std::span(memory_.memoryTypes, memory_.memoryTypeCount))
        if ((type.propertyFlags & unwanted) != 0) type.propertyFlags = 0;
    hasMemoryBudget_ = contains(extensionsOf(api, physical_), VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
}

void Device::createLogicalDevice() {
    const InstanceApi& api = instance_->api();
    const bool sameFamily = drawing_.family == queueFamily_;
    const bool secondQueue =
        options_.drawing && sameFamily && queueFamiliesOf(api, physical_)[queueFamily_].queueCount > 1;
    const float priorities[] = {1.0f, 1.0f};
    std::vector<VkDeviceQueueCreateInfo> queues(
        1, structure<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO));
    queues[0].queueFamilyIndex = queueFamily_;
    queues[0].queueCount = secondQueue ? 2 : 1;
    queues[0].pQueuePriorities = priorities;
    if (options_.drawing && !sameFamily) {
        queues.push_back(queues[0]);
        queues[1].queueFamilyIndex = drawing_.family;
    }

    DeviceFeatures wanted(limits(), extensionsOf(api, physical_));
    wanted.features.features.robustBufferAccess = options_.robust ? VK_TRUE : VK_FALSE; // every device has it
    for (const std::string& name : options_.deviceExtensions) wanted.extensions.push_back(name.c_str());
    auto info = structure<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
    info.pNext = wanted.chain();
    info.queueCreateInfoCount = static_cast<std::uint32_t>(queues.size());
    info.pQueueCreateInfos = queues.data();
    info.enabledExtensionCount = static_cast<std::uint32_t>(wanted.extensions.size());
    info.ppEnabledExtensionNames = wanted.extensions.data();
    check(api.CreateDevice(physical_, &info, nullptr, &device_), "vkCreateDevice");
    vk_ = loadDeviceApi(api, device_);
    vk_.GetDeviceQueue(device_, queueFamily_, 0, &queue_);
    if (!options_.drawing) return;
    vk_.GetDeviceQueue(device_, drawing_.family, secondQueue ? 1 : 0, &drawing_.queue);
    drawing_.shared = drawing_.queue == queue_;
    drawing_.mutex = drawing_.shared ? queueMutex_ : &drawMutex_;
}

void Device::useHostDevice() {
    const HostDevice& host = *options_.host;
    if (host.getInstanceProcAddr == nullptr || host.instance == VK_NULL_HANDLE ||
        host.physical == VK_NULL_HANDLE || host.device == VK_NULL_HANDLE || host.queue == VK_NULL_HANDLE ||
        host.created == nullptr)
        throw std::invalid_argument("an entry of gpu::HostDevice is missing");
    if (options_.drawing || options_.robust)
        throw std::invalid_argument("drawing and robust access need a device of Device's own");
    instance_ = std::make_unique<Instance>(host.getInstanceProcAddr, host.instance);
    Instance::Candidate candidate = instance_->candidate(host.physical, options_);
    if (!candidate.report.refused.empty())
        throw std::invalid_argument("'" + candidate.report.name +
                                    "' cannot be used: " + candidate.report.refused);
    report_ = std::move(candidate.report);
    report_.limits = limitsEnabled(report_.limits, *host.created);
    options_.host->created = nullptr; // the host may let go of it now
    queueFamily_ = host.queueFamily;
    if (host.queueMutex != nullptr) queueMutex_ = host.queueMutex;
    physical_ = host.physical;
    device_ = host.device;
    queue_ = host.queue;
    vk_ = loadDeviceApi(instance_->api(), device_);
    if (vk_.WaitSemaphores == nullptr || vk_.GetSemaphoreCounterValue == nullptr)
        throw std::invalid_argument("the host's instance or device is of a Vulkan before 1.2");
}

VkInstance Device::instance() const { return instance_->handle(); }

const InstanceApi& Device::instanceApi() const { return instance_->api(); }

void Device::createTimeline() {
    const VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, nullptr,
                                         VK_SEMAPHORE_TYPE_TIMELINE, 0};
    const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type, 0};
    check(vk_.CreateSemaphore(device_, &info, nullptr, &timeline_), "vkCreateSemaphore");
}

void Device::createPipelineCache() {
    const std::vector<std::byte> found =
        options_.pipelineCache ? options_.pipelineCache(report_) : std::vector<std::byte>{};
    const std::span<const std::byte> stored = unwrapPipelineCache(found, cacheIdentity(report_));
    const VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, nullptr, 0,
                                         stored.size(), stored.data()};
    check(vk_.CreatePipelineCache(device_, &info, nullptr, &pipelineCache_), "vkCreatePipelineCache");
}

Ticket Device::submit(VkCommandBuffer commands) {
    const std::lock_guard lock(*queueMutex_);
    const Ticket ticket = lastTicket_ + 1;
    const VkTimelineSemaphoreSubmitInfo timeline{
        VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, nullptr, 0, nullptr, 1, &ticket};
    const VkSubmitInfo info{
        VK_STRUCTURE_TYPE_SUBMIT_INFO, &timeline, 0, nullptr, nullptr, 1, &commands, 1, &timeline_};
    check(vk_.QueueSubmit(queue_, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
    lastTicket_ = ticket;
    ++counters_.submissions;
    return ticket;
}

std::uint64_t Device::heapLeft(std::uint32_t heap) const {
    const std::uint64_t taken = counters_.heapBytes[heap];
    const std::uint64_t size = memory_.memoryHeaps[heap].size;
    const std::uint64_t left = size > taken ? size - taken : 0;
    if (!hasMemoryBudget_) return left;
    auto budget = structure<VkPhysicalDeviceMemoryBudgetPropertiesEXT>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT);
    auto properties = structure<VkPhysicalDeviceMemoryProperties2>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, &budget);
    instance_->api().GetPhysicalDeviceMemoryProperties2(physical_, &properties);
    const std::uint64_t allowed = budget.heapBudget[heap]; // for all of this process, which uses some already
    const std::uint64_t used = budget.heapUsage[heap];
    return std::min(left, allowed > used ? allowed - used : 0);
}

std::uint64_t Device::memoryLeft() const {
    const auto localSize = [](const VkMemoryHeap& heap) {
        return (heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0 ? heap.size : 0;
    };
    const std::span heaps(memory_.memoryHeaps, memory_.memoryHeapCount);
    return heapLeft(
        static_cast<std::uint32_t>(std::ranges::max_element(heaps, {}, localSize) - heaps.begin()));
}

bool Device::done(Ticket ticket) {
    std::uint64_t reached = 0;
    VkResult result = vk_.GetSemaphoreCounterValue(device_, timeline_, &reached);
    // Some drivers report success and this value once the device is lost.
    if (reached == std::numeric_limits<std::uint64_t>::max()) result = VK_ERROR_DEVICE_LOST;
    check(result, "vkGetSemaphoreCounterValue");
    return reached >= ticket;
}

LoopWatch& Device::loopWatch() {
    std::call_once(loopWatchMade_, [this] {
        loopWatch_ = std::make_unique<LoopWatch>(*this);
        watching_ = loopWatch_.get();
    });
    return *loopWatch_;
}

void Device::wait(Ticket ticket) {
    if (!done(ticket)) waitLong(ticket);
    if (LoopWatch* watch = watching_) watch->check();
}

// In turns of a second, with a look at the counter after each: where a driver loses the wake-up of a wait,
// the work is done, and the wait would go on to its limit.
void Device::waitLong(Ticket ticket) {
    ++counters_.hostWaits;
    const VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, nullptr, 0, 1, &timeline_, &ticket};
    // Software Vulkan compiles a kernel at its first dispatch: tens of seconds for a cold step beside other
    // work.
    const bool patient = software() && options_.waitLimit == DeviceOptions().waitLimit;
    const std::chrono::milliseconds limit = options_.waitLimit * (patient ? 6 : 1);
    const auto end = std::chrono::steady_clock::now() + limit;
    constexpr std::chrono::nanoseconds turn = std::chrono::seconds(1);
    for (;;) {
        const auto left = std::max(end - std::chrono::steady_clock::now(), std::chrono::nanoseconds(0));
        const VkResult result = vk_.WaitSemaphores(
            device_, &info,
            static_cast<std::uint64_t>(std::min<std::chrono::nanoseconds>(turn, left).count()));
        if (result != VK_TIMEOUT) check(result, "vkWaitSemaphores");
        if (done(ticket) || result == VK_SUCCESS) return; // done() throws on a lost device
        if (left <= turn) break;
    }
    abandoned_ = true;
    throw TimeoutError(
        "'" + report_.name + "' did not finish a submission within " + std::to_string(limit.count()) +
        " ms; it hangs, or the submission was too large; try a smaller batch or another device");
}

void Device::waitForAll() {
    wait(lastTicket_); // without the queue's mutex, which presenting may hold for long
}

void Device::runOnce(const std::function<void(VkCommandBuffer)>& record) {
    const VkCommandPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr, 0,
                                           queueFamily_};
    const auto pool =
        create(*this, vk_.CreateCommandPool, vk_.DestroyCommandPool, poolInfo, "vkCreateCommandPool");
    const VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr,
                                               pool.get(), VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
    VkCommandBuffer commands = VK_NULL_HANDLE;
    check(vk_.AllocateCommandBuffers(device_, &allocate, &commands), "vkAllocateCommandBuffers");
    const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                         VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, nullptr};
    check(vk_.BeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    record(commands);
    check(vk_.EndCommandBuffer(commands), "vkEndCommandBuffer");
    wait(submit(commands));
}

std::vector<std::byte> Device::pipelineCacheData() const {
    std::size_t size = 0;
    check(vk_.GetPipelineCacheData(device_, pipelineCache_, &size, nullptr), "vkGetPipelineCacheData");
    std::vector<std::byte> data(size);
    check(vk_.GetPipelineCacheData(device_, pipelineCache_, &size, data.data()), "vkGetPipelineCacheData");
    data.resize(size);
    return wrapPipelineCache(data, cacheIdentity(report_));
}

} // namespace lockstep::gpu
