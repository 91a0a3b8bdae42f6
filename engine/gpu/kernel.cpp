#include "engine/gpu/kernel.h"

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "engine/gpu/bounded_access.h"
#include "engine/gpu/buffer.h"
#include "engine/gpu/loop_limit.h"
#include "engine/gpu/loop_watch.h"
#include "engine/gpu/matrix_dialect.h"
#include "engine/gpu/shader_rules.h"
#include "engine/gpu/workgroup_clock.h"

namespace lockstep::gpu {

VkDescriptorType descriptorType(BindingKind kind) {
    return kind == BindingKind::texels ? VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER
                                       : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
}

namespace {

std::uint64_t nextId() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

} // namespace

AnyKernel::AnyKernel(Device& device, const KernelSource& given)
    : device_(&device), id_(nextId()), name_(given.name),
      shader_(given.shader.empty() ? given.name : given.shader), variant_(given.variant),
      texels_(given.texels) {
    if (given.words.empty()) throw std::runtime_error("there is no shader '" + name_ + "'");
    if (given.edited) requireHarmless(given.words, given.constants, name_, device.limits());
    info_ = reflect(given.words, given.constants, name_);
    KernelSource source = given;
    std::vector<std::uint32_t> translated;
    if (info_.matrices == MatrixDialect::nv && device.limits().matrixTiles.dialect() == MatrixDialect::khr) {
        source.words = translated = toKhrMatrices(given.words, name_);
        info_.matrices = MatrixDialect::khr;
    }
    if (!source.buffersOf.empty()) addUnusedBuffers(source);
    const WorkItems& items = source.itemsPerGroup;
    itemsPerGroup_ = {items.x != 0 ? items.x : info_.groupSize[0],
                      items.y != 0 ? items.y : info_.groupSize[1],
                      items.z != 0 ? items.z : info_.groupSize[2]};
    std::vector<std::uint32_t> bounded, limited, clocked;
    if (source.edited) {
        source.words = bounded =
            boundAccesses(source.words, source.constants, name_, device.limits().subgroupSize);
        source.words = limited = limitedLoops(source);
    }
    if (source.workgroupClock) {
        const std::uint32_t binding = asUint(info_.bindings.size());
        source.words = clocked = withWorkgroupClock(source.words, name_, binding);
        info_.bindings.push_back({binding, "workgroups", BindingKind::storage, true, true});
        clocked_ = true;
    }
    checkLimits();
    if (source.edited) { // the next version will differ
        pipeline_ = created(source);
        return;
    }
    Pipelines::Key key = keyOf(source);
    pipeline_ = device.pipelines().find(key);
    if (!pipeline_) pipeline_ = device.pipelines().keep(std::move(key), created(source));
}

std::shared_ptr<const Pipeline> AnyKernel::created(const KernelSource& source) const {
    auto made = std::make_shared<Pipeline>();
    createLayout(*made);
    createPipeline(source, *made);
    return made;
}

Pipelines::Key AnyKernel::keyOf(const KernelSource& source) const {
    Pipelines::Key key{asUint(source.words.size()), asUint(source.constants.size()), info_.pushConstantBytes,
                       asUint(info_.matrices)};
    key.insert(key.end(), source.words.begin(), source.words.end());
    for (const auto& [id, value] : source.constants) key.insert(key.end(), {id, value});
    for (const ShaderBinding& binding : info_.bindings)
        key.insert(key.end(), {binding.binding, asUint(binding.kind)});
    return key;
}

// Where the device has no room for one more buffer, loops end all the same, and nobody is told.
std::vector<std::uint32_t> AnyKernel::limitedLoops(const KernelSource& source) {
    const auto storage = std::ranges::count(info_.bindings, BindingKind::storage, &ShaderBinding::kind);
    std::optional<LoopReport> report;
    if (static_cast<std::uint64_t>(storage) < device_->limits().storageBuffers &&
        info_.bindings.size() < mostBindings) {
        LoopWatch& watch = device_->loopWatch();
        report = {asUint(info_.bindings.size()), [&](const std::string& place) { return watch.add(place); }};
        info_.bindings.push_back({report->binding, "loops", BindingKind::storage, false, true});
        watched_ = true;
    }
    return limitLoops(source.words, source.constants, name_, report);
}

bool AnyKernel::firstUse(std::span<const BufferView> views) const {
    std::uint64_t hash = 0xCBF29CE484222325u; // FNV-1a over sizes
    for (const BufferView& view : views) hash = (hash ^ view.size) * 0x100000001B3u;
    return usedSizes_.insert(hash).second;
}

// Compilers remove unused bindings.
void AnyKernel::addUnusedBuffers(const KernelSource& source) {
    for (const ShaderBinding& given : reflect(source.buffersOf, {}, name_).bindings)
        if (std::ranges::find(info_.bindings, given.binding, &ShaderBinding::binding) == info_.bindings.end())
            info_.bindings.push_back({given.binding, given.name, given.kind, false, false});
    std::ranges::sort(info_.bindings, {}, &ShaderBinding::binding);
}

// Software drivers accept shaders that exceed these limits, and compute wrong results.
void AnyKernel::checkLimits() const {
    const Limits& limits = device_->limits();
    const MatrixTiles& tiles = limits.matrixTiles;
    if ((info_.matrices == MatrixDialect::khr && tiles.khr.m == 0) ||
        (info_.matrices == MatrixDialect::nv && tiles.nv.m == 0))
        throw std::runtime_error("kernel '" + name_ + "' needs cooperative matrices, which '" +
                                 device_->report().name + "' does not support");
    const auto require = [&](std::uint64_t value, std::uint64_t limit, const char* what) {
        if (value > limit)
            throw std::runtime_error("kernel '" + name_ + "' needs " + std::to_string(value) + " " + what +
                                     "; '" + device_->report().name + "' has " + std::to_string(limit));
    };
    const std::uint64_t invocations =
        std::uint64_t{info_.groupSize[0]} * info_.groupSize[1] * info_.groupSize[2];
    require(invocations, limits.groupInvocations, "invocations per workgroup");
    if (invocations == 0) throw std::runtime_error("kernel '" + name_ + "' has workgroups of no invocations");
    for (std::size_t axis = 0; axis < 3; ++axis)
        require(info_.groupSize[axis], limits.groupSize[axis], "invocations along one axis");
    require(info_.sharedBytes, limits.sharedMemory, "bytes of shared memory");
    require(info_.pushConstantBytes, limits.pushConstants, "bytes of push constants");
    require(info_.bindings.size(), mostBindings, "buffers");
    const auto storage = std::ranges::count(info_.bindings, BindingKind::storage, &ShaderBinding::kind);
    require(static_cast<std::uint64_t>(storage), limits.storageBuffers, "storage buffers");
    if (limits.pushDescriptors > 0)
        require(info_.bindings.size(), limits.pushDescriptors, "push descriptors");
}

void AnyKernel::createLayout(Pipeline& made) const {
    const DeviceApi& vk = device_->vk();
    std::vector<VkDescriptorSetLayoutBinding> bindings;
    for (std::uint32_t index = 0; index < info_.bindings.size(); ++index) {
        if (info_.bindings[index].binding != index)
            throw std::runtime_error("kernel '" + name_ + "' leaves binding " + std::to_string(index) +
                                     " unused");
        const VkDescriptorType type = descriptorType(info_.bindings[index].kind);
        bindings.push_back({index, type, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
    }
    auto setInfo =
        structure<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
    if (device_->limits().pushDescriptors > 0)
        setInfo.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR;
    setInfo.bindingCount = static_cast<std::uint32_t>(bindings.size());
    setInfo.pBindings = bindings.data();
    made.setLayout = create(*device_, vk.CreateDescriptorSetLayout, vk.DestroyDescriptorSetLayout, setInfo,
                            "vkCreateDescriptorSetLayout");

    const VkDescriptorSetLayout set = made.setLayout.get();
    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, info_.pushConstantBytes};
    auto layoutInfo = structure<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    layoutInfo.setLayoutCount = 1;
    layoutInfo.pSetLayouts = &set;
    layoutInfo.pushConstantRangeCount = info_.pushConstantBytes == 0 ? 0 : 1;
    layoutInfo.pPushConstantRanges = &range;
    made.layout = create(*device_, vk.CreatePipelineLayout, vk.DestroyPipelineLayout, layoutInfo,
                         "vkCreatePipelineLayout");
}

void AnyKernel::createPipeline(const KernelSource& source, Pipeline& made) const {
    const DeviceApi& vk = device_->vk();
    const VkShaderModuleCreateInfo moduleInfo{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0,
                                              source.words.size_bytes(), source.words.data()};
    const auto module =
        create(*device_, vk.CreateShaderModule, vk.DestroyShaderModule, moduleInfo, "vkCreateShaderModule");

    std::vector<VkSpecializationMapEntry> entries;
    std::vector<std::uint32_t> values;
    for (const auto& [id, value] : source.constants) {
        const auto offset = static_cast<std::uint32_t>(values.size() * sizeof(std::uint32_t));
        entries.push_back({id, offset, sizeof(std::uint32_t)});
        values.push_back(value);
    }
    const VkSpecializationInfo specialization{asUint(entries.size()), entries.data(),
                                              values.size() * sizeof(std::uint32_t), values.data()};

    auto info = structure<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
    info.flags = VK_PIPELINE_CREATE_DISPATCH_BASE_BIT; // the recorder cuts long dispatches
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    if (info_.matrices != MatrixDialect::none)
        info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module.get();
    info.stage.pName = "main";
    info.stage.pSpecializationInfo = &specialization;
    info.layout = made.layout.get();
    VkPipeline pipeline = VK_NULL_HANDLE;
    check(
        vk.CreateComputePipelines(device_->handle(), device_->pipelineCache(), 1, &info, nullptr, &pipeline),
        ("vkCreateComputePipelines for kernel '" + name_ + "'").c_str());
    made.pipeline = {pipeline, {device_, vk.DestroyPipeline}};
}

WorkItems AnyKernel::groupsFor(const WorkItems& items) const {
    const auto along = [](std::uint32_t count, std::uint32_t perGroup) {
        return count / perGroup + (count % perGroup != 0 ? 1 : 0);
    };
    const WorkItems groups{along(items.x, itemsPerGroup_.x), along(items.y, itemsPerGroup_.y),
                           along(items.z, itemsPerGroup_.z)};
    const std::uint32_t* limit = device_->limits().groupCount;
    if (groups.x > limit[0] || groups.y > limit[1] || groups.z > limit[2])
        throw GpuError("kernel '" + name_ + "' would need " + std::to_string(groups.x) + "x" +
                       std::to_string(groups.y) + "x" + std::to_string(groups.z) + " workgroups; '" +
                       device_->report().name + "' allows " + std::to_string(limit[0]) + "x" +
                       std::to_string(limit[1]) + "x" + std::to_string(limit[2]));
    return groups;
}

} // namespace lockstep::gpu
