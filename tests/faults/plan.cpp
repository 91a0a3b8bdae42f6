#include "tests/faults/plan.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace lockstep::faults {

namespace {

constexpr std::string_view plain[] = {
    "no-device",        "empty-device-list",   "incompatible-driver",  "no-push-descriptors",
    "vulkan-1.1",       "no-timestamps",       "low-limits",           "staged",
    "non-coherent",     "lost-counter",        "suboptimal",           "once",
    "slow-present",     "stuck-present",       "second-queue",         "fifo-only",
    "parked",           "first-shows-nothing", "first-has-no-formats", "waking-clock",
    "double-subgroups", "resting-clock"};

constexpr std::string_view counted[] = {"hang",
                                        "slow-clock",
                                        "coarse-clock",
                                        "budget",
                                        "create",
                                        "vkQueueSubmit",
                                        "vkWaitSemaphores",
                                        "vkGetSemaphoreCounterValue",
                                        "vkCreateDevice",
                                        "vkAllocateMemory",
                                        "vkMapMemory",
                                        "vkAllocateCommandBuffers",
                                        "vkCreateBuffer",
                                        "vkCreateShaderModule",
                                        "vkCreateDescriptorSetLayout",
                                        "vkCreateDescriptorPool",
                                        "vkCreatePipelineLayout",
                                        "vkCreateComputePipelines",
                                        "vkCreatePipelineCache",
                                        "vkCreateCommandPool",
                                        "vkCreateSemaphore",
                                        "vkCreateQueryPool",
                                        "vkCreateGraphicsPipelines",
                                        "vkCreateImage",
                                        "vkCreateImageView",
                                        "vkCreateSampler",
                                        "vkCreateRenderPass",
                                        "vkCreateFramebuffer",
                                        "vkCreateFence",
                                        "vkCreateSwapchainKHR",
                                        "vkWaitForFences",
                                        "vkGetFenceStatus",
                                        "vkQueuePresentKHR",
                                        "out-of-date",
                                        "surface-lost"};

template <std::size_t count> bool contains(const std::string_view (&words)[count], std::string_view word) {
    return std::ranges::find(words, word) != std::end(words);
}

} // namespace

Plan Plan::fromEnvironment() {
    Plan plan;
    const char* text = std::getenv("LOCKSTEP_FAULT");
    std::istringstream words(text == nullptr ? "" : text);
    for (std::string word; std::getline(words, word, ',');) {
        const std::size_t colon = word.find(':');
        const std::string name = word.substr(0, colon);
        if (name == "card" && colon != std::string::npos) {
            plan.card_ = findCard(std::string_view(word).substr(colon + 1));
            if (plan.card_ != nullptr) continue;
        }
        std::uint64_t number = 0;
        if (colon != std::string::npos)
            std::from_chars(word.data() + colon + 1, word.data() + word.size(), number);
        const bool known =
            colon == std::string::npos ? contains(plain, name) : contains(counted, name) && number > 0;
        if (!known) throw std::invalid_argument("LOCKSTEP_FAULT: there is no fault '" + word + "'");
        plan.faults_[name] = number;
    }
    return plan;
}

std::uint64_t Plan::number(std::string_view fault) const {
    const auto found = faults_.find(fault);
    return found == faults_.end() ? 0 : found->second;
}

} // namespace lockstep::faults
