#include "engine/gpu/reflection.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string_view>

#include <spirv/unified1/spirv.hpp>

namespace lockstep::gpu {

namespace {

using namespace spv;

// Not yet in the headers of Debian 12.
constexpr std::uint32_t capabilityMatricesKhr = 6022;
constexpr std::uint32_t typeMatrixKhr = 4456;

constexpr std::uint32_t readOnlyImage = 1; // "sampled": storage images are 2

// The result of an instruction: operand 0 of a type, operand 1 of a value.
enum class Defines { nothing, type, value };

// An instruction that the reflection reads.
struct Known {
    std::uint32_t opcode = 0;
    std::size_t operands = 0; // that it must have, at least
    Defines defines = Defines::nothing;
};

constexpr Known knownInstructions[] = {
    {OpName, 2},
    {OpEntryPoint, 1},
    {OpExecutionMode, 2},
    {OpExecutionModeId, 2},
    {OpCapability, 1},
    {OpDecorate, 2},
    {OpMemberDecorate, 3},
    {OpTypeInt, 3, Defines::type},
    {OpTypeFloat, 2, Defines::type},
    {OpTypeBool, 1, Defines::type},
    {OpTypeVector, 3, Defines::type},
    {OpTypeMatrix, 3, Defines::type},
    {OpTypeImage, 8, Defines::type},
    {OpTypeArray, 3, Defines::type},
    {OpTypeRuntimeArray, 2, Defines::type},
    {OpTypeStruct, 1, Defines::type},
    {OpTypePointer, 3, Defines::type},
    {OpTypeCooperativeMatrixNV, 5, Defines::type},
    {typeMatrixKhr, 5, Defines::type},
    {OpConstantTrue, 2, Defines::value},
    {OpConstantFalse, 2, Defines::value},
    {OpConstant, 3, Defines::value},
    {OpConstantComposite, 2, Defines::value},
    {OpConstantNull, 2, Defines::value},
    {OpSpecConstantTrue, 2, Defines::value},
    {OpSpecConstantFalse, 2, Defines::value},
    {OpSpecConstant, 3, Defines::value},
    {OpSpecConstantComposite, 2, Defines::value},
    {OpSpecConstantOp, 4, Defines::value},
    {OpVariable, 3, Defines::value},
};

// The instruction that defines a result id.
struct Definition {
    std::uint32_t opcode = 0;
    std::vector<std::uint32_t> operands; // without result type and result id
    std::uint32_t type = 0;
};

// A type's size, and how deeply it is nested.
struct Extent {
    std::optional<std::uint64_t> bytes; // none: the reflection does not know
    std::uint32_t depth = 1;
};

struct Decorations {
    std::map<std::uint32_t, std::uint32_t> values; // decoration -> first literal (or 0)
    std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> members;

    bool has(std::uint32_t decoration) const { return values.contains(decoration); }
    // On every member of a block: glslang marks `readonly` and `writeonly` there.
    bool everyMemberHas(std::uint32_t decoration) const {
        const auto marked = [&](const auto& member) { return member.second.contains(decoration); };
        return !members.empty() && std::ranges::all_of(members, marked);
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
            read(words[at] & 0xFFFFu, words.subspan(at + 1, length - 1));
            at += length;
        }
    }

    ShaderInfo describe() const {
        if (!compute_) fail("has no compute entry point");
        ShaderInfo info;
        info.matrices = matrices_;
        info.specConstants = specConstants();
        describeGroupSize(info);
        for (const auto& [id, definition] : definitions_)
            if (definition.opcode == OpVariable) describeVariable(id, definition, info);
        std::ranges::sort(info.bindings, {}, &ShaderBinding::binding);
        mergeViews(info.bindings);
        return info;
    }

    std::map<std::uint32_t, std::uint32_t> integers() const {
        std::map<std::uint32_t, std::uint32_t> values;
        for (const auto& [id, value] : numbers_)
            if (definition(definition(id).type).opcode == OpTypeInt) values[id] = value;
        return values;
    }

    std::map<std::uint32_t, std::uint64_t> sizes() const {
        std::map<std::uint32_t, std::uint64_t> sizes;
        for (const auto& [id, extent] : extents_) sizes[id] = extent.bytes.value_or(most);
        return sizes;
    }

  private:
    [[noreturn]] void fail(const std::string& reason) const {
        throw std::runtime_error("shader '" + shader_ + "' " + reason);
    }

    // Sizes and values are worked out here, from parts that are known already: a module defines everything
    // before it uses it. Following the parts later would take for ever where each is twice the one before.
    void define(std::uint32_t id, Definition given) {
        const auto [at, isNew] = definitions_.try_emplace(id, std::move(given));
        if (!isNew) fail("defines something twice");
        const Definition& known = at->second;
        if (known.type == 0) {
            extents_[id] = extentOf(id, known);
            if (extents_[id].depth > deepest) fail("nests types too deeply");
        } else if (isNumber(known.type)) {
            if (const auto value = valueOf(id, known)) numbers_[id] = *value;
        }
    }

    void read(std::uint32_t opcode, std::span<const std::uint32_t> operands) {
        const auto* known = std::ranges::find(knownInstructions, opcode, &Known::opcode);
        if (known == std::end(knownInstructions)) return;
        if (operands.size() < known->operands) fail("is damaged: an instruction is cut off");
        if (known->defines == Defines::type)
            define(operands[0], {opcode, {operands.begin() + 1, operands.end()}, 0});
        if (known->defines == Defines::value)
            define(operands[1], {opcode, {operands.begin() + 2, operands.end()}, operands[0]});
        switch (opcode) {
        case OpName: {
            const std::string_view text(reinterpret_cast<const char*>(&operands[1]),
                                        (operands.size() - 1) * sizeof(std::uint32_t));
            names_[operands[0]] = text.substr(0, text.find('\0'));
            break;
        }
        case OpCapability:
            if (operands[0] == CapabilityCooperativeMatrixNV) matrices_ = MatrixDialect::nv;
            if (operands[0] == capabilityMatricesKhr) matrices_ = MatrixDialect::khr;
            break;
        case OpEntryPoint: compute_ = compute_ || operands[0] == ExecutionModelGLCompute; break;
        case OpExecutionMode:
        case OpExecutionModeId:
            if (operands[1] == ExecutionModeLocalSize || operands[1] == ExecutionModeLocalSizeId) {
                if (operands.size() < 5) fail("is damaged: an instruction is cut off");
                groupSizeIsIds_ = operands[1] == ExecutionModeLocalSizeId;
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
        default: break;
        }
    }

    const Definition& definition(std::uint32_t id) const {
        const auto found = definitions_.find(id);
        if (found == definitions_.end()) fail("uses a type or constant that the reflection does not know");
        return found->second;
    }

    // 32-bit integers and booleans.
    bool isNumber(std::uint32_t type) const {
        const auto found = definitions_.find(type);
        if (found == definitions_.end()) return false;
        const Definition& known = found->second;
        return known.opcode == OpTypeBool || (known.opcode == OpTypeInt && known.operands[0] == 32);
    }

    std::optional<std::uint32_t> number(std::uint32_t id) const {
        const auto found = numbers_.find(id);
        return found == numbers_.end() ? std::nullopt : std::optional(found->second);
    }

    const Decorations& decorations(std::uint32_t id) const {
        static const Decorations none;
        const auto found = decorations_.find(id);
        return found == decorations_.end() ? none : found->second;
    }

    SpecConstants specConstants() const {
        SpecConstants known;
        for (const auto& [id, decoration] : decorations_)
            if (decoration.has(DecorationSpecId))
                known[decoration.values.at(DecorationSpecId)] = specValue(id);
        for (const auto& [id, unused] : constants_)
            if (!known.contains(id)) fail("has no specialisation constant " + std::to_string(id));
        return known;
    }

    // The value of a constant of at most 32 bits, as it is specialised.
    std::uint32_t specValue(std::uint32_t id) const {
        const Definition& constant = definition(id);
        const auto value = scalar(id, constant);
        if (!value) fail("has a specialisation constant of a kind that the reflection does not know");
        return *value;
    }

    std::optional<std::uint32_t> scalar(std::uint32_t id, const Definition& constant) const {
        const Decorations& marks = decorations(id);
        if (marks.has(DecorationSpecId))
            if (const auto set = constants_.find(marks.values.at(DecorationSpecId)); set != constants_.end())
                return set->second;
        switch (constant.opcode) {
        case OpConstantTrue:
        case OpSpecConstantTrue: return 1;
        case OpConstantFalse:
        case OpSpecConstantFalse:
        case OpConstantNull: return 0;
        case OpConstant:
        case OpSpecConstant: return constant.operands[0];
        default: return std::nullopt;
        }
    }

    std::uint32_t value(std::uint32_t id) const {
        if (const auto known = number(id)) return *known;
        fail("computes a size in a way that the reflection does not know");
    }

    std::optional<std::uint32_t> valueOf(std::uint32_t id, const Definition& constant) const {
        return constant.opcode == OpSpecConstantOp ? operation(constant) : scalar(id, constant);
    }

    // As in shaders, where there is no overflow and a division by 0 has some result.
    std::optional<std::uint32_t> operation(const Definition& constant) const {
        const auto operandAt = [&](std::size_t index) {
            return index < constant.operands.size() ? number(constant.operands[index]) : std::nullopt;
        };
        const std::uint32_t how = constant.operands[0];
        if (how == OpCompositeExtract) return component(constant);
        const auto first = operandAt(1);
        if (!first) return std::nullopt;
        const std::uint32_t a = *first;
        switch (how) {
        case OpSelect: return operandAt(a != 0 ? 2 : 3);
        case OpNot: return ~a;
        case OpSNegate: return 0 - a;
        case OpLogicalNot: return a == 0 ? 1 : 0;
        case OpBitcast: return a;
        default: break;
        }
        const auto second = operandAt(2);
        if (!second) return std::nullopt;
        const std::uint32_t b = *second;
        const std::int64_t signedA = static_cast<std::int32_t>(a);
        const std::int64_t signedB = static_cast<std::int32_t>(b);
        const auto low = [](std::int64_t wide) { return static_cast<std::uint32_t>(wide); };
        switch (how) {
        case OpIAdd: return a + b;
        case OpISub: return a - b;
        case OpIMul: return a * b;
        case OpUDiv: return b == 0 ? 0 : a / b;
        case OpUMod: return b == 0 ? 0 : a % b;
        case OpSDiv: return b == 0 ? 0 : low(signedA / signedB);
        case OpSRem: return b == 0 ? 0 : low(signedA % signedB);
        case OpSMod: return b == 0 ? 0 : low((signedA % signedB + signedB) % signedB);
        case OpShiftLeftLogical: return b < 32 ? a << b : 0;
        case OpShiftRightLogical: return b < 32 ? a >> b : 0;
        case OpShiftRightArithmetic: return low(signedA >> std::min(b, 31u));
        case OpBitwiseAnd:
        case OpLogicalAnd: return a & b;
        case OpBitwiseOr:
        case OpLogicalOr: return a | b;
        case OpBitwiseXor: return a ^ b;
        case OpIEqual:
        case OpLogicalEqual: return a == b ? 1 : 0;
        case OpINotEqual:
        case OpLogicalNotEqual: return a != b ? 1 : 0;
        case OpUGreaterThan: return a > b ? 1 : 0;
        case OpUGreaterThanEqual: return a >= b ? 1 : 0;
        case OpULessThan: return a < b ? 1 : 0;
        case OpULessThanEqual: return a <= b ? 1 : 0;
        case OpSGreaterThan: return signedA > signedB ? 1 : 0;
        case OpSGreaterThanEqual: return signedA >= signedB ? 1 : 0;
        case OpSLessThan: return signedA < signedB ? 1 : 0;
        case OpSLessThanEqual: return signedA <= signedB ? 1 : 0;
        default: return std::nullopt;
        }
    }

    // Such as gl_WorkGroupSize.x.
    std::optional<std::uint32_t> component(const Definition& constant) const {
        if (constant.operands.size() != 3) return std::nullopt;
        const auto whole = definitions_.find(constant.operands[1]);
        const bool composite =
            whole != definitions_.end() &&
            (whole->second.opcode == OpConstantComposite || whole->second.opcode == OpSpecConstantComposite);
        if (!composite || constant.operands[2] >= whole->second.operands.size()) return std::nullopt;
        return number(whole->second.operands[constant.operands[2]]);
    }

    void describeGroupSize(ShaderInfo& info) const {
        for (std::size_t axis = 0; axis < 3; ++axis)
            info.groupSize[axis] = groupSizeIsIds_ ? value(groupSize_[axis]) : groupSize_[axis];
        // A composite that is decorated as the built-in overrides the execution mode.
        for (const auto& [id, marks] : decorations_) {
            if (!marks.has(DecorationBuiltIn) || marks.values.at(DecorationBuiltIn) != BuiltInWorkgroupSize)
                continue;
            const Definition& composite = definition(id);
            if (composite.operands.size() < 3) fail("has no three sizes of a workgroup");
            for (std::size_t axis = 0; axis < 3; ++axis)
                info.groupSize[axis] = value(composite.operands[axis]);
        }
    }

    void describeVariable(std::uint32_t id, const Definition& variable, ShaderInfo& info) const {
        const Definition& pointer = definition(variable.type);
        if (pointer.opcode != OpTypePointer) fail("has a variable of no pointer type");
        const std::uint32_t pointee = pointer.operands[1];
        switch (variable.operands[0]) {
        case StorageClassStorageBuffer: info.bindings.push_back(storageBinding(id, pointee)); break;
        case StorageClassPushConstant: info.pushConstantBytes = clamped(sizeOf(pointee)); break;
        case StorageClassWorkgroup:
            info.sharedBytes = clamped(std::uint64_t{info.sharedBytes} + sizeOf(pointee));
            break;
        case StorageClassFunction:
        case StorageClassPrivate:
            info.privateBytes = clamped(info.privateBytes + extent(pointee).bytes.value_or(most));
            break;
        case StorageClassUniformConstant: info.bindings.push_back(texelBinding(id, pointee)); break;
        case StorageClassUniform: fail("binds a resource other than a buffer"); break;
        default: break;
        }
    }

    // A shader may declare one buffer several times, as arrays of different types.
    void mergeViews(std::vector<ShaderBinding>& bindings) const {
        for (std::size_t at = 1; at < bindings.size();) {
            ShaderBinding& first = bindings[at - 1];
            const ShaderBinding& next = bindings[at];
            if (first.binding != next.binding) {
                ++at;
                continue;
            }
            if (first.kind != next.kind) fail("binds two kinds of buffers in one place");
            first.reads = first.reads || next.reads;
            first.writes = first.writes || next.writes;
            bindings.erase(bindings.begin() + static_cast<std::ptrdiff_t>(at));
        }
    }

    ShaderBinding binding(std::uint32_t id, std::uint32_t named) const {
        const Decorations& marks = decorations(id);
        if (!marks.has(DecorationBinding)) fail("has a buffer without a binding");
        if (marks.has(DecorationDescriptorSet) && marks.values.at(DecorationDescriptorSet) != 0)
            fail("uses a descriptor set other than 0");
        ShaderBinding result;
        result.binding = marks.values.at(DecorationBinding);
        if (const auto name = names_.find(named); name != names_.end()) result.name = name->second;
        return result;
    }

    ShaderBinding texelBinding(std::uint32_t id, std::uint32_t type) const {
        const auto found = definitions_.find(type);
        const bool texels = found != definitions_.end() && found->second.opcode == OpTypeImage &&
                            found->second.operands[1] == DimBuffer &&
                            found->second.operands[5] == readOnlyImage;
        if (!texels) fail("binds a resource other than a buffer");
        ShaderBinding result = binding(id, id);
        result.kind = BindingKind::texels;
        result.writes = false;
        return result;
    }

    ShaderBinding storageBinding(std::uint32_t id, std::uint32_t block) const {
        const Decorations& marks = decorations(id);
        const Decorations& members = decorations(block);
        if (definition(block).opcode != OpTypeStruct) fail("binds an array of buffers");
        ShaderBinding result = binding(id, block);
        result.writes = !marks.has(DecorationNonWritable) && !members.everyMemberHas(DecorationNonWritable);
        result.reads = !marks.has(DecorationNonReadable) && !members.everyMemberHas(DecorationNonReadable);
        return result;
    }

    static std::uint32_t clamped(std::uint64_t bytes) {
        return static_cast<std::uint32_t>(std::min(bytes, most));
    }

    std::uint64_t sizeOf(std::uint32_t type) const {
        const auto bytes = extent(type).bytes;
        if (!bytes) fail("has a variable whose size the reflection does not know");
        return *bytes;
    }

    Extent extent(std::uint32_t type) const {
        const auto found = extents_.find(type);
        return found == extents_.end() ? Extent{} : found->second;
    }

    // Sizes saturate at `most`, far more than any device has.
    Extent extentOf(std::uint32_t id, const Definition& shape) const {
        const auto many = [&](std::optional<std::uint32_t> count) {
            const Extent part = extent(shape.operands[0]);
            if (!part.bytes || !count) return Extent{std::nullopt, part.depth + 1};
            return Extent{std::min(*part.bytes * *count, most), part.depth + 1};
        };
        switch (shape.opcode) {
        case OpTypeInt:
        case OpTypeFloat: return {shape.operands[0] / 8};
        case OpTypeBool: return {4};
        case OpTypeVector:
        case OpTypeMatrix: return many(shape.operands[1]);
        case OpTypeArray: return many(number(shape.operands[1]));
        case OpTypeStruct: return structure(id, shape);
        case OpTypeCooperativeMatrixNV:
        case typeMatrixKhr: { // an invocation's part of it
            constexpr std::uint64_t invocations = 32;
            const auto rows = number(shape.operands[2]), columns = number(shape.operands[3]);
            const auto bytes = extent(shape.operands[0]).bytes;
            if (!rows || !columns || !bytes) return {};
            const std::uint64_t components = std::min(std::uint64_t{*rows} * *columns, most);
            return {std::min(components * *bytes / invocations, most)};
        }
        default: return {};
        }
    }

    Extent structure(std::uint32_t id, const Definition& shape) const {
        Extent whole{0};
        const auto& marks = decorations(id).members;
        for (std::uint32_t member = 0; member < shape.operands.size(); ++member) {
            const Extent part = extent(shape.operands[member]);
            const auto found = marks.find(member);
            const bool placed = found != marks.end() && found->second.contains(DecorationOffset);
            whole.depth = std::max(whole.depth, part.depth + 1);
            if (!part.bytes) whole.bytes.reset();
            if (!whole.bytes) continue;
            const std::uint64_t offset = placed ? found->second.at(DecorationOffset) : *whole.bytes;
            whole.bytes = std::min(std::max(*whole.bytes, offset + *part.bytes), most);
        }
        return whole;
    }

    static constexpr std::uint64_t most = 0xFFFFFFFFu;
    static constexpr std::uint32_t deepest = 32; // of types

    const std::string& shader_;
    const SpecConstants& constants_;
    bool compute_ = false;
    MatrixDialect matrices_ = MatrixDialect::none;
    bool groupSizeIsIds_ = false;
    std::uint32_t groupSize_[3] = {1, 1, 1};
    std::map<std::uint32_t, std::string> names_;
    std::map<std::uint32_t, Decorations> decorations_;
    std::map<std::uint32_t, Definition> definitions_;
    std::map<std::uint32_t, Extent> extents_;        // of types
    std::map<std::uint32_t, std::uint32_t> numbers_; // values of constants, as far as they are known
};

} // namespace

ShaderInfo reflect(std::span<const std::uint32_t> words, const SpecConstants& constants,
                   const std::string& shader) {
    return Module(words, constants, shader).describe();
}

std::map<std::uint32_t, std::uint32_t> integerConstants(std::span<const std::uint32_t> words,
                                                        const SpecConstants& constants,
                                                        const std::string& shader) {
    return Module(words, constants, shader).integers();
}

std::map<std::uint32_t, std::uint64_t> typeSizes(std::span<const std::uint32_t> words,
                                                 const SpecConstants& constants, const std::string& shader) {
    return Module(words, constants, shader).sizes();
}

} // namespace lockstep::gpu
