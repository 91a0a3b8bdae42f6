#include "engine/gpu/texel_views.h"

#include "engine/gpu/error.h"

namespace lockstep::gpu {

TexelViews::~TexelViews() {
    if (device_.abandoned()) return;
    for (const auto& [range, view] : views_) device_.vk().DestroyBufferView(device_.handle(), view, nullptr);
}

VkBufferView TexelViews::of(const BufferView& view, TexelFormat format) {
    const std::lock_guard lock(mutex_);
    const auto [found, isNew] =
        views_.try_emplace({view.buffer, view.offset, view.size, format}, VK_NULL_HANDLE);
    if (!isNew) return found->second;
    auto info = structure<VkBufferViewCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO);
    info.buffer = view.buffer;
    const bool halves = format == TexelFormat::halves; // every device reads these two
    info.format = halves ? VK_FORMAT_R16G16B16A16_SFLOAT : VK_FORMAT_R32G32B32A32_SFLOAT;
    info.offset = view.offset;
    const std::uint64_t texel = halves ? 8 : 16;
    info.range = view.size / texel * texel;
    const VkResult result = device_.vk().CreateBufferView(device_.handle(), &info, nullptr, &found->second);
    if (result != VK_SUCCESS) views_.erase(found);
    check(result, "vkCreateBufferView");
    return found->second;
}

void TexelViews::forget(VkBuffer buffer) noexcept {
    const std::lock_guard lock(mutex_);
    const auto begin = views_.lower_bound({buffer, 0, 0, TexelFormat::floats});
    auto end = begin;
    for (; end != views_.end() && std::get<0>(end->first) == buffer; ++end)
        device_.vk().DestroyBufferView(device_.handle(), end->second, nullptr);
    views_.erase(begin, end);
}

} // namespace lockstep::gpu
