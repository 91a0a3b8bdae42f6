// Opcode and operand numbers are those of the SPIR-V specification, section 3 (binary form); each case names
// its opcode.
#include "engine/gpu/reflection.h"

#include <algorithm>
#include <stdexcept>

namespace lockstep::gpu {

namespace {

enum Opcode : std::uint32_t {
    OpName = 5,
    OpEntryPoint = 15,
    OpExecutionMode = 16,
    OpTypeInt = 21,
    OpTypeFloat = 22,
    OpTypeVector = 23,
    OpTypeArray = 28,
    OpTypeRuntimeArray = 29,
    OpTypeStruct = 30,
    OpTypePointer = 32,
    OpConstantTrue = 41,
    OpConstantFalse = 42,
    OpConstant = 43,
    OpConstantComposite = 44,
    OpSpecConstantTrue = 48,
    OpSpecConstantFalse = 49,
    OpSpecConstant = 50,
    OpSpecConstantComposite = 51,
    OpSpecConstantOp = 52,
    OpVariable = 59,
    OpDecorate = 71,
    OpMemberDecorate = 72,
    OpExecutionModeId = 331,
};

enum StorageClass : std::uint32_t {
    UniformConstant = 0,
    Uniform = 2,
    Workgroup = 4,
    PushConstant = 9,
    StorageBuffer = 12
};

constexpr std::uint32_t executionModelGlCompute = 5;
constexpr std::uint32_t executionModeLocalSize = 17;
constexpr std::uint32_t executionModeLocalSizeId = 38;
constexpr std::uint32_t decorationSpecId = 1;
constexpr std::uint32_t decorationBuiltIn = 11;
constexpr std::uint32_t decorationNonWritable = 24;
constexpr std::uint32_t decorationNonReadable = 25;
constexpr std::uint32_t decorationBinding = 33;
constexpr std::uint32_t decorationDescriptorSet = 34;
constexpr std::uint32_t decorationOffset = 35;
constexpr std::uint32_t builtInWorkgroupSize = 25;

struct Instruction {
    std::uint32_t opcode = 0;
    std::span<const std::uint32_t> operands;
};

// A result id with the instruction that defines it.
struct Definition {
    std::uint32_t opcode = 0;
    std::vector<std::uint32_t> operands; // without result type and result id
    std::uint32_t type = 0;
};

struct Decorations {
    std::map<std::uint32_t, std::uint32_t> values; // decoration -> first literal (or 0)
    std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> members;

    bool has(std::uint32_t decoration) const { return values.contains(decoration); }
    // On every member of a block: glslang marks `readonly` and `writeonly` there.
    bool everyMemberHas(std::uint32_t decoration) const {
        return !members.empty() && std::all_of(members.begin(), members.end(), [&](const auto& member) {
            return member.second.contains(decoration);
        });
    }
};

class Module {
  public:
    Module(std::span<const std::uint32_t> words, const SpecConstants& constants, const std::string& shader)
        : shader_(shader), constants_(constants) {
        constexpr std::uint32_t magicNumber = 0x07230203;
        constexpr std::size_t headerWords = 5;
        if (words.size() < headerWords || words[0] != magicNumber) fail("is not SPIR-V");
        for (std::size_t at = headerWords; at < words.size();) {
            const std::size_t length = words[at] >> 16;
            if (length == 0 || length > words.size() - at)
                fail("is damaged: an instruction ends beyond the file");
            read({words[at] & 0xFFFFu, words.subspan(at + 1, length - 1)});
            at += length;
        }
    }

    ShaderInfo describe() const {
        if (!compute_) fail("has no compute entry point");
        ShaderInfo info;
        info.specConstants = specConstants();
        describeGroupSize(info);
        for (const auto& [id, definition] : definitions_)
            if (definition.opcode == OpVariable) describeVariable(id, definition, info);
        std::sort(info.bindings.begin(), info.bindings.end(),
                  [](const ShaderBinding& a, const ShaderBinding& b) { return a.binding < b.binding; });
        return info;
    }

  private:
    [[noreturn]] void fail(const std::string& reason) const {
        throw std::runtime_error("shader '" + shader_ + "' " + reason);
    }

    void read(const Instruction& instruction) {
        const auto& operands = instruction.operands;
        switch (instruction.opcode) {
        case OpName: names_[operands[0]] = reinterpret_cast<const char*>(&operands[1]); break;
        case OpEntryPoint: compute_ = compute_ || operands[0] == executionModelGlCompute; break;
        case OpExecutionMode:
        case OpExecutionModeId:
            if (operands[1] == executionModeLocalSize || operands[1] == executionModeLocalSizeId) {
                groupSizeIsIds_ = operands[1] == executionModeLocalSizeId;
                std::copy_n(&operands[2], 3, groupSize_);
            }
            break;
        case OpDecorate:
            decorations_[operands[0]].values[operands[1]] = operands.size() > 2 ? operands[2] : 0;
            break;
        case OpMemberDecorate:
            decorations_[operands[0]].members[operands[1]][operands[2]] =
                operands.size() > 3 ? operands[3] : 0;
            break;
        case OpTypeInt:
        case OpTypeFloat:
        case OpTypeVector:
        case OpTypeArray:
        case OpTypeRuntimeArray:
        case OpTypeStruct:
        case OpTypePointer:
            definitions_[operands[0]] = {instruction.opcode, {operands.begin() + 1, operands.end()}, 0};
            break;
        case OpConstantTrue:
        case OpConstantFalse:
        case OpConstant:
        case OpConstantComposite:
        case OpSpecConstantTrue:
        case OpSpecConstantFalse:
        case OpSpecConstant:
        case OpSpecConstantComposite:
        case OpSpecConstantOp:
        case OpVariable:
            definitions_[operands[1]] = {
                instruction.opcode, {operands.begin() + 2, operands.end()}, operands[0]};
            break;
        default: break;
        }
    }

    const Definition& definition(std::uint32_t id) const {
        const auto found = definitions_.find(id);
        if (found == definitions_.end()) fail("uses a type or constant that the reflection does not know");
        return found->second;
    }

    const Decorations& decorations(std::uint32_t id) const {
        static const Decorations none;
        const auto found = decorations_.find(id);
        return found == decorations_.end() ? none : found->second;
    }

    SpecConstants specConstants() const {
        SpecConstants known;
        for (const auto& [id, decoration] : decorations_)
            if (decoration.has(decorationSpecId)) known[decoration.values.at(decorationSpecId)] = value(id);
        for (const auto& [id, unused] : constants_)
            if (!known.contains(id)) fail("has no specialisation constant " + std::to_string(id));
        return known;
    }

    // The value of an integer constant, specialisation included.
    std::uint32_t value(std::uint32_t id) const {
        const Definition& constant = definition(id);
        const Decorations& marks = decorations(id);
        if (marks.has(decorationSpecId))
            if (const auto set = constants_.find(marks.values.at(decorationSpecId)); set != constants_.end())
                return set->second;
        switch (constant.opcode) {
        case OpConstantTrue:
        case OpSpecConstantTrue: return 1;
        case OpConstantFalse:
        case OpSpecConstantFalse: return 0;
        case OpConstant:
        case OpSpecConstant: return constant.operands[0];
        case OpSpecConstantOp: return operation(constant);
        default: fail("computes a size in a way that the reflection does not know");
        }
    }

    std::uint32_t operation(const Definition& constant) const {
        const std::uint32_t a = value(constant.operands[1]);
        const std::uint32_t b = constant.operands.size() > 2 ? value(constant.operands[2]) : 0;
        switch (constant.operands[0]) {
        case 128: return a + b;              // OpIAdd
        case 130: return a - b;              // OpISub
        case 132: return a * b;              // OpIMul
        case 134: return b == 0 ? 0 : a / b; // OpUDiv
        default: fail("computes a size in a way that the reflection does not know");
        }
    }

    void describeGroupSize(ShaderInfo& info) const {
        for (std::size_t axis = 0; axis < 3; ++axis)
            info.groupSize[axis] = groupSizeIsIds_ ? value(groupSize_[axis]) : groupSize_[axis];
        // A size with specialisation constants is a composite marked as the built-in, and overrides the mode.
        for (const auto& [id, marks] : decorations_) {
            if (!marks.has(decorationBuiltIn) || marks.values.at(decorationBuiltIn) != builtInWorkgroupSize)
                continue;
            const Definition& composite = definition(id);
            for (std::size_t axis = 0; axis < 3; ++axis)
                info.groupSize[axis] = value(composite.operands[axis]);
        }
    }

    void describeVariable(std::uint32_t id, const Definition& variable, ShaderInfo& info) const {
        const std::uint32_t pointee = definition(variable.type).operands[1];
        switch (variable.operands[0]) {
        case StorageBuffer: info.bindings.push_back(binding(id, pointee)); break;
        case PushConstant: info.pushConstantBytes = sizeOf(pointee); break;
        case Workgroup: info.sharedBytes += sizeOf(pointee); break;
        case Uniform:
        case UniformConstant: fail("binds something else than storage buffers"); break;
        default: break;
        }
    }

    ShaderBinding binding(std::uint32_t id, std::uint32_t block) const {
        const Decorations& marks = decorations(id);
        if (!marks.has(decorationBinding)) fail("has a buffer without a binding");
        if (marks.has(decorationDescriptorSet) && marks.values.at(decorationDescriptorSet) != 0)
            fail("uses a descriptor set other than 0");
        const Decorations& members = decorations(block);
        ShaderBinding result;
        result.binding = marks.values.at(decorationBinding);
        if (const auto name = names_.find(block); name != names_.end()) result.name = name->second;
        result.writes = !marks.has(decorationNonWritable) && !members.everyMemberHas(decorationNonWritable);
        result.reads = !marks.has(decorationNonReadable) && !members.everyMemberHas(decorationNonReadable);
        return result;
    }

    std::uint32_t sizeOf(std::uint32_t type) const {
        const Definition& shape = definition(type);
        switch (shape.opcode) {
        case OpTypeInt:
        case OpTypeFloat: return shape.operands[0] / 8;
        case OpTypeVector: return sizeOf(shape.operands[0]) * shape.operands[1];
        case OpTypeArray: return sizeOf(shape.operands[0]) * value(shape.operands[1]);
        case OpTypeStruct: {
            std::uint32_t end = 0;
            for (std::uint32_t member = 0; member < shape.operands.size(); ++member) {
                const auto& marks = decorations(type).members;
                const auto found = marks.find(member);
                const bool placed = found != marks.end() && found->second.contains(decorationOffset);
                const std::uint32_t offset = placed ? found->second.at(decorationOffset) : end;
                end = std::max(end, offset + sizeOf(shape.operands[member]));
            }
            return end;
        }
        default: fail("has a variable whose size the reflection does not know");
        }
    }

    const std::string& shader_;
    const SpecConstants& constants_;
    bool compute_ = false;
    bool groupSizeIsIds_ = false;
    std::uint32_t groupSize_[3] = {1, 1, 1};
    std::map<std::uint32_t, std::string> names_;
    std::map<std::uint32_t, Decorations> decorations_;
    std::map<std::uint32_t, Definition> definitions_;
};

} // namespace

ShaderInfo reflect(std::span<const std::uint32_t> words, const SpecConstants& constants,
                   const std::string& shader) {
    return Module(words, constants, shader).describe();
}

} // namespace lockstep::gpu
