#include "demos/exhibits/ladder/recording_shader.h"

#include <algorithm>
#include <map>
#include <string>

#include "engine/gpu/spirv_rewriter.h"

namespace lockstep::demos {

namespace {

class AccessWriter : gpu::SpirvRewriter {
  public:
    AccessWriter(std::span<const std::uint32_t> words, const std::string& shader, Recording recording,
                 std::uint32_t texelBytes)
        : SpirvRewriter(words, shader), events_(recording == Recording::events), texelBytes_(texelBytes) {
        find();
        findArrays();
    }

    RecordingShader written();

  private:
    using Instruction = gpu::SpirvInstruction;

    // Reading.
    void find();
    void findArrays();
    void addArray(std::uint32_t variable, std::uint32_t storage);
    const Instruction& definition(std::uint32_t id) const {
        const auto found = definitions_.find(id);
        if (found == definitions_.end()) fail("uses something that it does not define");
        return code_[found->second];
    }
    std::string text(const Instruction& of, std::size_t from) const {
        const auto words = of.operands.subspan(from);
        const std::string all(reinterpret_cast<const char*>(words.data()), words.size_bytes());
        return all.substr(0, all.find('\0'));
    }

    // Writing.
    void copy(const Instruction& now);
    void follow(const Instruction& chain);
    void putAccess(std::uint32_t pointer, bool write);
    void putAccess(const RecordedArray& array, std::uint32_t index, bool write);
    void putDecorations();
    void putGlobals();
    void putEnd();
    void putSum(std::uint32_t sum, std::uint32_t word);
    void putEvent();
    void call(std::uint32_t what, std::uint32_t at) {
        made(spv::OpFunctionCall, void_, {event_, constant(what), at});
    }
    std::uint32_t load(std::uint32_t variable) { return made(spv::OpLoad, uint_, {variable}); }
    std::uint32_t sum(std::uint32_t a, std::uint32_t b) { return made(spv::OpIAdd, uint_, {a, b}); }
    std::uint32_t recordWord(std::uint32_t index) {
        return made(spv::OpAccessChain, word_, {buffer_, constant(0), index});
    }
    std::uint32_t addAtomically(std::uint32_t word, std::uint32_t value) {
        const std::uint32_t scope = constant(vulkanMemory_ ? spv::ScopeQueueFamily : spv::ScopeDevice);
        return made(spv::OpAtomicIAdd, uint_, {recordWord(constant(word)), scope, constant(0), value});
    }
    template <class Body> void ifTrue(std::uint32_t condition, Body body) {
        const std::uint32_t then = newId(), done = newId();
        put(spv::OpSelectionMerge, {done, spv::SelectionControlMaskNone});
        put(spv::OpBranchConditional, {condition, then, done});
        put(spv::OpLabel, {then});
        body();
        put(spv::OpBranch, {done});
        put(spv::OpLabel, {done});
    }
    /// Constants turn out to be needed in functions, and stand before them.
    std::uint32_t constant(std::uint32_t value) {
        std::uint32_t& id = constants_[value];
        if (id != 0) return id;
        id = newId();
        globals_.insert(globals_.end(), {4u << 16 | spv::OpConstant, uint_, id, value});
        return id;
    }

    bool events_;
    std::uint32_t texelBytes_;
    std::map<std::uint32_t, std::size_t> definitions_; // id -> number in code_
    std::map<std::uint32_t, std::string> names_;
    std::map<std::uint32_t, std::string> memberNames_; // of structures' first members
    std::map<std::uint32_t, std::uint32_t> bindings_;
    std::map<std::uint32_t, RecordedArray> arrays_; // by variable
    /// A part of an array: its element, once one is chosen.
    struct Part {
        const RecordedArray* array = nullptr;
        std::size_t before = 0; ///< indices before the element's, still to come
        std::uint32_t element = 0;
    };
    std::map<std::uint32_t, Part> parts_;                    // by pointer
    std::map<std::uint32_t, const RecordedArray*> fetching_; // by loaded image

    // Ids in the module; 0: it has none.
    std::uint32_t main_ = 0, mainType_ = 0, void_ = 0;
    std::uint32_t uint_ = 0, bool_ = 0, uint3_ = 0, eventType_ = 0;
    std::uint32_t group_ = 0, index_ = 0; // gl_WorkGroupID, gl_LocalInvocationIndex
    bool ownGroup_ = false, ownIndex_ = false, vulkanMemory_ = false, inMain_ = false;
    // Its new parts.
    std::uint32_t end_ = 0, event_ = 0, struct_ = 0, array_ = 0, buffer_ = 0, word_ = 0;
    std::uint32_t read_ = 0, written_ = 0, count_ = 0; // of an invocation
    std::uint32_t binding_ = 0;
    std::map<std::uint32_t, std::uint32_t> constants_; // value -> id
    std::vector<std::uint32_t> globals_;
};

void AccessWriter::find() {
    for (std::size_t at = 0; at < code_.size(); ++at) {
        const Instruction& now = code_[at];
        if (const auto result = resultOf(now)) definitions_[result->id] = at;
        switch (now.opcode) {
        case spv::OpMemoryModel: vulkanMemory_ = operand(now, 1) == spv::MemoryModelVulkan; break;
        case spv::OpEntryPoint: main_ = operand(now, 1); break;
        case spv::OpName: names_[operand(now, 0)] = text(now, 1); break;
        case spv::OpMemberName:
            if (operand(now, 1) == 0) memberNames_[now.operands[0]] = text(now, 2);
            break;
        case spv::OpDecorate:
            if (now.operands.size() < 3) break;
            if (now.operands[1] == spv::DecorationBinding) bindings_[now.operands[0]] = now.operands[2];
            if (now.operands[1] != spv::DecorationBuiltIn) break;
            if (now.operands[2] == spv::BuiltInWorkgroupId) group_ = now.operands[0];
            if (now.operands[2] == spv::BuiltInLocalInvocationIndex) index_ = now.operands[0];
            break;
        case spv::OpTypeBool: bool_ = operand(now, 0); break;
        case spv::OpTypeInt:
            if (operand(now, 1) == 32 && operand(now, 2) == 0) uint_ = now.operands[0];
            break;
        case spv::OpTypeVector:
            if (uint_ != 0 && operand(now, 1) == uint_ && operand(now, 2) == 3) uint3_ = now.operands[0];
            break;
        case spv::OpTypeFunction:
            if (now.operands.size() == 4 && now.operands[2] == uint_ && now.operands[3] == uint_ &&
                definition(now.operands[1]).opcode == spv::OpTypeVoid)
                eventType_ = now.operands[0];
            break;
        case spv::OpFunction:
            if (operand(now, 1) != main_) break;
            void_ = now.operands[0];
            mainType_ = operand(now, 3);
            break;
        default: break;
        }
    }
    if (mainType_ == 0) fail("has no entry point");
}

void AccessWriter::findArrays() {
    for (const Instruction& now : code_)
        if (now.opcode == spv::OpVariable) addArray(operand(now, 1), operand(now, 2));
    for (const auto& [variable, binding] : bindings_) binding_ = std::max(binding_, binding + 1);
    if (std::ranges::all_of(arrays_, [](const auto& each) { return each.second.shared; }))
        fail("has no buffer whose accesses could be recorded");
}

void AccessWriter::addArray(std::uint32_t variable, std::uint32_t storage) {
    std::uint32_t type = operand(definition(operand(definition(variable), 0)), 2); // that it points to
    const auto binding = bindings_.find(variable);
    if (storage == spv::StorageClassUniformConstant && binding != bindings_.end()) {
        if (operand(definition(type), 2) == spv::DimBuffer)
            arrays_[variable] = {names_[variable], binding->second, texelBytes_, 4, false};
        return;
    }
    const bool shared = storage == spv::StorageClassWorkgroup;
    if (!shared && (storage != spv::StorageClassStorageBuffer || binding == bindings_.end())) return;
    const std::string name = shared ? names_[variable] : memberNames_[type];
    if (!shared) type = operand(definition(type), 1);
    const Instruction& list = definition(type);
    if (list.opcode != spv::OpTypeArray && list.opcode != spv::OpTypeRuntimeArray) return;
    const Instruction* element = &definition(operand(list, 1));
    const std::uint32_t count = element->opcode == spv::OpTypeVector ? operand(*element, 2) : 1;
    if (count > 1) element = &definition(operand(*element, 1));
    const bool number = element->opcode == spv::OpTypeFloat || element->opcode == spv::OpTypeInt;
    if (!number || operand(*element, 1) != 32 || count == 3)
        fail("has an array '" + name + "' whose elements are not known here");
    const bool halves = count == 2 && operand(*element, 0) == uint_; // two in each word
    const auto id = shared
                        ? firstSharedId + static_cast<std::uint32_t>(std::ranges::count_if(
                                              arrays_, [](const auto& each) { return each.second.shared; }))
                        : binding->second;
    arrays_[variable] = {name, id, 4 * count, halves ? 4 : count, shared};
}

RecordingShader AccessWriter::written() {
    begin();
    for (std::uint32_t* id : {&end_, &event_, &struct_, &array_, &buffer_, &read_, &written_, &count_})
        *id = newId();
    ownGroup_ = group_ == 0;
    ownIndex_ = index_ == 0;
    if (ownGroup_) group_ = newId();
    if (ownIndex_) index_ = newId();
    const std::size_t decorations = lastDecoration();
    const std::size_t functions = firstFunction();
    std::size_t globalsAt = 0;
    for (std::size_t at = 0; at < code_.size(); ++at) {
        if (at == functions) {
            putGlobals();
            globalsAt = out_.size();
        }
        copy(code_[at]);
        if (at == decorations) putDecorations();
    }
    putEnd();
    if (events_) putEvent();
    out_.insert(out_.begin() + static_cast<std::ptrdiff_t>(globalsAt), globals_.begin(), globals_.end());
    RecordingShader result{ended(), {}, binding_};
    for (auto& [variable, array] : arrays_) result.arrays.push_back(std::move(array));
    return result;
}

void AccessWriter::copy(const Instruction& now) {
    switch (now.opcode) {
    case spv::OpEntryPoint: {
        std::vector<std::uint32_t> inputs;
        if (ownGroup_) inputs.push_back(group_);
        if (ownIndex_) inputs.push_back(index_);
        return putEntryPoint(now, main_, inputs, {buffer_, read_, written_, count_});
    }
    case spv::OpFunction: inMain_ = operand(now, 1) == main_; break;
    case spv::OpReturn:
        if (inMain_) made(spv::OpFunctionCall, void_, {end_});
        break;
    case spv::OpLoopMerge:
        keep(now);
        // Unrolled, each access would be a copy of the call below, and drivers would compile for minutes.
        if (events_ && (operand(now, 2) & spv::LoopControlUnrollMask) != 0)
            out_[out_.size() - now.operands.size() + 2] = spv::LoopControlDontUnrollMask;
        return;
    case spv::OpAccessChain:
    case spv::OpInBoundsAccessChain: follow(now); break;
    case spv::OpLoad:
        if (const auto image = arrays_.find(operand(now, 2)); image != arrays_.end())
            fetching_[operand(now, 1)] = &image->second;
        putAccess(operand(now, 2), false);
        break;
    case spv::OpStore: putAccess(operand(now, 0), true); break;
    case spv::OpImageFetch:
        if (const auto image = fetching_.find(operand(now, 2)); image != fetching_.end())
            putAccess(*image->second, operand(now, 3), false);
        break;
    case spv::OpControlBarrier:
        if (events_) call(recordLayout::barrier, constant(0));
        break;
    default: break;
    }
    keep(now);
}

void AccessWriter::follow(const Instruction& chain) {
    const std::uint32_t base = operand(chain, 2);
    Part part;
    if (const auto array = arrays_.find(base); array != arrays_.end())
        part = {&array->second, array->second.shared ? 0u : 1u}; // the buffer's member comes first
    else if (const auto other = parts_.find(base); other != parts_.end())
        part = other->second;
    else
        return;
    for (const std::uint32_t index : chain.operands.subspan(3)) {
        if (part.element == 0 && part.before == 0) part.element = index;
        if (part.before > 0) --part.before;
    }
    parts_[operand(chain, 1)] = part;
}

void AccessWriter::putAccess(std::uint32_t pointer, bool write) {
    const auto part = parts_.find(pointer);
    if (part != parts_.end() && part->second.element != 0)
        putAccess(*part->second.array, part->second.element, write);
}

void AccessWriter::putAccess(const RecordedArray& array, std::uint32_t index, bool write) {
    if (!array.shared) {
        const std::uint32_t total = write ? written_ : read_;
        put(spv::OpStore, {total, sum(load(total), constant(array.bytes))});
    }
    if (!events_) return;
    if (resultOf(definition(index))->type != uint_) index = made(spv::OpBitcast, uint_, {index});
    call(array.id + (write ? recordLayout::write : 0), index);
}

void AccessWriter::putDecorations() {
    put(spv::OpDecorate, {struct_, spv::DecorationBlock});
    put(spv::OpMemberDecorate, {struct_, 0, spv::DecorationOffset, 0});
    put(spv::OpDecorate, {array_, spv::DecorationArrayStride, 4});
    put(spv::OpDecorate, {buffer_, spv::DecorationDescriptorSet, 0});
    put(spv::OpDecorate, {buffer_, spv::DecorationBinding, binding_});
    if (ownGroup_) put(spv::OpDecorate, {group_, spv::DecorationBuiltIn, spv::BuiltInWorkgroupId});
    if (ownIndex_) put(spv::OpDecorate, {index_, spv::DecorationBuiltIn, spv::BuiltInLocalInvocationIndex});
}

void AccessWriter::putGlobals() {
    if (uint_ == 0) put(spv::OpTypeInt, {uint_ = newId(), 32, 0});
    if (bool_ == 0) put(spv::OpTypeBool, {bool_ = newId()});
    if (uint3_ == 0) put(spv::OpTypeVector, {uint3_ = newId(), uint_, 3});
    if (eventType_ == 0) put(spv::OpTypeFunction, {eventType_ = newId(), void_, uint_, uint_});
    const auto pointerTo = [&](std::uint32_t storage, std::uint32_t type) {
        const std::uint32_t pointer = newId();
        put(spv::OpTypePointer, {pointer, storage, type});
        return pointer;
    };
    const auto variable = [&](std::uint32_t id, std::uint32_t storage, std::uint32_t type) {
        put(spv::OpVariable, {pointerTo(storage, type), id, storage});
    };
    if (ownGroup_) variable(group_, spv::StorageClassInput, uint3_);
    if (ownIndex_) variable(index_, spv::StorageClassInput, uint_);
    const std::uint32_t own = pointerTo(spv::StorageClassPrivate, uint_), zero = newId();
    put(spv::OpConstant, {uint_, zero, 0}); // constant() defines its own after these variables
    for (const std::uint32_t id : {read_, written_, count_})
        put(spv::OpVariable, {own, id, spv::StorageClassPrivate, zero});
    put(spv::OpTypeRuntimeArray, {array_, uint_});
    put(spv::OpTypeStruct, {struct_, array_});
    variable(buffer_, spv::StorageClassStorageBuffer, struct_);
    word_ = pointerTo(spv::StorageClassStorageBuffer, uint_);
}

// end(), which main() calls wherever it returns. Each invocation adds up its bytes by itself, and adds the
// sum to memory once, here. main() stays the entry point: limitLoops() leaves short loops of the entry point
// uncounted, but counts every loop of a function that it calls.
void AccessWriter::putEnd() {
    put(spv::OpFunction, {void_, end_, spv::FunctionControlMaskNone, mainType_});
    put(spv::OpLabel, {newId()});
    putSum(read_, recordLayout::bytesRead);
    putSum(written_, recordLayout::bytesWritten);
    put(spv::OpReturn, {});
    put(spv::OpFunctionEnd, {});
}

void AccessWriter::putSum(std::uint32_t own, std::uint32_t word) {
    const std::uint32_t bytes = load(own);
    ifTrue(made(spv::OpINotEqual, bool_, {bytes, constant(0)}), [&] {
        const std::uint32_t before = addAtomically(word, bytes);
        const std::uint32_t wrapped = made(spv::OpULessThan, bool_, {sum(before, bytes), before});
        ifTrue(wrapped, [&] { addAtomically(word + 1, constant(1)); });
    });
}

// event(what, at): appends to the list of this invocation, if its workgroup is the one to be recorded.
void AccessWriter::putEvent() {
    put(spv::OpFunction, {void_, event_, spv::FunctionControlMaskNone, eventType_});
    const std::uint32_t what = made(spv::OpFunctionParameter, uint_, {});
    const std::uint32_t at = made(spv::OpFunctionParameter, uint_, {});
    put(spv::OpLabel, {newId()});
    const auto recordAt = [&](std::uint32_t index) { return load(recordWord(index)); };
    const std::uint32_t group = made(spv::OpLoad, uint3_, {group_});
    const auto inGroup = [&](std::uint32_t component, std::uint32_t word) {
        const std::uint32_t own = made(spv::OpCompositeExtract, uint_, {group, component});
        return made(spv::OpIEqual, bool_, {own, recordAt(constant(word))});
    };
    const std::uint32_t column = inGroup(0, recordLayout::groupX), row = inGroup(1, recordLayout::groupY);
    ifTrue(made(spv::OpLogicalAnd, bool_, {column, row}), [&] {
        const std::uint32_t capacity = recordAt(constant(recordLayout::capacity));
        const auto twice = [&](std::uint32_t value) {
            return made(spv::OpIMul, uint_, {value, constant(2)});
        };
        const std::uint32_t length = sum(twice(capacity), constant(1));
        const std::uint32_t before = made(spv::OpIMul, uint_, {load(index_), length});
        const std::uint32_t own = sum(before, constant(recordLayout::events));
        const std::uint32_t count = load(count_);
        const std::uint32_t next = sum(count, constant(1));
        ifTrue(made(spv::OpULessThan, bool_, {count, capacity}), [&] {
            const std::uint32_t place = sum(sum(own, constant(1)), twice(count));
            put(spv::OpStore, {recordWord(place), what});
            put(spv::OpStore, {recordWord(sum(place, constant(1))), at});
        });
        put(spv::OpStore, {count_, next});
        put(spv::OpStore, {recordWord(own), next});
    });
    put(spv::OpReturn, {});
    put(spv::OpFunctionEnd, {});
}

} // namespace

RecordingShader recordingShaderOf(std::span<const std::uint32_t> words, const std::string& stem,
                                  Recording recording, std::uint32_t texelBytes) {
    return AccessWriter(words, stem, recording, texelBytes).written();
}

} // namespace lockstep::demos
