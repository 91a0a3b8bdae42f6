// Vulkan objects that are destroyed together with what holds them.
#pragma once

#include <memory>

#include "engine/gpu/device.h"
#include "engine/gpu/error.h"

namespace lockstep::gpu {

/// How to destroy an object of a device. A device that hangs may still use it, so it then stays.
template <class Handle> struct Destroyer {
    using pointer = Handle; // the name that std::unique_ptr asks for
    using Function = void(VKAPI_PTR*)(VkDevice, Handle, const VkAllocationCallbacks*);

    const Device* device = nullptr;
    Function function = nullptr;

    void operator()(Handle handle) const {
        if (!device->abandoned()) function(device->handle(), handle, nullptr);
    }
};

/// `get()` is the Vulkan handle.
template <class Handle> using Owned = std::unique_ptr<Handle, Destroyer<Handle>>;

/// Creates an object by `call`, a function of that name in device.vk(). Throws GpuError.
template <class Info, class Handle>
Owned<Handle> create(const Device& device,
                     VkResult(VKAPI_PTR* call)(VkDevice, const Info*, const VkAllocationCallbacks*, Handle*),
                     typename Destroyer<Handle>::Function destroy, const Info& info, const char* name) {
    Handle handle = VK_NULL_HANDLE;
    check(call(device.handle(), &info, nullptr, &handle), name);
    return {handle, {&device, destroy}};
}

} // namespace lockstep::gpu
