// Draws ImGui's triangles. The backend that comes with ImGui 1.86 cannot show custom textures; this one
// can, and works with every version from 1.86 on.
#pragma once

#include <memory>

#include <imgui.h>

#include "demos/draw/graphics.h"

namespace lockstep::demos {

class UiRenderer {
  public:
    /// For frames of `format` that end in `finalLayout` (to be presented, or to be copied from).
    UiRenderer(Graphics& graphics, VkFormat format, VkImageLayout finalLayout);
    ~UiRenderer();
    UiRenderer(const UiRenderer&) = delete;
    UiRenderer& operator=(const UiRenderer&) = delete;

    VkRenderPass renderPass() const { return renderPass_; }

    /// Records one frame into `commands`, everything from clearing to the last triangle. The last frame drawn
    /// has to be done.
    void record(VkCommandBuffer commands, VkFramebuffer framebuffer, VkExtent2D extent,
                const ImDrawData& data);

  private:
    void createRenderPass(VkFormat format, VkImageLayout finalLayout);
    void createPipeline();
    VkShaderModule shaderModule(const char* name);
    void upload(const ImDrawData& data);
    void recordLists(VkCommandBuffer commands, VkExtent2D extent, const ImDrawData& data);
    void release() noexcept;

    Graphics& graphics_;
    VkRenderPass renderPass_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkPipeline pipeline_ = VK_NULL_HANDLE;
    std::unique_ptr<HostBuffer> vertices_;
    std::unique_ptr<HostBuffer> indices_;
};

} // namespace lockstep::demos
