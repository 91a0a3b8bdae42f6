#include "engine/gpu/workgroup_clock.h"

#include <algorithm>
#include <array>

#include "engine/gpu/spirv_rewriter.h"

namespace lockstep::gpu {

namespace {

using namespace spv;

class ClockWriter : SpirvRewriter {
  public:
    ClockWriter(std::span<const std::uint32_t> words, const std::string& shader, std::uint32_t binding)
        : SpirvRewriter(words, shader), binding_(binding) {
        find();
    }

    std::vector<std::uint32_t> written();

  private:
    void find();
    void putExtension();
    void putDecorations();
    void putGlobals();
    void putMain();
    void putRecord(std::uint32_t begin, std::uint32_t end);

    std::uint32_t binding_;

    // Ids in the module; 0: it has none.
    std::uint32_t main_ = 0, mainType_ = 0, void_ = 0;
    std::uint32_t uint_ = 0, bool_ = 0, uint2_ = 0, uint3_ = 0;
    std::uint32_t group_ = 0, index_ = 0; // gl_WorkGroupID, gl_LocalInvocationIndex
    bool ownGroup_ = false, ownIndex_ = false;
    // Its new parts.
    std::uint32_t newMain_ = 0, struct_ = 0, array_ = 0, buffer_ = 0, word_ = 0;
    std::array<std::uint32_t, 9> numbers_{}; // constants 0 to 8
    std::uint32_t semantics_ = 0, scope_ = 0;
    bool vulkanMemory_ = false;
};

void ClockWriter::find() {
    for (const SpirvInstruction& now : code_) switch (now.opcode) {
        case OpMemoryModel: vulkanMemory_ = operand(now, 1) == MemoryModelVulkan; break;
        case OpEntryPoint: main_ = operand(now, 1); break;
        case OpDecorate:
            if (now.operands.size() < 3 || now.operands[1] != DecorationBuiltIn) break;
            if (now.operands[2] == BuiltInWorkgroupId) group_ = now.operands[0];
            if (now.operands[2] == BuiltInLocalInvocationIndex) index_ = now.operands[0];
            break;
        case OpTypeBool: bool_ = operand(now, 0); break;
        case OpTypeInt:
            if (operand(now, 1) == 32 && operand(now, 2) == 0) uint_ = now.operands[0];
            break;
        case OpTypeVector:
            if (uint_ == 0 || operand(now, 1) != uint_) break;
            if (operand(now, 2) == 2) uint2_ = now.operands[0];
            if (operand(now, 2) == 3) uint3_ = now.operands[0];
            break;
        case OpFunction:
            if (operand(now, 1) != main_) break;
            void_ = now.operands[0];
            mainType_ = operand(now, 3);
            break;
        default: break;
        }
    if (mainType_ == 0) fail("has no entry point");
}

std::vector<std::uint32_t> ClockWriter::written() {
    begin();
    newMain_ = newId();
    buffer_ = newId();
    ownGroup_ = group_ == 0;
    ownIndex_ = index_ == 0;
    if (ownGroup_) group_ = newId();
    if (ownIndex_) index_ = newId();
    struct_ = newId();
    array_ = newId();
    const std::size_t decorations = lastDecoration();
    const std::size_t functions = firstFunction();
    bool extended = false;
    for (std::size_t at = 0; at < code_.size(); ++at) {
        const SpirvInstruction& now = code_[at];
        if (!extended && now.opcode != OpCapability) {
            putExtension();
            extended = true;
        }
        if (at == functions) putGlobals();
        if (now.opcode == OpEntryPoint) {
            std::vector<std::uint32_t> inputs;
            if (ownGroup_) inputs.push_back(group_);
            if (ownIndex_) inputs.push_back(index_);
            putEntryPoint(now, newMain_, inputs, {buffer_});
        } else {
            keep(now);
            const bool mode = now.opcode == OpExecutionMode || now.opcode == OpExecutionModeId;
            if (mode && operand(now, 0) == main_) out_[out_.size() - now.operands.size()] = newMain_;
        }
        if (at == decorations) putDecorations();
    }
    putMain();
    return ended();
}

void ClockWriter::putExtension() {
    put(OpCapability, {CapabilityShaderClockKHR});
    constexpr char name[] = "SPV_KHR_shader_clock";
    std::array<std::uint32_t, sizeof name / 4 + 1> text{};
    for (std::size_t i = 0; i < sizeof name; ++i)
        text[i / 4] |= static_cast<std::uint32_t>(static_cast<unsigned char>(name[i])) << 8 * (i % 4);
    out_.push_back(static_cast<std::uint32_t>(text.size() + 1) << 16 | OpExtension);
    out_.insert(out_.end(), text.begin(), text.end());
}

void ClockWriter::putDecorations() {
    put(OpDecorate, {struct_, DecorationBlock});
    put(OpMemberDecorate, {struct_, 0, DecorationOffset, 0});
    put(OpMemberDecorate, {struct_, 1, DecorationOffset, 4 * clockHeaderWords});
    put(OpDecorate, {array_, DecorationArrayStride, 4});
    put(OpDecorate, {buffer_, DecorationDescriptorSet, 0});
    put(OpDecorate, {buffer_, DecorationBinding, binding_});
    if (ownGroup_) put(OpDecorate, {group_, DecorationBuiltIn, BuiltInWorkgroupId});
    if (ownIndex_) put(OpDecorate, {index_, DecorationBuiltIn, BuiltInLocalInvocationIndex});
}

void ClockWriter::putGlobals() {
    if (uint_ == 0) put(OpTypeInt, {uint_ = newId(), 32, 0});
    if (bool_ == 0) put(OpTypeBool, {bool_ = newId()});
    if (uint2_ == 0) put(OpTypeVector, {uint2_ = newId(), uint_, 2});
    if (uint3_ == 0) put(OpTypeVector, {uint3_ = newId(), uint_, 3});
    const auto constant = [&](std::uint32_t value) { return made(OpConstant, uint_, {value}); };
    for (std::uint32_t i = 0; i < numbers_.size(); ++i) numbers_[i] = constant(i);
    // What the workgroup has written to buffers and shared memory is done before the clock is read.
    semantics_ = constant(MemorySemanticsAcquireReleaseMask | MemorySemanticsUniformMemoryMask |
                          MemorySemanticsWorkgroupMemoryMask);
    scope_ = constant(vulkanMemory_ ? ScopeQueueFamily : ScopeDevice);
    const auto variable = [&](std::uint32_t id, std::uint32_t storage, std::uint32_t type) {
        const std::uint32_t pointer = newId();
        put(OpTypePointer, {pointer, storage, type});
        put(OpVariable, {pointer, id, storage});
    };
    if (ownGroup_) variable(group_, StorageClassInput, uint3_);
    if (ownIndex_) variable(index_, StorageClassInput, uint_);
    put(OpTypeRuntimeArray, {array_, uint_});
    put(OpTypeStruct, {struct_, uint_, array_});
    variable(buffer_, StorageClassStorageBuffer, struct_);
    put(OpTypePointer, {word_ = newId(), StorageClassStorageBuffer, uint_});
}

void ClockWriter::putMain() {
    put(OpFunction, {void_, newMain_, FunctionControlMaskNone, mainType_});
    put(OpLabel, {newId()});
    const std::uint32_t begin = made(OpReadClockKHR, uint2_, {numbers_[ScopeDevice]});
    made(OpFunctionCall, void_, {main_});
    put(OpControlBarrier, {numbers_[ScopeWorkgroup], numbers_[ScopeWorkgroup], semantics_});
    const std::uint32_t end = made(OpReadClockKHR, uint2_, {numbers_[ScopeDevice]});
    const std::uint32_t index = made(OpLoad, uint_, {index_});
    const std::uint32_t first = made(OpIEqual, bool_, {index, numbers_[0]});
    const std::uint32_t writes = newId(), done = newId();
    put(OpSelectionMerge, {done, SelectionControlMaskNone});
    put(OpBranchConditional, {first, writes, done});
    put(OpLabel, {writes});
    putRecord(begin, end);
    put(OpBranch, {done});
    put(OpLabel, {done});
    put(OpReturn, {});
    put(OpFunctionEnd, {});
}

void ClockWriter::putRecord(std::uint32_t begin, std::uint32_t end) {
    const std::uint32_t count = made(OpAccessChain, word_, {buffer_, numbers_[0]});
    const std::uint32_t slot = made(OpAtomicIAdd, uint_, {count, scope_, numbers_[0], numbers_[1]});
    const std::uint32_t at = made(OpIMul, uint_, {slot, numbers_[clockRecordWords]});
    const std::uint32_t after = made(OpIAdd, uint_, {at, numbers_[clockRecordWords]});
    const std::uint32_t length = made(OpArrayLength, uint_, {buffer_, 1});
    const std::uint32_t fits = made(OpULessThanEqual, bool_, {after, length});
    const std::uint32_t writes = newId(), done = newId();
    put(OpSelectionMerge, {done, SelectionControlMaskNone});
    put(OpBranchConditional, {fits, writes, done});
    put(OpLabel, {writes});
    const std::uint32_t group = made(OpLoad, uint3_, {group_});
    std::uint32_t word = 0;
    const auto store = [&](std::uint32_t vector, std::uint32_t components) {
        for (std::uint32_t i = 0; i < components; ++i, ++word) {
            const std::uint32_t value = made(OpCompositeExtract, uint_, {vector, i});
            const std::uint32_t place = made(OpIAdd, uint_, {at, numbers_[word]});
            const std::uint32_t to = made(OpAccessChain, word_, {buffer_, numbers_[1], place});
            put(OpStore, {to, value});
        }
    };
    store(begin, 2);
    store(end, 2);
    store(group, 3);
    put(OpBranch, {done});
    put(OpLabel, {done});
}

} // namespace

std::vector<WorkgroupTime> workgroupTimes(std::span<const std::uint32_t> words) {
    if (words.size() < clockHeaderWords) return {};
    const std::size_t room = (words.size() - clockHeaderWords) / clockRecordWords;
    std::vector<WorkgroupTime> times(std::min<std::size_t>(words[0], room));
    for (std::size_t i = 0; i < times.size(); ++i) {
        const auto record = words.subspan(clockHeaderWords + i * clockRecordWords, clockRecordWords);
        times[i].begin = std::uint64_t{record[1]} << 32 | record[0];
        times[i].end = std::uint64_t{record[3]} << 32 | record[2];
        std::ranges::copy(record.subspan(4, 3), times[i].group);
    }
    return times;
}

std::vector<std::uint32_t> withWorkgroupClock(std::span<const std::uint32_t> words, const std::string& shader,
                                              std::uint32_t binding) {
    return ClockWriter(words, shader, binding).written();
}

} // namespace lockstep::gpu
