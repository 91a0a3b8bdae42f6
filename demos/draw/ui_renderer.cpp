#include "demos/draw/ui_renderer.h"

#include <algorithm>
#include <cstring>

#include "demos/draw/picture.h"
#include "engine/step/shaders.h"

namespace lockstep::demos {

using gpu::check;
using gpu::structure;

namespace {

struct Params {
    float scale[2];
    float translate[2];
};

// In 1.92.9 the older CmdListsCount stays 0.
int listCount(const ImDrawData& data) {
#if IMGUI_VERSION_NUM >= 18980
    return data.CmdLists.Size;
#else
    return data.CmdListsCount;
#endif
}

void grow(std::optional<HostBuffer>& buffer, Graphics& graphics, std::size_t bytes,
          VkBufferUsageFlags usage) {
    if (buffer && buffer->size() >= bytes) return;
    buffer.emplace(graphics, std::max<std::size_t>(bytes * 3 / 2, 65536), usage);
}

Owned<VkShaderModule> shaderModule(Graphics& graphics, const char* name) {
    const std::span<const std::uint32_t> words = shaderWords(name);
    const VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0,
                                        words.size_bytes(), words.data()};
    return gpu::create(graphics.device(), graphics.vk().CreateShaderModule, graphics.vk().DestroyShaderModule,
                       info, "vkCreateShaderModule");
}

} // namespace

UiRenderer::UiRenderer(Graphics& graphics, VkFormat format, VkImageLayout finalLayout) : graphics_(graphics) {
    createRenderPass(format, finalLayout);
    createPipeline();
}

void UiRenderer::createRenderPass(VkFormat format, VkImageLayout finalLayout) {
    VkAttachmentDescription colour{};
    colour.format = format;
    colour.samples = VK_SAMPLE_COUNT_1_BIT;
    colour.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    colour.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    colour.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
    colour.stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
    colour.finalLayout = finalLayout;
    const VkAttachmentReference reference{0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    VkSubpassDescription subpass{};
    subpass.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS;
    subpass.colorAttachmentCount = 1;
    subpass.pColorAttachments = &reference;
    constexpr VkPipelineStageFlags drawn = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    constexpr VkPipelineStageFlags copied = VK_PIPELINE_STAGE_TRANSFER_BIT;
    // Before: the image was acquired (or copied from). After: it is copied from; presenting waits for a
    // semaphore anyway.
    const VkSubpassDependency around[] = {
        {VK_SUBPASS_EXTERNAL, 0, drawn | copied, drawn, 0, VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT, 0},
        {0, VK_SUBPASS_EXTERNAL, drawn, copied, VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
         VK_ACCESS_TRANSFER_READ_BIT, 0},
    };
    const VkRenderPassCreateInfo info{
        VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO, nullptr, 0, 1, &colour, 1, &subpass, 2, around};
    renderPass_ = gpu::create(graphics_.device(), graphics_.vk().CreateRenderPass,
                              graphics_.vk().DestroyRenderPass, info, "vkCreateRenderPass");
}

void UiRenderer::createPipeline() {
    const gpu::DeviceApi& vk = graphics_.vk();
    const VkPushConstantRange push{VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof(Params)};
    const VkDescriptorSetLayout setLayout = graphics_.pictureLayout();
    const VkPipelineLayoutCreateInfo layout{
        VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, nullptr, 0, 1, &setLayout, 1, &push};
    layout_ = gpu::create(graphics_.device(), vk.CreatePipelineLayout, vk.DestroyPipelineLayout, layout,
                          "vkCreatePipelineLayout");

    const Owned<VkShaderModule> corners = shaderModule(graphics_, "ui_vert");
    const Owned<VkShaderModule> pixels = shaderModule(graphics_, "ui_frag");
    constexpr VkStructureType stage = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    const VkPipelineShaderStageCreateInfo stages[] = {
        {stage, nullptr, 0, VK_SHADER_STAGE_VERTEX_BIT, corners.get(), "main", nullptr},
        {stage, nullptr, 0, VK_SHADER_STAGE_FRAGMENT_BIT, pixels.get(), "main", nullptr},
    };
    const VkVertexInputBindingDescription vertex{0, sizeof(ImDrawVert), VK_VERTEX_INPUT_RATE_VERTEX};
    const VkVertexInputAttributeDescription attributes[] = {
        {0, 0, VK_FORMAT_R32G32_SFLOAT, IM_OFFSETOF(ImDrawVert, pos)},
        {1, 0, VK_FORMAT_R32G32_SFLOAT, IM_OFFSETOF(ImDrawVert, uv)},
        {2, 0, VK_FORMAT_R8G8B8A8_UNORM, IM_OFFSETOF(ImDrawVert, col)},
    };
    const VkPipelineVertexInputStateCreateInfo input{
        VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO, nullptr, 0, 1, &vertex, 3, attributes};
    const VkPipelineInputAssemblyStateCreateInfo assembly{
        VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO, nullptr, 0,
        VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, 0};
    const VkPipelineViewportStateCreateInfo viewport{
        VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO, nullptr, 0, 1, nullptr, 1, nullptr};
    auto raster = structure<VkPipelineRasterizationStateCreateInfo>(
        VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO);
    raster.polygonMode = VK_POLYGON_MODE_FILL;
    raster.lineWidth = 1;
    auto samples = structure<VkPipelineMultisampleStateCreateInfo>(
        VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO);
    samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    VkPipelineColorBlendAttachmentState blended{};
    blended.blendEnable = VK_TRUE;
    blended.srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA;
    blended.dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
    blended.srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE;
    blended.dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
    blended.colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT | VK_COLOR_COMPONENT_B_BIT |
                             VK_COLOR_COMPONENT_A_BIT;
    auto blend = structure<VkPipelineColorBlendStateCreateInfo>(
        VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO);
    blend.attachmentCount = 1;
    blend.pAttachments = &blended;
    const VkDynamicState dynamicStates[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    const VkPipelineDynamicStateCreateInfo dynamic{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
                                                   nullptr, 0, 2, dynamicStates};

    auto info = structure<VkGraphicsPipelineCreateInfo>(VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO);
    info.stageCount = 2;
    info.pStages = stages;
    info.pVertexInputState = &input;
    info.pInputAssemblyState = &assembly;
    info.pViewportState = &viewport;
    info.pRasterizationState = &raster;
    info.pMultisampleState = &samples;
    info.pColorBlendState = &blend;
    info.pDynamicState = &dynamic;
    info.layout = layout_.get();
    info.renderPass = renderPass_.get();
    VkPipeline pipeline = VK_NULL_HANDLE;
    check(graphics_.vk().CreateGraphicsPipelines(
              graphics_.device().handle(), graphics_.device().pipelineCache(), 1, &info, nullptr, &pipeline),
          "vkCreateGraphicsPipelines");
    pipeline_ = {pipeline, {&graphics_.device(), vk.DestroyPipeline}};
}

void UiRenderer::upload(const ImDrawData& data) {
    const std::size_t vertexBytes = static_cast<std::size_t>(data.TotalVtxCount) * sizeof(ImDrawVert);
    const std::size_t indexBytes = static_cast<std::size_t>(data.TotalIdxCount) * sizeof(ImDrawIdx);
    grow(vertices_, graphics_, vertexBytes, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT);
    grow(indices_, graphics_, indexBytes, VK_BUFFER_USAGE_INDEX_BUFFER_BIT);
    std::byte* vertex = vertices_->data();
    std::byte* index = indices_->data();
    const auto append = [](std::byte*& at, const auto& items) {
        const auto bytes = static_cast<std::size_t>(items.size_in_bytes());
        if (bytes > 0) std::memcpy(at, items.Data, bytes);
        at += bytes;
    };
    for (int list = 0; list < listCount(data); ++list) {
        append(vertex, data.CmdLists[list]->VtxBuffer);
        append(index, data.CmdLists[list]->IdxBuffer);
    }
    vertices_->written();
    indices_->written();
}

void UiRenderer::record(VkCommandBuffer commands, VkFramebuffer framebuffer, VkExtent2D extent,
                        const ImDrawData& data) {
    upload(data);
    for (Picture* picture : graphics_.pending()) picture->recordCopy(commands);
    graphics_.pending().clear();
    VkClearValue clear{};
    clear.color.float32[3] = 1;
    auto begin = structure<VkRenderPassBeginInfo>(VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO);
    begin.renderPass = renderPass_.get();
    begin.framebuffer = framebuffer;
    begin.renderArea.extent = extent;
    begin.clearValueCount = 1;
    begin.pClearValues = &clear;
    graphics_.vk().CmdBeginRenderPass(commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
    if (data.TotalVtxCount > 0) recordLists(commands, extent, data);
    graphics_.vk().CmdEndRenderPass(commands);
}

void UiRenderer::recordLists(VkCommandBuffer commands, VkExtent2D extent, const ImDrawData& data) {
    const gpu::DeviceApi& vk = graphics_.vk();
    const VkViewport viewport{0, 0, static_cast<float>(extent.width), static_cast<float>(extent.height),
                              0, 1};
    const VkBuffer vertices = vertices_->handle();
    const VkDeviceSize start = 0;
    const Params params{
        {2 / data.DisplaySize.x, 2 / data.DisplaySize.y},
        {-1 - data.DisplayPos.x * 2 / data.DisplaySize.x, -1 - data.DisplayPos.y * 2 / data.DisplaySize.y}};
    vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline_.get());
    vk.CmdSetViewport(commands, 0, 1, &viewport);
    vk.CmdBindVertexBuffers(commands, 0, 1, &vertices, &start);
    vk.CmdBindIndexBuffer(commands, indices_->handle(), 0,
                          sizeof(ImDrawIdx) == 2 ? VK_INDEX_TYPE_UINT16 : VK_INDEX_TYPE_UINT32);
    vk.CmdPushConstants(commands, layout_.get(), VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof(Params), &params);

    std::uint32_t firstVertex = 0;
    std::uint32_t firstIndex = 0;
    const Picture* bound = nullptr;
    for (int list = 0; list < listCount(data); ++list) {
        const ImDrawList& source = *data.CmdLists[list];
        for (const ImDrawCmd& command : source.CmdBuffer) {
            // Clipped to the frame: scissors must not be negative.
            const ImVec4& clip = command.ClipRect;
            const float left = std::max(clip.x - data.DisplayPos.x, 0.0f);
            const float top = std::max(clip.y - data.DisplayPos.y, 0.0f);
            const float right = std::min(clip.z - data.DisplayPos.x, viewport.width);
            const float bottom = std::min(clip.w - data.DisplayPos.y, viewport.height);
            if (right <= left || bottom <= top) continue;
            const VkRect2D scissor{
                {static_cast<std::int32_t>(left), static_cast<std::int32_t>(top)},
                {static_cast<std::uint32_t>(right - left), static_cast<std::uint32_t>(bottom - top)}};
            vk.CmdSetScissor(commands, 0, 1, &scissor);
            const auto* picture =
                (const Picture*)(std::intptr_t)command.GetTexID(); // NOLINT: see Picture::id
            if (picture != bound) {
                const VkDescriptorSet set = picture->descriptor();
                vk.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, layout_.get(), 0, 1, &set,
                                         0, nullptr);
                bound = picture;
            }
            vk.CmdDrawIndexed(commands, command.ElemCount, 1, firstIndex + command.IdxOffset,
                              static_cast<std::int32_t>(firstVertex + command.VtxOffset), 0);
        }
        firstVertex += static_cast<std::uint32_t>(source.VtxBuffer.Size);
        firstIndex += static_cast<std::uint32_t>(source.IdxBuffer.Size);
    }
}

} // namespace lockstep::demos
