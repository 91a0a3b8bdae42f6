// VK_LAYER_LOCKSTEP_faults: a Vulkan layer between an unmodified program and a good driver, which injects the
// faults that good drivers refuse to show. What it does is read from the environment when an instance is
// made:
//
//   VK_LAYER_PATH=<folder of the manifest>  VK_INSTANCE_LAYERS=VK_LAYER_LOCKSTEP_faults
//   LOCKSTEP_FAULT=<fault>[,<fault>...]
//
//   no-device             no physical device: a loader with drivers and no device of theirs reports an error
//   empty-device-list     no physical device, and no error
//   incompatible-driver   vkCreateInstance finds no driver
//   no-push-descriptors   devices do not offer VK_KHR_push_descriptor
//   vulkan-1.1            devices offer Vulkan 1.1
//   no-timestamps         queues have no timestamps
//   slow-clock:N          timestamps say that everything takes N times as long
//   waking-clock          timestamps say that work takes four times as long at first, and less and less so
//                         over the first second after the first of them, as on a card that idled
//   resting-clock         the same, resting at two and a half times as long for half of that second
//   double-subgroups      devices report subgroups of twice the size that kernels run in
//   coarse-clock:N        timestamps move by N ticks
//   low-limits            no more than the specification's required minimum (128 invocations, 16 KiB shared)
//   non-coherent          mapped memory shows nothing of the other side's writes until flushed or invalidated
//   staged                device-local memory cannot be mapped
//   card:NAME             devices are a graphics card of cards.cpp: names, limits, queues, memory, clock
//   second-queue          the first queue family has one queue more
//   budget:N              devices have VK_EXT_memory_budget, which allows the program N MiB of every heap
//   hang:N                the N-th submission and all after it never finish
//   lost-counter          a lost device answers vkGetSemaphoreCounterValue with the largest number, not an
//                         error
//   create:N              the N-th creation, allocation or mapping of any kind finds no device memory
//   vkFunction:N          the N-th call of that function fails: VK_ERROR_DEVICE_LOST from vkQueueSubmit,
//                         vkQueuePresentKHR, and what waits for or looks at semaphores and fences (then the
//                         device stays lost), VK_ERROR_OUT_OF_DEVICE_MEMORY from what creates
//   out-of-date:N         the N-th call of vkAcquireNextImageKHR or vkQueuePresentKHR finds that the window
//                         has changed
//   surface-lost:N        the N-th call of these finds the window's surface lost, and lost it stays
//   suboptimal            every frame is presented, and could be better
//   slow-present          vkQueuePresentKHR takes 200 ms in FIFO mode, as if it waited for the screen
//   stuck-present         in FIFO mode, the eleventh vkQueuePresentKHR never returns
//   fifo-only             surfaces offer no other mode
//   parked                in FIFO mode, after the first ten vkAcquireNextImageKHR has no image any more
//   first-shows-nothing   the first device listed offers surfaces, and fails to make a swapchain
//   first-has-no-formats  the first device listed loses surfaces when it is asked for their formats
//   once                  what is counted fails only once, whatever instances come later
//
// Calls are counted over all devices since the last instance was made.
#pragma once

#include <atomic>
#include <cstdint>

namespace lockstep::faults {

/// What the layer has seen since the last instance was made.
struct Report {
    std::atomic<std::uint64_t> injected{0};      ///< faults of a counted call
    std::atomic<std::uint64_t> creations{0};     ///< calls that `create:N` counts
    std::atomic<std::uint64_t> submissions{0};   ///< calls of vkQueueSubmit
    std::atomic<std::uint64_t> waits{0};         ///< calls of vkWaitSemaphores
    std::atomic<std::uint64_t> counterReads{0};  ///< calls of vkGetSemaphoreCounterValue
    std::atomic<std::uint64_t> flushes{0};       ///< ranges
    std::atomic<std::uint64_t> invalidations{0}; ///< ranges
    std::atomic<std::uint32_t> memoryFlags{0};   ///< properties of the memory that was allocated last
    std::atomic<std::uint64_t> devices{0};       ///< made
    std::atomic<std::uint64_t> destroyed{0};     ///< devices destroyed
    std::atomic<std::uint64_t> lent{0};          ///< frames that copy what they wait for to pictures
    std::atomic<std::int64_t> leaked{0};         ///< objects left when their device was destroyed
    /// What a program must not do, and a forgiving driver hides: endless waits, destruction of what a hanging
    /// device may use, mapping what cannot be mapped, ranges not aligned, a queue used by two threads at
    /// once, what a card needs and was not asked for, a kernel, fill or copy of buffers that writes to what a
    /// frame on another queue copies to a picture, where the later does not wait for the earlier. Each is
    /// explained on stderr.
    ///
    /// Lent bytes: a kernel counts as writing to all that is bound where its shader may write. Work is over
    /// once the program has seen its fence or timeline say so, or has waited for an idle queue or device,
    /// however fast the driver is. Queues that wait for each other by way of a third are reported, too. Not
    /// seen: writes of the host and of vkCmdCopyImageToBuffer, buffers that share memory, indirect
    /// dispatches, secondary command buffers, stages that a wait leaves out, missing barriers within a queue.
    std::atomic<std::uint64_t> misuses{0};
};

/// Name of the function that the library exports: `const Report* lockstepFaultReport()`.
inline constexpr const char* reportFunction = "lockstepFaultReport";
using ReportFunction = const Report* (*)();

/// Likewise `void lockstepFailNext(const char* function)`: the next call of that function fails, as with
/// vkFunction:N, whatever the environment said of it.
inline constexpr const char* failNextFunction = "lockstepFailNext";
using FailNextFunction = void (*)(const char*);

} // namespace lockstep::faults
