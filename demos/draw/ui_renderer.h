// Draws ImGui's triangles. The backend that comes with ImGui 1.86 cannot show custom textures; this one
// can, and works with every version from 1.86 on.
#pragma once

#include <optional>

#include <imgui.h>

#include "demos/draw/graphics.h"

namespace lockstep::demos {

class UiRenderer {
  public:
    /// For frames of `format` that end in `finalLayout` (to be presented, or to be copied from).
    UiRenderer(Graphics& graphics, VkFormat format, VkImageLayout finalLayout);

    VkRenderPass renderPass() const { return renderPass_.get(); }

    /// Records one frame into `commands`, everything from clearing to the last triangle. The last frame drawn
    /// has to be done.
    void record(VkCommandBuffer commands, VkFramebuffer framebuffer, VkExtent2D extent,
                const ImDrawData& data);

  private:
    void createRenderPass(VkFormat format, VkImageLayout finalLayout);
    void createPipeline();
    void upload(const ImDrawData& data);
    void recordLists(VkCommandBuffer commands, VkExtent2D extent, const ImDrawData& data);

    Graphics& graphics_;
    Owned<VkRenderPass> renderPass_;
    Owned<VkPipelineLayout> layout_;
    Owned<VkPipeline> pipeline_;
    std::optional<HostBuffer> vertices_;
    std::optional<HostBuffer> indices_;
};

} // namespace lockstep::demos
