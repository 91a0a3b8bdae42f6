#include "engine/gpu/bounded_access.h"

#include <algorithm>
#include <map>

#include <spirv/unified1/GLSL.std.450.h>

#include "engine/gpu/spirv_rewriter.h"

namespace lockstep::gpu {

namespace {

using namespace spv;

// Cooperative matrices of Khronos, not in the headers of Debian 12.
constexpr std::uint32_t matrixTypeOfKhr = 4456, matrixLengthOfKhr = 4460;

bool isDivision(std::uint32_t opcode) {
    return opcode == OpSDiv || opcode == OpSRem || opcode == OpSMod || opcode == OpUDiv || opcode == OpUMod;
}

class AccessBounder : SpirvRewriter {
  public:
    AccessBounder(std::span<const std::uint32_t> words, const SpecConstants& constants,
                  const std::string& shader, std::uint32_t subgroupSize)
        : SpirvRewriter(words, shader), integers_(integerConstants(words, constants, shader)),
          sizes_(typeSizes(words, constants, shader)), subgroupSize_(subgroupSize) {
        find();
    }

    std::vector<std::uint32_t> bounded();

  private:
    // Reading.
    void find();
    const SpirvInstruction& definition(std::uint32_t id) const {
        const auto found = definitions_.find(id);
        if (found == definitions_.end()) fail("uses something that it does not define");
        return code_[found->second];
    }
    std::uint32_t typeOf(std::uint32_t value) const {
        const auto result = resultOf(definition(value));
        if (!result || result->type == 0) fail("uses a type as a value");
        return result->type;
    }
    bool hasNull(std::uint32_t type) const;
    bool divides(std::uint32_t divisor, bool isSigned) const;

    // Writing.
    void put(const SpirvInstruction& now);
    void putArrayType(const SpirvInstruction& old);
    void putVariable(const SpirvInstruction& old);
    void putChain(const SpirvInstruction& old);
    void putVectorAccess(const SpirvInstruction& old, std::size_t index);
    void putBroadcast(const SpirvInstruction& old);
    void putDivision(const SpirvInstruction& old);
    void putSpecOperation(const SpirvInstruction& old);
    std::uint32_t boundedIndex(std::uint32_t index, const SpirvInstruction& shape);
    std::uint32_t atMost(std::uint32_t index, std::uint32_t last);
    std::uint32_t least(std::uint32_t type, std::uint32_t a, std::uint32_t b) {
        return made(OpExtInst, type, {standard_, GLSLstd450UMin, a, b});
    }
    using SpirvRewriter::put;
    void putWords(std::uint32_t opcode, const std::vector<std::uint32_t>& operands) {
        out_.push_back(static_cast<std::uint32_t>(operands.size() + 1) << 16 | opcode);
        out_.insert(out_.end(), operands.begin(), operands.end());
    }

    // New types and constants: within functions they are collected, and go before the first one.
    template <class Put> std::uint32_t global(Put make) {
        if (!inFunctions_) return make();
        out_.swap(globals_);
        const std::uint32_t id = make();
        out_.swap(globals_);
        return id;
    }
    std::uint32_t null(std::uint32_t type) {
        std::uint32_t& id = nulls_[type];
        if (id == 0) id = global([&] { return made(OpConstantNull, type, {}); });
        return id;
    }
    std::uint32_t constant(std::uint32_t type, std::uint32_t value);
    std::uint32_t uintType();
    std::uint32_t boolType(std::uint32_t like);

    std::map<std::uint32_t, std::uint32_t> integers_;
    std::map<std::uint32_t, std::uint64_t> sizes_;                               // of types
    std::map<std::uint32_t, std::size_t> definitions_;                           // id -> number in code_
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> constants_; // (type, value) -> id
    std::map<std::uint32_t, std::uint32_t> nulls_;                               // type -> id
    std::map<std::uint32_t, std::uint32_t> boolVectors_;                         // components -> type
    std::uint32_t subgroupSize_;
    std::uint32_t standard_ = 0; // the instructions GLSL.std.450
    std::uint32_t bool_ = 0, uint_ = 0;
    std::vector<std::uint32_t> globals_;
    bool inFunctions_ = false;
};

void AccessBounder::find() {
    for (std::size_t at = 0; at < code_.size(); ++at) {
        const SpirvInstruction& now = code_[at];
        const auto result = resultOf(now);
        if (!result) continue;
        definitions_[result->id] = at;
        switch (now.opcode) {
        case OpExtInstImport: standard_ = result->id; break; // the only one
        case OpTypeBool: bool_ = result->id; break;
        case OpTypeInt:
            if (operand(now, 1) == 32 && operand(now, 2) == 0) uint_ = result->id;
            break;
        case OpTypeVector:
            if (bool_ != 0 && operand(now, 1) == bool_) boolVectors_[operand(now, 2)] = result->id;
            break;
        default: break;
        }
    }
}

std::vector<std::uint32_t> AccessBounder::bounded() {
    begin();
    const std::size_t functions = firstFunction();
    std::size_t globalsAt = 0;
    for (std::size_t at = 0; at < code_.size(); ++at) {
        if (at == functions) {
            globalsAt = out_.size();
            inFunctions_ = true;
        }
        put(code_[at]);
    }
    out_.insert(out_.begin() + static_cast<std::ptrdiff_t>(globalsAt), globals_.begin(), globals_.end());
    return ended();
}

void AccessBounder::put(const SpirvInstruction& now) {
    switch (now.opcode) {
    case OpMemoryModel:
        if (standard_ == 0) {
            standard_ = newId();
            out_.insert(out_.end(),
                        {6u << 16 | OpExtInstImport, standard_, 0x4C534C47, 0x6474732E, 0x3035342E, 0});
        }
        return keep(now);
    case OpUndef: {
        const std::uint32_t type = operand(now, 0), id = operand(now, 1);
        if (!hasNull(type)) return keep(now);
        global([&] {
            put(OpConstantNull, {type, id});
            return id;
        });
        return;
    }
    case OpTypeArray: return putArrayType(now);
    case OpVariable: return putVariable(now);
    case OpAccessChain:
    case OpInBoundsAccessChain: return putChain(now);
    case OpGroupNonUniformBroadcast: return putBroadcast(now);
    case OpVectorExtractDynamic: return putVectorAccess(now, 3);
    case OpVectorInsertDynamic: return putVectorAccess(now, 4);
    case OpSpecConstantOp: return putSpecOperation(now);
    default: return isDivision(now.opcode) ? putDivision(now) : keep(now);
    }
}

// Specialisation may leave an array without elements. It gets one, which its last index can be.
void AccessBounder::putArrayType(const SpirvInstruction& old) {
    const std::uint32_t length = operand(old, 2);
    const auto value = integers_.find(length);
    if (value == integers_.end() || value->second > 0) return keep(old);
    constexpr std::uint64_t mostBytes = 1024;
    const auto element = sizes_.find(operand(old, 1));
    if (element == sizes_.end() || element->second > mostBytes) fail("has an array of no elements");
    const std::uint32_t one = constant(typeOf(length), 1);
    put(OpTypeArray, {old.operands[0], old.operands[1], one});
}

// Cooperative matrices and images have none.
bool AccessBounder::hasNull(std::uint32_t type) const {
    const SpirvInstruction& shape = definition(type);
    switch (shape.opcode) {
    case OpTypeBool:
    case OpTypeInt:
    case OpTypeFloat: return true;
    case OpTypeVector:
    case OpTypeMatrix:
    case OpTypeArray: return hasNull(operand(shape, 1));
    case OpTypeStruct: {
        const auto members = shape.operands.subspan(1);
        return std::ranges::all_of(members, [this](std::uint32_t member) { return hasNull(member); });
    }
    default: return false;
    }
}

void AccessBounder::putVariable(const SpirvInstruction& old) {
    const std::uint32_t storage = operand(old, 2);
    const bool own = storage == StorageClassFunction || storage == StorageClassPrivate;
    const std::uint32_t type = operand(definition(operand(old, 0)), 2);
    if (!own || old.operands.size() > 3 || !hasNull(type)) return keep(old);
    const std::uint32_t zero = null(type);
    put(OpVariable, {old.operands[0], old.operands[1], storage, zero});
}

// From a pointer to a part of what it points to.
void AccessBounder::putChain(const SpirvInstruction& old) {
    std::vector<std::uint32_t> operands(old.operands.begin(), old.operands.end());
    std::uint32_t type = operand(definition(typeOf(operand(old, 2))), 2);
    for (std::size_t i = 3; i < operands.size(); ++i) {
        const SpirvInstruction& shape = definition(type);
        if (shape.opcode == OpTypeStruct) {
            const auto member = integers_.find(operands[i]);
            if (member == integers_.end()) fail("chooses a member of a structure at run time");
            type = operand(shape, std::size_t{1} + member->second);
            continue;
        }
        operands[i] = boundedIndex(operands[i], shape);
        type = operand(shape, 1); // of its elements, components or columns
    }
    putWords(OpAccessChain, operands); // which promises less than OpInBoundsAccessChain
}

void AccessBounder::putVectorAccess(const SpirvInstruction& old, std::size_t index) {
    std::vector<std::uint32_t> operands(old.operands.begin(), old.operands.end());
    operand(old, index);
    operands[index] = boundedIndex(operands[index], definition(typeOf(operands[2])));
    putWords(old.opcode, operands);
}

std::uint32_t AccessBounder::boundedIndex(std::uint32_t index, const SpirvInstruction& shape) {
    std::uint32_t count = 0; // 0: known only to the device
    switch (shape.opcode) {
    case OpTypeRuntimeArray: return index;
    case OpTypeVector:
    case OpTypeMatrix: count = operand(shape, 2); break;
    case OpTypeArray: {
        const auto length = integers_.find(operand(shape, 2));
        if (length == integers_.end()) fail("has an array whose length cannot be computed");
        count = std::max(length->second, 1u); // see putArrayType()
        break;
    }
    case OpTypeCooperativeMatrixNV:
    case matrixTypeOfKhr: break;
    default: fail("indexes something without elements");
    }
    if (count > 0) return atMost(index, count - 1);
    const bool khr = shape.opcode == matrixTypeOfKhr;
    const std::uint32_t length = made(khr ? matrixLengthOfKhr : std::uint32_t{OpCooperativeMatrixLengthNV},
                                      uintType(), {operand(shape, 0)});
    const std::uint32_t last = made(OpISub, uintType(), {length, constant(uintType(), 1)});
    if (typeOf(index) != uintType()) index = made(OpBitcast, uintType(), {index});
    return least(uintType(), index, last);
}

std::uint32_t AccessBounder::atMost(std::uint32_t index, std::uint32_t last) {
    std::uint32_t type = typeOf(index);
    if (const auto value = integers_.find(index); value != integers_.end())
        return value->second <= last ? index : constant(type, last);
    if (operand(definition(type), 1) != 32) { // negative ones become large
        type = uintType();
        index = made(OpUConvert, type, {index});
    }
    return least(type, index, constant(type, last));
}

void AccessBounder::putBroadcast(const SpirvInstruction& old) {
    std::vector<std::uint32_t> operands(old.operands.begin(), old.operands.end());
    operands[4] = atMost(operand(old, 4), subgroupSize_ - 1);
    putWords(old.opcode, operands);
}

// Whether a divisor is a constant, and neither 0 nor -1.
bool AccessBounder::divides(std::uint32_t divisor, bool isSigned) const {
    if (const auto value = integers_.find(divisor); value != integers_.end())
        return value->second != 0 && !(isSigned && value->second == ~0u);
    const SpirvInstruction& made = definition(divisor);
    if (made.opcode != OpConstantComposite && made.opcode != OpSpecConstantComposite) return false;
    return std::ranges::all_of(made.operands.subspan(2),
                               [&](std::uint32_t part) { return divides(part, isSigned); });
}

void AccessBounder::putDivision(const SpirvInstruction& old) {
    const std::uint32_t a = operand(old, 2), b = operand(old, 3);
    const bool isSigned = old.opcode != OpUDiv && old.opcode != OpUMod;
    if (divides(b, isSigned)) return keep(old);
    const std::uint32_t type = typeOf(b), yes = boolType(type);
    std::uint32_t bad = made(OpIEqual, yes, {b, null(type)});
    if (isSigned) {
        const std::uint32_t ofA = typeOf(a);
        const std::uint32_t smallest = made(OpIEqual, yes, {a, constant(ofA, 0x80000000u)});
        const std::uint32_t minusOne = made(OpIEqual, yes, {b, constant(type, ~0u)});
        const std::uint32_t overflows = made(OpLogicalAnd, yes, {smallest, minusOne});
        bad = made(OpLogicalOr, yes, {bad, overflows});
    }
    const std::uint32_t safe = made(OpSelect, type, {bad, constant(type, 1), b});
    put(old.opcode, {old.operands[0], old.operands[1], a, safe});
}

// Drivers compute these on the processor, where some divisions end the program.
void AccessBounder::putSpecOperation(const SpirvInstruction& old) {
    if (const auto value = integers_.find(operand(old, 1)); value != integers_.end())
        return put(OpConstant, {old.operands[0], old.operands[1], value->second});
    if (isDivision(operand(old, 2))) fail("divides specialisation constants in a way that cannot be checked");
    keep(old);
}

// An integer, or a vector of that many of them. Of integers of 8 and 16 bits, 0x80000000 is the smallest,
// too.
std::uint32_t AccessBounder::constant(std::uint32_t type, std::uint32_t value) {
    if (const auto known = constants_.find({type, value}); known != constants_.end()) return known->second;
    std::uint32_t id = 0;
    if (type == uint_) { // which may be new
        id = global([&] { return made(OpConstant, type, {value}); });
    } else if (const SpirvInstruction& shape = definition(type); shape.opcode == OpTypeVector) {
        const std::uint32_t part = constant(operand(shape, 1), value);
        std::vector<std::uint32_t> operands{type, id = newId()};
        operands.resize(operands.size() + operand(shape, 2), part);
        global([&] {
            putWords(OpConstantComposite, operands);
            return id;
        });
    } else {
        const std::uint32_t bits = operand(shape, 1);
        std::uint32_t literal = value;
        if (bits < 32) { // extended by its sign, if it has one
            if (value == 0x80000000u) literal = 1u << (bits - 1);
            const bool negative = operand(shape, 2) == 1 && (literal >> (bits - 1) & 1) != 0;
            literal = negative ? literal | ~0u << bits : literal & ~(~0u << bits);
        }
        id = global([&] { return made(OpConstant, type, {literal}); });
    }
    constants_[{type, value}] = id;
    return id;
}

std::uint32_t AccessBounder::uintType() {
    if (uint_ == 0)
        uint_ = global([&] {
            const std::uint32_t id = newId();
            put(OpTypeInt, {id, 32, 0});
            return id;
        });
    return uint_;
}

// What comparisons of such values give.
std::uint32_t AccessBounder::boolType(std::uint32_t like) {
    if (bool_ == 0)
        bool_ = global([&] {
            const std::uint32_t id = newId();
            put(OpTypeBool, {id});
            return id;
        });
    const SpirvInstruction& shape = definition(like);
    if (shape.opcode != OpTypeVector) return bool_;
    std::uint32_t& vector = boolVectors_[operand(shape, 2)];
    if (vector == 0)
        vector = global([&] {
            const std::uint32_t id = newId();
            put(OpTypeVector, {id, bool_, operand(shape, 2)});
            return id;
        });
    return vector;
}

} // namespace

std::vector<std::uint32_t> boundAccesses(std::span<const std::uint32_t> words, const SpecConstants& constants,
                                         const std::string& shader, std::uint32_t subgroupSize) {
    return AccessBounder(words, constants, shader, subgroupSize).bounded();
}

} // namespace lockstep::gpu
