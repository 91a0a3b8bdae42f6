// Start at record(): emit a barrier if order() asks for one, bind, set the push constants, dispatch.
// dispatchBytes() checks the buffers before and cuts what would take too long. The rest creates and submits
// command buffers, and reads from their timestamps when each dispatch ran.
#include "engine/gpu/recorder.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "engine/gpu/error.h"
#include "engine/gpu/loop_watch.h"

namespace lockstep::gpu {

namespace {

constexpr VkPipelineStageFlags kernelStage = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
constexpr VkPipelineStageFlags workStages = kernelStage | VK_PIPELINE_STAGE_TRANSFER_BIT;

constexpr VkAccessFlags writesOf(VkPipelineStageFlags stages) {
    return VK_ACCESS_SHADER_WRITE_BIT | (stages == workStages ? VK_ACCESS_TRANSFER_WRITE_BIT : 0);
}
constexpr VkAccessFlags accessesOf(VkPipelineStageFlags stages) {
    return writesOf(stages) | VK_ACCESS_SHADER_READ_BIT |
           (stages == workStages ? VK_ACCESS_TRANSFER_READ_BIT : 0);
}

constexpr std::size_t mostClockRegions = 65; // the last of them is never read
constexpr std::uint64_t clockRegionBytes =
    (4 * (clockHeaderWords + std::uint64_t{clockRecordWords} * mostClockedGroups) + 255) / 256 * 256;

Access accessOf(const BufferView& view, bool reads, bool writes) {
    return {reinterpret_cast<std::uint64_t>(view.buffer), view.offset, view.size, reads, writes};
}

void raise(std::atomic<std::uint64_t>& largest, double value) {
    const auto candidate = static_cast<std::uint64_t>(value);
    for (std::uint64_t now = largest; now < candidate && !largest.compare_exchange_weak(now, candidate);) {
    }
}

} // namespace

Recorder::Recorder(Device& device) : device_(device) {
    const DeviceApi& vk = device_.vk();
    const VkCommandPoolCreateInfo poolInfo{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr,
                                           VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                           device_.queueFamily()};
    pool_ = create(device_, vk.CreateCommandPool, vk.DestroyCommandPool, poolInfo, "vkCreateCommandPool");
    for (Slot& slot : slots_) {
        const VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr,
                                                   pool_.get(), VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
        check(vk.AllocateCommandBuffers(device_.handle(), &allocate, &slot.commands),
              "vkAllocateCommandBuffers");
        if (device_.limits().pushDescriptors == 0) slot.sets = std::make_unique<DescriptorSets>(device_);
        if (device_.limits().timestampNanoseconds <= 0) continue;
        const VkQueryPoolCreateInfo queryInfo{
            VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, nullptr, 0, VK_QUERY_TYPE_TIMESTAMP, queries, 0};
        slot.queries =
            create(device_, vk.CreateQueryPool, vk.DestroyQueryPool, queryInfo, "vkCreateQueryPool");
    }
}

Recorder::~Recorder() {
    try {
        if (!device_.abandoned()) finish();
    } catch (const std::exception&) {
        // If the device is lost, nothing runs any more. If it hangs, it is abandoned now.
    }
}

void Recorder::requireRecording(const std::string& what) const {
    if (!recording_) throw std::logic_error("'" + what + "' is recorded outside begin and submit");
}

void Recorder::begin() {
    if (recording_) device_.vk().EndCommandBuffer(current().commands); // abandoned by an exception
    if (cancelled_ != nullptr && *cancelled_) {
        recording_ = false;
        recordingTime_.reset();
        finish();
        throw Cancelled();
    }
    Slot& slot = current();
    if (slot.ticket != 0) {
        device_.wait(slot.ticket);
        collectFinished();
    }
    recordingTime_.emplace(device_.counters().recordingNanoseconds);
    const VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                        VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, nullptr};
    check(device_.vk().BeginCommandBuffer(slot.commands, &info), "vkBeginCommandBuffer");
    recording_ = true;
    profiling_ = tracing_ = false;
    hazards_.clear();
    slot.timed.clear();
    slot.traced = false;
    slot.recorded = 0;
    slot.flops = 0;
    if (slot.sets) slot.sets->reset();
    transfers_ = false;
    if (slot.queries) device_.vk().CmdResetQueryPool(slot.commands, slot.queries.get(), 0, 2);
    writeTimestamp(0);
    // The tracker does not see what earlier submissions wrote, so one barrier up front covers all of it.
    memoryBarrier(workStages, kernelStage, accessesOf(kernelStage));
}

// The only rule for correctness: emit a full memory barrier before an access that conflicts with one since
// the last barrier (read after write, write after read, write after write). HazardTracker decides. More
// barriers serve measurements: while profiling, every dispatch gets one, so that times do not overlap; on
// software devices, so does every timestamp.
bool Recorder::order(std::span<const Access> accesses) {
    const bool hazard = hazards_.add(accesses);
    if (!hazard && !profiling_) return false;
    workBarrier();
    if (hazard) ++barriers_;
    return true;
}

// Most submissions have kernels only, and their barriers need not wait for copies and fills. The first of
// these in a submission waits for everything before it, and from then on all barriers cover both.
bool Recorder::beforeTransfer() {
    if (std::exchange(transfers_, true)) return false;
    workBarrier();
    return true;
}

VkPipelineStageFlags Recorder::stagesSoFar() const { return transfers_ ? workStages : kernelStage; }

void Recorder::workBarrier() { memoryBarrier(stagesSoFar(), stagesSoFar(), accessesOf(stagesSoFar())); }

void Recorder::memoryBarrier(VkPipelineStageFlags fromStages, VkPipelineStageFlags toStages,
                             VkAccessFlags toAccess) {
    if (!device_.options().barriers) return;
    const VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, writesOf(fromStages), toAccess};
    device_.vk().CmdPipelineBarrier(current().commands, fromStages, toStages, 0, 1, &barrier, 0, nullptr, 0,
                                    nullptr);
}

void Recorder::checkViews(const AnyKernel& kernel, std::span<const BufferView> views) const {
    const Limits& limits = device_.limits();
    const std::size_t expected = kernel.info().bindings.size();
    if (views.size() != expected)
        throw std::runtime_error("kernel '" + kernel.name() + "' has " + std::to_string(expected) +
                                 " bindings, but " + std::to_string(views.size()) + " views were given");
    for (std::size_t index = 0; index < views.size(); ++index) {
        const BufferView& view = views[index];
        const bool texels = kernel.info().bindings[index].kind == BindingKind::texels;
        const std::uint64_t alignment = texels ? limits.texelAlignment : limits.storageAlignment;
        if (view.offset % alignment != 0)
            throw std::runtime_error("kernel '" + kernel.name() + "': a view starts at byte " +
                                     std::to_string(view.offset) + ", but the device needs multiples of " +
                                     std::to_string(alignment));
        if (view.size > (texels ? limits.texelRange : limits.storageRange))
            throw std::runtime_error("kernel '" + kernel.name() + "': a view has " +
                                     std::to_string(view.size) + " bytes, '" + device_.report().name +
                                     "' binds at most " +
                                     std::to_string(texels ? limits.texelRange : limits.storageRange) +
                                     ". Try a smaller batch or data set.");
    }
}

void Recorder::dispatchBytes(const AnyKernel& kernel, const WorkItems& items, const void* params,
                             std::span<const BufferView> views, const Cost& cost) {
    requireRecording(kernel.name());
    std::array<BufferView, mostBindings> more;
    const auto append = [&](const BufferView& view) {
        if (views.size() == mostBindings) return; // checkViews() complains
        if (views.data() != more.data()) std::ranges::copy(views, more.begin());
        more[views.size()] = view;
        views = {more.data(), views.size() + 1};
    };
    if (kernel.watched()) append(device_.loopWatch().view());
    if (kernel.clocked()) append(nextClockRegion());
    checkViews(kernel, views);
    const WorkItems groups = kernel.groupsFor(items);
    if (kernel.firstUse(views)) ++device_.counters().coldDispatches;
    DispatchPace& pace = paces_[kernel.id()];
    const std::uint64_t all = total(groups);
    const double longest = device_.longestSubmission();
    if (cost.flops <= pace.most(longest) && static_cast<double>(all) <= mostGroups())
        return record(kernel, {{0, 0, 0}, groups}, params, views, cost);

    const double share = 1 / static_cast<double>(all);
    if (current().recorded > 0) submitAndGoOn(); // pieces are timed by themselves
    double passed = 0;
    for (std::uint64_t done = 0; done < all;) {
        if (done > 0) submitPiece(pace, cost.flops);
        const double left = static_cast<double>(all - done) * share * cost.flops;
        if (giveUpBeyond_ > 0 && passed + pace.milliseconds(left) > giveUpBeyond_) {
            gaveUp_ = true;
            return;
        }
        const double most = std::min(pace.most(longest) / (cost.flops * share), mostGroups());
        const GroupRange range = nextGroups(groups, done, most);
        const double part = static_cast<double>(total(range.count)) * share;
        record(kernel, range, params, views,
               {cost.flops * part, cost.bytes * part, cost.tag, cost.continues || done > 0});
        passed += pace.milliseconds(cost.flops * part);
        done += total(range.count);
    }
}

// Kernels are slower with fewer workgroups at once, so what is known of their speed no longer holds.
void Recorder::limitWorkgroups(std::uint64_t most) {
    mostWorkgroups_ = most;
    paces_.clear();
}

// The workgroups of one submission. Each piece costs a launch. Cost does not count launches, so this
// limits the pieces per submission.
double Recorder::mostGroups() const {
    constexpr double piecesAtOnce = 256;
    return mostWorkgroups_ == 0 ? std::numeric_limits<double>::infinity()
                                : piecesAtOnce * static_cast<double>(mostWorkgroups_);
}

// Once the speed is known, nobody needs to wait; what has no FLOPs teaches no speed.
void Recorder::submitPiece(const DispatchPace& pace, double flops) {
    const Ticket ticket = submitAndGoOn();
    if (pace.known() || flops == 0) return;
    device_.wait(ticket);
    collectFinished();
}

void Recorder::record(const AnyKernel& kernel, const GroupRange& groups, const void* params,
                      std::span<const BufferView> views, const Cost& cost) {
    Slot& slot = current();
    const DeviceApi& vk = device_.vk();

    accesses_.clear();
    for (std::size_t index = 0; index < views.size(); ++index) {
        const ShaderBinding& binding = kernel.info().bindings[index];
        accesses_.push_back(accessOf(views[index], binding.reads, binding.writes));
    }
    const bool barrierBefore = order(accesses_);

    vk.CmdBindPipeline(slot.commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.pipeline());
    bind(kernel, views);
    if (kernel.info().pushConstantBytes > 0)
        vk.CmdPushConstants(slot.commands, kernel.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                            kernel.info().pushConstantBytes, params);
    const bool timed = beginTimed();
    launch(groups);
    ++slot.recorded;
    slot.kernel = kernel.id();
    slot.flops = cost.flops;
    if (!timed) return;
    endTimed({kernel.name(), kernel.shader(), kernel.variant(), kernel.itemsPerGroup(), cost, barrierBefore});
    if (kernel.clocked() && !cost.continues) slot.timed.back().clockRegion = clockRegions_ - 1;
}

// Whether there is a pair of queries for what comes next.
bool Recorder::beginTimed() {
    Slot& slot = current();
    if (!(profiling_ || tracing_) || slot.timed.size() >= timedDispatches) return false;
    if (slot.timed.empty() && slot.queries) // few submissions time their dispatches
        device_.vk().CmdResetQueryPool(slot.commands, slot.queries.get(), 2, queries - 2);
    // A traced dispatch may overlap the previous one, so its start must not wait for that one's end.
    writeTimestamp(static_cast<std::uint32_t>(2 + 2 * slot.timed.size()),
                   tracing_ ? VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT : VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
    return true;
}

void Recorder::endTimed(TracedDispatch dispatch) {
    Slot& slot = current();
    writeTimestamp(static_cast<std::uint32_t>(3 + 2 * slot.timed.size()));
    slot.timed.push_back(std::move(dispatch));
    slot.traced = tracing_;
}

// At once or, with a limit, piece after piece. The pieces write different bytes, so that nothing has to
// become visible between them: they only wait.
void Recorder::launch(const GroupRange& groups) {
    const DeviceApi& vk = device_.vk();
    const VkCommandBuffer commands = current().commands;
    const std::uint64_t all = total(groups.count);
    const auto most = static_cast<double>(mostWorkgroups_ == 0 ? all : mostWorkgroups_);
    for (std::uint64_t done = 0; done < all;) {
        if (done > 0) {
            vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                  VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 0, nullptr, 0, nullptr, 0,
                                  nullptr);
            ++barriers_;
        }
        auto [first, count] = nextGroups(groups.count, done, most);
        done += total(count);
        first = {first.x + groups.first.x, first.y + groups.first.y, first.z + groups.first.z};
        // Synchronization validation 1.3.239 looks at vkCmdDispatch, and not at vkCmdDispatchBase.
        if (first.x == 0 && first.y == 0 && first.z == 0)
            vk.CmdDispatch(commands, count.x, count.y, count.z);
        else
            vk.CmdDispatchBase(commands, first.x, first.y, first.z, count.x, count.y, count.z);
        ++dispatches_;
    }
}

void Recorder::bind(const AnyKernel& kernel, std::span<const BufferView> views) {
    std::array<VkDescriptorBufferInfo, mostBindings> buffers;
    std::array<VkBufferView, mostBindings> texels;
    std::array<VkWriteDescriptorSet, mostBindings> writes;
    Slot& slot = current();
    VkDescriptorSet set = slot.sets ? slot.sets->allocate(kernel.setLayout()) : VK_NULL_HANDLE;
    for (std::uint32_t index = 0; index < views.size(); ++index) {
        buffers[index] = {views[index].buffer, views[index].offset, views[index].size};
        writes[index] = structure<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
        writes[index].dstSet = set;
        writes[index].dstBinding = index;
        writes[index].descriptorCount = 1;
        const BindingKind kind = kernel.info().bindings[index].kind;
        writes[index].descriptorType = descriptorType(kind);
        writes[index].pBufferInfo = &buffers[index];
        if (kind != BindingKind::texels) continue;
        texels[index] = device_.texelViews().of(views[index], kernel.texels());
        writes[index].pTexelBufferView = &texels[index];
    }
    const auto count = static_cast<std::uint32_t>(views.size());
    const DeviceApi& vk = device_.vk();
    if (set == VK_NULL_HANDLE) {
        vk.CmdPushDescriptorSetKHR(slot.commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.layout(), 0, count,
                                   writes.data());
        return;
    }
    vk.UpdateDescriptorSets(device_.handle(), count, writes.data(), 0, nullptr);
    vk.CmdBindDescriptorSets(slot.commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.layout(), 0, 1, &set, 0,
                             nullptr);
}

void Recorder::fill(const BufferView& view, std::uint32_t word) {
    requireRecording("fill");
    ++current().recorded;
    beforeTransfer();
    order(std::array{accessOf(view, false, true)});
    device_.vk().CmdFillBuffer(current().commands, view.buffer, view.offset, view.size, word);
}

void Recorder::copy(const BufferView& from, const BufferView& to, const std::string& name, const Cost& cost) {
    requireRecording("copy");
    if (from.size != to.size) throw std::logic_error("a copy between views of different sizes");
    ++current().recorded;
    const bool first = beforeTransfer();
    const bool barrier = order(std::array{accessOf(from, true, false), accessOf(to, false, true)});
    const VkBufferCopy region{from.offset, to.offset, to.size};
    const bool timed = !name.empty() && beginTimed();
    device_.vk().CmdCopyBuffer(current().commands, from.buffer, to.buffer, 1, &region);
    if (timed) endTimed({name, {}, {}, {}, cost, first || barrier});
}

void Recorder::writeTimestamp(std::uint32_t query, VkPipelineStageFlagBits after) {
    if (!current().queries) return;
    device_.vk().CmdWriteTimestamp(current().commands, after, current().queries.get(), query);
    // After drawing on the same queue, llvmpipe delays timestamps until the next barrier.
    if (device_.software()) workBarrier();
}

Ticket Recorder::submit() {
    Slot& slot = current();
    memoryBarrier(stagesSoFar(), VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT); // mapped results
    writeTimestamp(1);
    check(device_.vk().EndCommandBuffer(slot.commands), "vkEndCommandBuffer");
    recording_ = false;
    recordingTime_.reset();
    const CountedTime timed(device_.counters().submissionNanoseconds);
    slot.submitted = std::chrono::steady_clock::now();
    slot.ticket = device_.submit(slot.commands);
    next_ = (next_ + 1) % slots;
    return slot.ticket;
}

void Recorder::collect(Slot& slot) {
    const auto now = std::chrono::steady_clock::now();
    const auto started = std::max(slot.submitted, lastFinished_);
    const double onHost = std::chrono::duration<double, std::milli>(now - started).count();
    const double milliseconds = slot.queries ? millisecondsFromQueries(slot) : onHost;
    noteTimed(slot);
    if (slot.recorded == 1 && slot.flops > 0) paces_[slot.kernel].learn(slot.flops, milliseconds);
    raise(device_.counters().longestNanoseconds, milliseconds * 1e6);
    lastFinished_ = now;
    deviceSeconds_ += milliseconds * 1e-3;
    finished_.push_back({slot.ticket, milliseconds});
    slot.ticket = 0;
}

void Recorder::collectFinished() {
    // Oldest first, that is, from the slot after the newest.
    for (std::size_t step = 0; step < slots; ++step) {
        Slot& slot = slots_[(next_ + step) % slots];
        if (slot.ticket != 0 && device_.done(slot.ticket)) collect(slot);
    }
}

std::vector<FinishedSubmission> Recorder::takeFinished() {
    collectFinished();
    return std::exchange(finished_, {});
}

double Recorder::submitAndTime() {
    submit();
    finish();
    double milliseconds = 0;
    for (const FinishedSubmission& finished : takeFinished()) milliseconds += finished.milliseconds;
    return milliseconds;
}

void Recorder::finish() {
    Ticket last = 0;
    for (const Slot& slot : slots_) last = std::max(last, slot.ticket);
    if (last != 0) device_.wait(last);
    collectFinished();
}

Ticket Recorder::submitAndGoOn() {
    const bool profiled = profiling_;
    const bool traced = tracing_;
    const Ticket ticket = submit();
    begin();
    profiling_ = profiled;
    tracing_ = traced;
    return ticket;
}

double Recorder::millisecondsFromQueries(Slot& slot) {
    const auto count = static_cast<std::uint32_t>(2 + 2 * slot.timed.size());
    std::vector<std::uint64_t> ticks(count);
    check(device_.vk().GetQueryPoolResults(device_.handle(), slot.queries.get(), 0, count,
                                           count * sizeof(std::uint64_t), ticks.data(), sizeof(std::uint64_t),
                                           VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
          "vkGetQueryPoolResults"); // the submission has finished, so results are available without waiting
    const double millisecondsPerTick = device_.limits().timestampNanoseconds * 1e-6;
    // Counters with fewer than 64 bits wrap around, some every few minutes.
    const std::uint32_t bits = device_.limits().timestampBits;
    const std::uint64_t valid = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    const auto elapsed = [&](std::size_t from, std::size_t to) {
        if (bits >= 64 && ticks[to] < ticks[from]) return 0.0;
        return static_cast<double>((ticks[to] - ticks[from]) & valid) * millisecondsPerTick;
    };
    if (slot.traced && !traceOrigin_) traceOrigin_ = ticks[0];
    if (slot.traced)
        for (const std::uint64_t tick : ticks)
            clockTicks_ = std::gcd(clockTicks_, (tick - *traceOrigin_) & valid);
    const double start =
        slot.traced ? static_cast<double>((ticks[0] - *traceOrigin_) & valid) * millisecondsPerTick : 0;
    for (std::size_t index = 0; index < slot.timed.size(); ++index) {
        slot.timed[index].beginMs = start + elapsed(0, 2 + 2 * index);
        slot.timed[index].endMs = start + elapsed(0, 3 + 2 * index);
    }
    return elapsed(0, 1);
}

void Recorder::noteTimed(Slot& slot) {
    for (TracedDispatch& timed : slot.timed) {
        if (!slot.traced) {
            KernelTiming& sum = timings_[timed.name];
            sum.milliseconds += timed.endMs - timed.beginMs;
            sum.calls += 1;
            sum.flops += timed.cost.flops;
            sum.bytes += timed.cost.bytes;
            continue;
        }
        // Its start timestamp may be taken while it still waits at its barrier.
        if (timed.barrierBefore) timed.beginMs = std::max(timed.beginMs, traceBarrier_);
        timed.endMs = std::max(timed.endMs, timed.beginMs);
        traceBarrier_ = std::max(traceBarrier_, timed.endMs);
        trace_.push_back(std::move(timed));
    }
}

// One for each dispatch; what comes after the last one shares it.
BufferView Recorder::nextClockRegion() {
    if (!clocks_) clocks_.emplace(device_, clockRegionBytes * mostClockRegions, Memory::device, "workgroups");
    const std::size_t region = std::min(clockRegions_++, mostClockRegions - 1);
    return clocks_->view(region * clockRegionBytes, clockRegionBytes);
}

// And clears what will be counted in the next trace.
void Recorder::readClocks() {
    for (TracedDispatch& dispatch : trace_) {
        const std::size_t region = dispatch.clockRegion.value_or(mostClockRegions);
        if (region + 1 >= mostClockRegions) continue;
        dispatch.workgroups = workgroupTimes(
            clocks_->downloadValues<std::uint32_t>(clockRegionBytes / 4, region * clockRegionBytes));
    }
    const std::uint32_t none = 0;
    for (std::size_t region = 0; region < std::min(clockRegions_, mostClockRegions); ++region)
        clocks_->uploadValues<std::uint32_t>({&none, 1}, region * clockRegionBytes);
    clockRegions_ = 0;
}

std::vector<TracedDispatch> Recorder::takeTrace() {
    collectFinished();
    readClocks();
    traceOrigin_.reset();
    traceBarrier_ = 0;
    return std::exchange(trace_, {});
}

} // namespace lockstep::gpu
