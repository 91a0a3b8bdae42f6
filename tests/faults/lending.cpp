#include "tests/faults/lending.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "engine/gpu/reflection.h"
#include "tests/faults/layer.h"

namespace lockstep::faults {

namespace {

// What the reflection refuses, such as a shader that draws, counts as writing everything.
constexpr std::uint64_t everyBinding = ~std::uint64_t{0};

std::uint64_t writtenBindings(std::span<const std::uint32_t> words) {
    try {
        std::uint64_t written = 0;
        for (const gpu::ShaderBinding& binding : gpu::reflect(words, {}, "of the program").bindings)
            if (binding.writes) written |= std::uint64_t{1} << binding.binding;
        return written;
    } catch (const std::runtime_error&) {
        return everyBinding;
    }
}

void reportOverlap(const ByteRanges& written, const ByteRanges& shown, const char* when) {
    for (const ByteRange& target : written)
        for (const ByteRange& source : shown) {
            const std::uint64_t begin = std::max(target.begin, source.begin);
            const std::uint64_t end = std::min(target.end, source.end);
            if (target.buffer != source.buffer || begin >= end) continue;
            const std::string sizes =
                std::to_string(end - begin) + " of the " + std::to_string(source.end - source.begin);
            misuse(("a kernel writes to bytes that " + std::string(when) + ": " + sizes).c_str());
            return;
        }
}

} // namespace

ByteRange byteRange(VkBuffer buffer, std::uint64_t offset, std::uint64_t size) {
    return {buffer, offset, size == VK_WHOLE_SIZE ? VK_WHOLE_SIZE : offset + size};
}

void bindStorage(Bindings& bound, std::span<const VkWriteDescriptorSet> writes) {
    for (const VkWriteDescriptorSet& write : writes) {
        if (write.descriptorType != VK_DESCRIPTOR_TYPE_STORAGE_BUFFER) continue; // texels are only read
        for (std::uint32_t i = 0; i < write.descriptorCount; ++i) {
            const VkDescriptorBufferInfo& info = write.pBufferInfo[i];
            bound[write.dstBinding + i] = byteRange(info.buffer, info.offset, info.range);
        }
    }
}

void Lending::addShader(VkShaderModule shader, std::span<const std::uint32_t> words) {
    const std::uint64_t written = writtenBindings(words);
    const std::lock_guard lock(mutex_);
    shaders_[shader] = written;
}

void Lending::addPipeline(VkPipeline pipeline, VkShaderModule shader) {
    const std::lock_guard lock(mutex_);
    pipelines_[pipeline] = shaders_.at(shader);
}

void Lending::update(std::span<const VkWriteDescriptorSet> writes) {
    const std::lock_guard lock(mutex_);
    for (const VkWriteDescriptorSet& write : writes) bindStorage(sets_[write.dstSet], {&write, 1});
}

void Lending::forget(VkBuffer buffer) {
    const std::lock_guard lock(mutex_);
    const auto ofBuffer = [buffer](const ByteRange& range) { return range.buffer == buffer; };
    for (Work& work : underWay_) {
        std::erase_if(work.written, ofBuffer);
        std::erase_if(work.shown, ofBuffer);
    }
}

Recorded& Lending::recorded(VkCommandBuffer commands) {
    const std::lock_guard lock(mutex_);
    return recorded_[commands];
}

void Lending::bind(VkCommandBuffer commands, VkDescriptorSet set) {
    const std::lock_guard lock(mutex_);
    recorded_[commands].bound = sets_[set];
}

void Lending::dispatch(VkCommandBuffer commands) {
    const std::lock_guard lock(mutex_);
    Recorded& recorded = recorded_[commands];
    const std::uint64_t written = pipelines_[recorded.pipeline];
    for (const auto& [binding, range] : recorded.bound)
        if ((written >> binding & 1u) != 0) recorded.written.insert(range);
}

Lending::Work Lending::workOf(const VkSubmitInfo& submit) const {
    Work work;
    const VkTimelineSemaphoreSubmitInfo* values = nullptr;
    for (const auto* link = static_cast<const VkBaseInStructure*>(submit.pNext); link != nullptr;
         link = link->pNext)
        if (link->sType == VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO)
            values = reinterpret_cast<const VkTimelineSemaphoreSubmitInfo*>(link);
    const std::uint32_t waited = values == nullptr ? 0 : values->waitSemaphoreValueCount;
    const std::uint32_t signalled = values == nullptr ? 0 : values->signalSemaphoreValueCount;
    for (std::uint32_t i = 0; i < submit.waitSemaphoreCount; ++i)
        work.waits.push_back({submit.pWaitSemaphores[i], i < waited ? values->pWaitSemaphoreValues[i] : 0});
    for (std::uint32_t i = 0; i < submit.signalSemaphoreCount; ++i)
        work.signals.push_back(
            {submit.pSignalSemaphores[i], i < signalled ? values->pSignalSemaphoreValues[i] : 0});
    for (const VkCommandBuffer commands : std::span(submit.pCommandBuffers, submit.commandBufferCount)) {
        const auto found = recorded_.find(commands);
        if (found == recorded_.end()) continue;
        work.written.insert(found->second.written.begin(), found->second.written.end());
        work.shown.insert(found->second.shown.begin(), found->second.shown.end());
    }
    return work;
}

bool Lending::waitsFor(const Work& later, const Work& earlier) {
    return std::ranges::any_of(later.waits, [&](const Point& wait) {
        return std::ranges::any_of(earlier.signals, [&](const Point& signal) {
            return signal.semaphore == wait.semaphore && signal.value <= wait.value;
        });
    });
}

void Lending::submit(VkQueue queue, std::span<const VkSubmitInfo> submits, VkFence fence) {
    const std::lock_guard lock(mutex_);
    for (const VkSubmitInfo& submit : submits) {
        Work work = workOf(submit);
        work.queue = queue;
        work.fence = fence;
        const bool awaits = std::ranges::any_of(work.waits, [](const Point& wait) { return wait.value > 0; });
        if (awaits && !work.shown.empty()) ++report().lent;
        for (Work& earlier : underWay_) {
            // What a queue has waited for, its later work waits for, too.
            if (waitsFor(work, earlier)) earlier.awaitedBy.insert(queue);
            if (earlier.queue == queue || earlier.awaitedBy.contains(queue)) continue;
            reportOverlap(work.written, earlier.shown, "a frame under way still copies from");
            reportOverlap(earlier.written, work.shown, "a frame copies from without waiting for it");
        }
        if (!work.written.empty() || !work.shown.empty()) underWay_.push_back(std::move(work));
    }
}

void Lending::seen(VkFence fence) {
    const std::lock_guard lock(mutex_);
    std::erase_if(underWay_, [fence](const Work& work) { return work.fence == fence; });
}

void Lending::seen(VkSemaphore timeline, std::uint64_t value) {
    const std::lock_guard lock(mutex_);
    std::erase_if(underWay_, [&](const Work& work) {
        return std::ranges::any_of(work.signals, [&](const Point& signal) {
            return signal.semaphore == timeline && signal.value <= value;
        });
    });
}

void Lending::seenIdle(VkQueue queue) {
    const std::lock_guard lock(mutex_);
    std::erase_if(underWay_,
                  [queue](const Work& work) { return queue == VK_NULL_HANDLE || work.queue == queue; });
}

} // namespace lockstep::faults
