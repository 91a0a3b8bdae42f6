// Trains on a device that the host has opened and uses itself, such as a game's: both submit to one queue,
// and a mutex keeps them apart.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include <vulkan/vulkan.h>

#include <lockstep/data/data_source.h>
#include <lockstep/gpu/device_features.h>
#include <lockstep/run/make_trainer.h>

using namespace lockstep;

namespace {

void check(VkResult result, const char* call) {
    if (result == VK_SUCCESS) return;
    std::fprintf(stderr, "%s failed: %d\n", call, result);
    std::exit(1);
}

/// What the host does with its device, frame by frame: here, nothing but a submission.
class HostWork {
  public:
    HostWork(VkDevice device, VkQueue queue, std::uint32_t family, std::mutex& mutex)
        : device_(device), queue_(queue), mutex_(mutex) {
        VkCommandPoolCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
        info.queueFamilyIndex = family;
        check(vkCreateCommandPool(device, &info, nullptr, &pool_), "vkCreateCommandPool");
        VkCommandBufferAllocateInfo allocate{};
        allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
        allocate.commandPool = pool_;
        allocate.commandBufferCount = 1;
        check(vkAllocateCommandBuffers(device, &allocate, &commands_), "vkAllocateCommandBuffers");
        VkCommandBufferBeginInfo begin{};
        begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
        check(vkBeginCommandBuffer(commands_, &begin), "vkBeginCommandBuffer");
        check(vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
        VkFenceCreateInfo fence{};
        fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
        check(vkCreateFence(device, &fence, nullptr, &fence_), "vkCreateFence");
    }
    ~HostWork() {
        vkDestroyFence(device_, fence_, nullptr);
        vkDestroyCommandPool(device_, pool_, nullptr);
    }
    HostWork(const HostWork&) = delete;

    void frame() {
        VkSubmitInfo submit{};
        submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
        submit.commandBufferCount = 1;
        submit.pCommandBuffers = &commands_;
        {
            const std::lock_guard lock(mutex_);
            check(vkQueueSubmit(queue_, 1, &submit, fence_), "vkQueueSubmit");
        }
        check(vkWaitForFences(device_, 1, &fence_, VK_TRUE, longest), "vkWaitForFences");
        check(vkResetFences(device_, 1, &fence_), "vkResetFences");
    }

  private:
    static constexpr std::uint64_t longest = 60'000'000'000; // nanoseconds, also behind training in software

    VkDevice device_;
    VkQueue queue_;
    std::mutex& mutex_;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;
    VkFence fence_ = VK_NULL_HANDLE;
};

std::uint32_t computingFamily(VkPhysicalDevice physical) {
    std::uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families.data());
    std::uint32_t family = 0;
    while (family + 1 < count && (families[family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) ++family;
    return family;
}

} // namespace

int main() {
    VkApplicationInfo application{};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = VK_API_VERSION_1_2;
    VkInstanceCreateInfo instanceInfo{};
    instanceInfo.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    instanceInfo.pApplicationInfo = &application;
    gpu::HostDevice host;
    host.getInstanceProcAddr = vkGetInstanceProcAddr;
    check(vkCreateInstance(&instanceInfo, nullptr, &host.instance), "vkCreateInstance");
    std::uint32_t one = 1; // the first device that there is
    const VkResult listed = vkEnumeratePhysicalDevices(host.instance, &one, &host.physical);
    if (one == 0) {
        std::fprintf(stderr, "there is no Vulkan device\n");
        return 1;
    }
    check(listed == VK_INCOMPLETE ? VK_SUCCESS : listed, "vkEnumeratePhysicalDevices");

    const gpu::DeviceFeatures wanted(vkGetInstanceProcAddr, host.instance, host.physical);
    host.queueFamily = computingFamily(host.physical);
    const float priority = 1;
    VkDeviceQueueCreateInfo queueInfo{};
    queueInfo.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queueInfo.queueFamilyIndex = host.queueFamily;
    queueInfo.queueCount = 1;
    queueInfo.pQueuePriorities = &priority;
    VkDeviceCreateInfo deviceInfo{};
    deviceInfo.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    deviceInfo.pNext = wanted.chain();
    deviceInfo.queueCreateInfoCount = 1;
    deviceInfo.pQueueCreateInfos = &queueInfo;
    deviceInfo.enabledExtensionCount = static_cast<std::uint32_t>(wanted.extensions.size());
    deviceInfo.ppEnabledExtensionNames = wanted.extensions.data();
    check(vkCreateDevice(host.physical, &deviceInfo, nullptr, &host.device), "vkCreateDevice");
    vkGetDeviceQueue(host.device, host.queueFamily, 0, &host.queue);
    std::mutex queueMutex;
    host.queueMutex = &queueMutex;
    host.created = &deviceInfo;

    {
        gpu::DeviceOptions options;
        options.host = host;
        gpu::Device device(options);
        const Dataset data = loadDataset("spiral");
        TrainJob job;
        job.data = &data;
        job.shape.widths = {data.inputs, 32, 32, data.classes};
        job.shape.activation = Activation::tanh;
        job.settings.optimizer.learningRate = 0.01;

        std::atomic<bool> over{false};
        std::size_t frames = 0;
        std::thread frameLoop([&] {
            HostWork work(host.device, host.queue, host.queueFamily, queueMutex);
            for (; !over; ++frames) work.frame();
        });
        const auto trainer = makeTrainer(job, laneSpecFromText("gpu:blocked"), {}, &device);
        trainer->run(1000);
        const double accuracy = trainer->evaluate(Split::test).accuracy;
        over = true;
        frameLoop.join();
        std::printf("%s: test accuracy %.1f %%, beside %zu frames of the host's\n",
                    trainer->machine().device.c_str(), 100 * accuracy, frames);
    }
    vkDestroyDevice(host.device, nullptr);
    vkDestroyInstance(host.instance, nullptr);
}
