// Which memory buffers are placed in on cards whose memory the host reaches in different ways. The tables
// are those of public reports, as in tests/faults/cards.cpp.
#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "engine/gpu/memory_types.h"

using namespace lockstep::gpu;

namespace {

constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags visible =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

VkPhysicalDeviceMemoryProperties memoryOf(const std::vector<std::uint64_t>& heaps,
                                          const std::vector<VkMemoryType>& types) {
    VkPhysicalDeviceMemoryProperties memory{};
    for (const std::uint64_t mebibytes : heaps)
        memory.memoryHeaps[memory.memoryHeapCount++].size = mebibytes << 20;
    for (const VkMemoryType& type : types) memory.memoryTypes[memory.memoryTypeCount++] = type;
    return memory;
}

constexpr std::uint64_t small = 64 << 10;
constexpr std::uint64_t large = 64 << 20;
constexpr std::uint32_t all = ~0u;

std::uint32_t firstOf(const VkPhysicalDeviceMemoryProperties& memory, Memory kind, std::uint64_t bytes) {
    return memoryTypes(memory, all, kind, bytes).front();
}

} // namespace

TEST_CASE("a card with a small window: records live on it, staging and tensors do not fill it") {
    const auto memory = memoryOf(
        {12288, 23920, 246}, {{0, 1}, {local, 0}, {visible, 1}, {visible | cached, 1}, {local | visible, 2}});
    CHECK(firstOf(memory, Memory::upload, small) == 4);
    CHECK(firstOf(memory, Memory::upload, 4 << 20) == 4); // orders of examples
    CHECK(firstOf(memory, Memory::upload, large) == 2);
    CHECK(firstOf(memory, Memory::device, small) == 1);
    CHECK(firstOf(memory, Memory::device, large) == 1);
    CHECK(firstOf(memory, Memory::readback, small) == 3);
    // A full window is no reason to fail: system memory comes next.
    CHECK(memoryTypes(memory, all, Memory::upload, small) == std::vector<std::uint32_t>{4, 2, 3});
}

TEST_CASE("a card with resizable BAR: all of its memory is visible") {
    const auto memory =
        memoryOf({12288, 8000}, {{local, 0}, {visible, 1}, {visible | cached, 1}, {local | visible, 0}});
    CHECK(firstOf(memory, Memory::upload, small) == 3);
    CHECK(firstOf(memory, Memory::upload, large) == 3); // the largest heap that is coherent
    CHECK(firstOf(memory, Memory::device, large) == 0);
    CHECK(firstOf(memory, Memory::readback, large) == 2);
}

TEST_CASE("an old driver maps none of the card's memory") {
    const auto memory = memoryOf({6144, 11968}, {{local, 0}, {visible, 1}, {visible | cached, 1}});
    CHECK(firstOf(memory, Memory::upload, small) == 1);
    CHECK(firstOf(memory, Memory::device, small) == 0);
}

TEST_CASE("one memory for all: kernels, readback and uploads share it") {
    const auto memory = memoryOf({16000}, {{local, 0}, {local | visible, 0}, {local | visible | cached, 0}});
    CHECK(firstOf(memory, Memory::device, large) == 2); // reached without a copy
    CHECK(firstOf(memory, Memory::readback, small) == 2);
    CHECK(firstOf(memory, Memory::upload, small) == 1);
}

TEST_CASE("only the types that a buffer allows") {
    const auto memory = memoryOf({12288, 8000}, {{local, 0}, {visible, 1}, {local | visible, 0}});
    CHECK(memoryTypes(memory, 0b010, Memory::upload, small) == std::vector<std::uint32_t>{1});
    CHECK(memoryTypes(memory, 0b010, Memory::device, small).empty());
}
