#include "engine/gpu/loop_limit.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "engine/gpu/spirv_rewriter.h"

namespace lockstep::gpu {

namespace {

using namespace spv;

constexpr std::uint64_t mostFreeRounds = 65536; // of loops inside each other
constexpr std::uint64_t mostUnrolled = 4096;    // of loops inside each other, though asked for more
constexpr std::uint64_t mostRoundsBetween = std::uint64_t{1}
                                            << 20; // of all that are not counted, in one round

struct Block {
    std::uint32_t label = 0;
    std::uint32_t returns = 0; // the type that its function returns
    bool ofMain = false;
    std::size_t begin = 0;
    std::size_t merge = 0; // of a loop's header: its OpLoopMerge; else 0
    std::size_t end = 0;   // the terminator
    bool waits = false;    // for the workgroup's other invocations
    bool calls = false;    // a function
    std::string place;     // of a header, in the text
};

struct Loop {
    const Block* header = nullptr;
    const Block* exit = nullptr; // in every round, its terminator leaves the loop or goes on; null for none
    bool leavesIfTrue = false;   // that terminator
    bool waits = false;          // for the workgroup's other invocations, in a round
    std::set<std::uint32_t> labels; // of its blocks
    bool free = false;              // not counted
    std::uint64_t rounds = 1;       // of a free one, times those of the free ones around it
    std::uint64_t inside = 0;       // rounds of free loops in one round of this one
    std::uint64_t unrolled = 0;     // rounds, as far as a driver knows them, times those of free ones around
};

class LoopLimiter : SpirvRewriter {
  public:
    LoopLimiter(std::span<const std::uint32_t> words, const SpecConstants& constants,
                const std::string& shader)
        : SpirvRewriter(words, shader), integers_(integerConstants(words, constants, shader)) {
        findBlocks();
        findLoops();
    }

    std::vector<std::uint32_t> limited(const std::optional<LoopReport>& report);

  private:
    void findBlocks();
    void findLoops();
    std::set<std::uint32_t> blocksOf(const Block& header) const;
    void findExit(Loop& loop) const;
    bool leads(std::uint32_t label, std::uint32_t to) const;
    std::optional<std::uint64_t> roundsOf(const Loop& loop) const;
    std::optional<std::uint64_t> roundsBy(const Loop& loop, const SpirvInstruction& phi) const;
    std::optional<std::uint64_t> roundsUpTo(const SpirvInstruction& condition, std::uint32_t counter,
                                            const std::optional<std::uint32_t>& first,
                                            std::uint32_t step) const;
    const SpirvInstruction* conditionOf(const Loop& loop) const;
    /// A driver would unroll it as it is asked to, and take minutes and gigabytes for that.
    bool unrollsTooFar(const Loop& loop) const {
        const bool asked = (code_[loop.header->merge].operands[2] & LoopControlUnrollMask) != 0;
        return asked && loop.unrolled > mostUnrolled;
    }
    const SpirvInstruction* definition(std::uint32_t id) const {
        const auto found = definitions_.find(id);
        return found == definitions_.end() ? nullptr : &code_[found->second];
    }
    std::optional<std::uint32_t> integer(std::uint32_t id) const {
        const auto found = integers_.find(id);
        return found == integers_.end() ? std::nullopt : std::optional(found->second);
    }

    // Writing.
    void putDecorations();
    void putGlobals();
    std::uint32_t constant(std::uint32_t value);
    void putCheck(const Loop& loop);
    void putReport(const Loop& loop);
    void putExit(const Loop& loop, const SpirvInstruction& terminator);

    std::map<std::uint32_t, std::uint32_t> integers_;
    std::map<std::uint32_t, std::size_t> definitions_; // of code, phis and constants: id -> number in code_
    std::map<std::uint32_t, Block> blocks_;            // by label
    std::vector<std::uint32_t> order_;                 // their labels
    std::vector<Loop> loops_;

    std::optional<LoopReport> report_;
    std::uint32_t uint_ = 0, bool_ = 0, reported_ = 0, slot_ = 0, slotPointer_ = 0, zero_ = 0;
    // Of rounds, in loops without and with a barrier. Those with one have as many rounds in all invocations
    // of a workgroup, or wait for ever as they stand; what the others have spent must not let some leave
    // earlier.
    std::uint32_t counters_[2]{};
    bool functionsWait_ = false;                       // other than main()
    std::uint32_t within_ = 0;                         // whether the loop's round is within the budget
    std::uint32_t condition_ = 0;                      // of the fork at which it goes on or leaves the loop
    std::map<std::uint32_t, std::uint32_t> constants_; // by value
    std::map<std::uint32_t, std::uint32_t> nothing_;   // what functions return that end early, by type
    std::map<const Loop*, std::uint32_t> numbers_;     // in the report
    std::map<std::uint32_t, std::uint32_t> renamed_;   // a block -> the one that now ends as it did
};

void LoopLimiter::findBlocks() {
    std::uint32_t entry = 0;
    Block block;
    for (std::size_t at = 0; at < code_.size(); ++at) {
        const SpirvInstruction& now = code_[at];
        const std::string& place = placeOf(now);
        switch (now.opcode) {
        case OpEntryPoint: entry = operand(now, 1); break;
        case OpTypeBool: bool_ = operand(now, 0); break;
        case OpTypeInt:
            if (operand(now, 1) == 32 && operand(now, 2) == 0) uint_ = operand(now, 0);
            break;
        case OpFunction:
            block = {};
            block.returns = operand(now, 0);
            block.ofMain = operand(now, 1) == entry;
            break;
        case OpLabel:
            block.label = operand(now, 0);
            block.begin = at;
            block.merge = 0;
            block.waits = block.calls = false;
            break;
        case OpControlBarrier:
            block.waits = true;
            if (!block.ofMain) functionsWait_ = true;
            break;
        case OpFunctionCall: block.calls = true; break;
        case OpLoopMerge:
            operand(now, 2);
            block.merge = at;
            block.place = place;
            break;
        case OpBranch:
        case OpBranchConditional:
        case OpSwitch:
        case OpReturn:
        case OpReturnValue:
        case OpKill:
        case OpUnreachable:
            block.end = at;
            blocks_[block.label] = block;
            order_.push_back(block.label);
            break;
        case OpPhi:
        case OpIAdd:
        case OpShiftRightLogical:
        case OpShiftRightArithmetic:
        case OpULessThan:
        case OpSLessThan:
        case OpULessThanEqual:
        case OpSLessThanEqual:
        case OpUGreaterThan:
        case OpSGreaterThan:
        case OpINotEqual:
            operand(now, 3);
            definitions_[now.operands[1]] = at;
            break;
        case OpTypeVoid: definitions_[operand(now, 0)] = at; break;
        default: break;
        }
    }
}

// Everything that can be reached without leaving the loop. Where it is left in other ways than to its merge
// block, that is too much, and more loops are counted than needed.
std::set<std::uint32_t> LoopLimiter::blocksOf(const Block& header) const {
    const std::uint32_t merge = code_[header.merge].operands[0];
    std::set<std::uint32_t> labels{header.label};
    std::vector<std::uint32_t> open{header.label};
    while (!open.empty()) {
        const auto block = blocks_.find(open.back());
        open.pop_back();
        if (block == blocks_.end()) fail("branches to nowhere");
        const SpirvInstruction& end = code_[block->second.end];
        std::vector<std::uint32_t> next;
        if (end.opcode == OpBranch) next = {operand(end, 0)};
        if (end.opcode == OpBranchConditional) next = {operand(end, 1), operand(end, 2)};
        if (end.opcode == OpSwitch) {
            next = {operand(end, 1)};
            for (std::size_t i = 3; i < end.operands.size(); i += 2) next.push_back(end.operands[i]);
        }
        for (const std::uint32_t label : next)
            if (label != merge && labels.insert(label).second) open.push_back(label);
    }
    return labels;
}

// It is this block, or one that only branches there.
bool LoopLimiter::leads(std::uint32_t label, std::uint32_t to) const {
    if (label == to) return true;
    const auto found = blocks_.find(label);
    if (found == blocks_.end()) return false;
    const auto isLine = [](const SpirvInstruction& now) {
        return now.opcode == OpLine || now.opcode == OpNoLine;
    };
    const Block& block = found->second;
    const SpirvInstruction& end = code_[block.end];
    const auto between = std::span(code_).subspan(block.begin + 1, block.end - block.begin - 1);
    return end.opcode == OpBranch && operand(end, 0) == to && std::ranges::all_of(between, isLine);
}

// Where a round comes by on every way: between its header and the first fork, or where it goes back.
void LoopLimiter::findExit(Loop& loop) const {
    const std::uint32_t merge = operand(code_[loop.header->merge], 0);
    const auto take = [&](const Block& block) {
        const SpirvInstruction& end = code_[block.end];
        if (end.opcode != OpBranchConditional) return false;
        const bool ifTrue = leads(operand(end, 1), merge);
        if (ifTrue == leads(operand(end, 2), merge)) return false;
        loop.exit = &block;
        loop.leavesIfTrue = ifTrue;
        return true;
    };
    const Block* block = loop.header;
    for (std::set<std::uint32_t> seen; seen.insert(block->label).second;) {
        if (take(*block)) return;
        const bool inner = block->merge != 0 && block != loop.header;
        const SpirvInstruction& end = code_[block->end];
        if (!inner && end.opcode != OpBranch) break;
        const auto next = blocks_.find(inner ? operand(code_[block->merge], 0) : operand(end, 0));
        if (next == blocks_.end() || !loop.labels.contains(next->first)) break;
        block = &next->second;
    }
    for (const std::uint32_t label : loop.labels) {
        const Block& last = blocks_.at(label);
        const SpirvInstruction& end = code_[last.end];
        const bool back = end.opcode == OpBranchConditional &&
                          (operand(end, 1) == loop.header->label || operand(end, 2) == loop.header->label);
        if (back && take(last)) return;
    }
}

void LoopLimiter::findLoops() {
    std::uint64_t inMain = 0; // rounds of free loops that are in no counted one
    for (const std::uint32_t label : order_) {
        const Block& header = blocks_.at(label);
        if (header.merge == 0) continue;
        Loop loop{.header = &header, .labels = blocksOf(header)};
        findExit(loop);
        loop.waits = std::ranges::any_of(loop.labels, [this](std::uint32_t inside) {
            const Block& block = blocks_.at(inside);
            return block.waits || (block.calls && functionsWait_);
        });
        std::uint64_t* spent = &inMain;
        for (Loop& around : loops_) { // from the outside to the inside
            if (!around.labels.contains(label)) continue;
            loop.rounds = around.rounds; // includes those around it; 1 if it is counted
            if (!around.free) spent = &around.inside;
        }
        const std::optional<std::uint64_t> own = header.ofMain ? roundsOf(loop) : std::nullopt;
        const std::uint64_t rounds = own ? *own * loop.rounds : 0;
        loop.unrolled = rounds;
        loop.free = own && rounds <= mostFreeRounds && *spent + rounds <= mostRoundsBetween;
        loop.rounds = loop.free ? rounds : 1;
        if (loop.free) *spent += rounds;
        loops_.push_back(std::move(loop));
    }
}

// The comparison that every round begins with, and that ends the loop when it is false.
const SpirvInstruction* LoopLimiter::conditionOf(const Loop& loop) const {
    const std::uint32_t merge = code_[loop.header->merge].operands[0];
    const SpirvInstruction* end = &code_[loop.header->end];
    if (end->opcode == OpBranch) {
        const auto next = blocks_.find(operand(*end, 0));
        if (next == blocks_.end() || next->second.merge != 0) return nullptr;
        end = &code_[next->second.end];
    }
    if (end->opcode != OpBranchConditional || operand(*end, 2) != merge) return nullptr;
    return definition(end->operands[0]);
}

std::optional<std::uint64_t> LoopLimiter::roundsOf(const Loop& loop) const {
    const SpirvInstruction* condition = conditionOf(loop);
    if (condition == nullptr) return std::nullopt;
    const auto found = definitions_.find(condition->operands[2]);
    if (found == definitions_.end() || found->second < loop.header->begin) return std::nullopt;
    const SpirvInstruction& phi = code_[found->second];
    const bool counts = found->second < loop.header->merge && phi.opcode == OpPhi && phi.operands.size() == 6;
    return counts ? roundsBy(loop, phi) : std::nullopt;
}

std::optional<std::uint64_t> LoopLimiter::roundsBy(const Loop& loop, const SpirvInstruction& phi) const {
    const auto value = [&](bool inside) -> std::optional<std::uint32_t> {
        for (std::size_t i = 2; i < 6; i += 2)
            if (loop.labels.contains(phi.operands[i + 1]) == inside) return phi.operands[i];
        return std::nullopt;
    };
    const auto before = value(false);
    const auto after = value(true);
    const SpirvInstruction* next = after ? definition(*after) : nullptr;
    if (!before || next == nullptr) return std::nullopt;
    const std::uint32_t counter = phi.operands[1];
    const SpirvInstruction& condition = *conditionOf(loop);
    const std::uint32_t a = next->operands[2];
    const std::uint32_t b = next->operands[3];
    const auto by = integer(a == counter ? b : a);
    if (!by || *by == 0 || (a != counter && b != counter)) return std::nullopt;
    if (next->opcode == OpIAdd && *by <= mostFreeRounds)
        return roundsUpTo(condition, counter, integer(*before), *by);
    const bool shifts =
        (next->opcode == OpShiftRightLogical || next->opcode == OpShiftRightArithmetic) && a == counter;
    const bool untilZero = (condition.opcode == OpUGreaterThan || condition.opcode == OpSGreaterThan ||
                            (condition.opcode == OpINotEqual && next->opcode == OpShiftRightLogical)) &&
                           integer(condition.operands[3]).value_or(~0u) < (1u << 31);
    const bool toZero = condition.opcode != OpINotEqual || integer(condition.operands[3]) == 0u;
    if (shifts && *by < 32 && untilZero && toZero) return 32;
    return std::nullopt;
}

std::optional<std::uint64_t> LoopLimiter::roundsUpTo(const SpirvInstruction& condition, std::uint32_t counter,
                                                     const std::optional<std::uint32_t>& first,
                                                     std::uint32_t step) const {
    const auto last = integer(condition.operands[3]);
    if (condition.operands[2] != counter || !last || *last > (1u << 30)) return std::nullopt;
    const bool isSigned = condition.opcode == OpSLessThan || condition.opcode == OpSLessThanEqual;
    const bool includes = condition.opcode == OpULessThanEqual || condition.opcode == OpSLessThanEqual;
    if (!isSigned && !includes && condition.opcode != OpULessThan) return std::nullopt;
    if (isSigned && !first) return std::nullopt;
    const std::int64_t from = !first     ? 0
                              : isSigned ? std::int64_t{static_cast<std::int32_t>(*first)}
                                         : *first;
    const std::int64_t length = std::int64_t{*last} + (includes ? 1 : 0) - from;
    return static_cast<std::uint64_t>(std::max<std::int64_t>((length + step - 1) / step, 1));
}

std::vector<std::uint32_t> LoopLimiter::limited(const std::optional<LoopReport>& report) {
    const bool allFree = std::ranges::all_of(loops_, &Loop::free);
    const auto unrolls = [this](const Loop& loop) { return unrollsTooFar(loop); };
    if (allFree && std::ranges::none_of(loops_, unrolls)) return {words_.begin(), words_.end()};
    report_ = report;
    begin();
    for (std::uint32_t& counter : counters_) counter = newId();
    if (report_) reported_ = newId();
    std::map<std::size_t, const Loop*> checks; // by the instruction that the check goes before
    std::map<std::size_t, const Loop*> ends;   // by the terminator of the block with the check
    std::set<std::size_t> rolled;              // OpLoopMerge of loops that are not unrolled
    for (const Loop& loop : loops_) {
        if (unrollsTooFar(loop)) rolled.insert(loop.header->merge);
        if (loop.free) continue;
        const Block& block = loop.exit != nullptr ? *loop.exit : *loop.header;
        const std::uint32_t last = code_[block.end - 1].opcode;
        checks[last == OpLoopMerge || last == OpSelectionMerge ? block.end - 1 : block.end] = &loop;
        ends[block.end] = &loop;
        if (loop.exit == nullptr || report_) renamed_[block.label] = newId();
    }
    const std::size_t decorations = lastDecoration();
    const std::size_t functions = firstFunction();
    for (std::size_t at = 0; at < code_.size(); ++at) {
        const SpirvInstruction& now = code_[at];
        if (at == functions) putGlobals();
        const auto check = checks.find(at);
        const Loop* checked = check == checks.end() ? nullptr : check->second;
        const bool headerLeaves = checked != nullptr && checked->exit == checked->header;
        if (checked != nullptr && !(headerLeaves && report_)) putCheck(*checked);
        if (const auto end = ends.find(at); end != ends.end()) {
            putExit(*end->second, now);
        } else if (now.opcode == OpEntryPoint) {
            std::vector<std::uint32_t> variables(std::begin(counters_), std::end(counters_));
            if (report_) variables.push_back(reported_);
            putEntryPoint(now, operand(now, 1), {}, variables);
        } else {
            const std::size_t begin = out_.size();
            keep(now);
            if (rolled.contains(at)) out_.back() &= ~std::uint32_t{LoopControlUnrollMask};
            const auto rename = [&](std::size_t word) {
                if (const auto found = renamed_.find(out_[word]); found != renamed_.end())
                    out_[word] = found->second;
            };
            if (now.opcode == OpPhi)
                for (std::size_t i = begin + 4; i < out_.size(); i += 2) rename(i);
            // A loop of one block: its second part goes back.
            if (checked != nullptr && now.opcode == OpLoopMerge && now.operands[1] == checked->header->label)
                rename(begin + 2);
        }
        // The block of an OpLoopMerge has no other fork.
        if (headerLeaves && report_) {
            const std::uint32_t next = newId();
            put(OpBranch, {next});
            put(OpLabel, {next});
            putCheck(*checked);
        }
        if (at == decorations && report_) putDecorations();
    }
    return ended();
}

void LoopLimiter::putDecorations() {
    slot_ = newId();
    put(OpDecorate, {slot_, DecorationBlock});
    put(OpMemberDecorate, {slot_, 0, DecorationOffset, 0});
    put(OpDecorate, {reported_, DecorationDescriptorSet, 0});
    put(OpDecorate, {reported_, DecorationBinding, report_->binding});
}

std::uint32_t LoopLimiter::constant(std::uint32_t value) {
    std::uint32_t& id = constants_[value];
    if (id == 0) put(OpConstant, {uint_, id = newId(), value});
    return id;
}

void LoopLimiter::putGlobals() {
    if (uint_ == 0) put(OpTypeInt, {uint_ = newId(), 32, 0});
    if (bool_ == 0) put(OpTypeBool, {bool_ = newId()});
    const std::uint32_t pointer = newId();
    put(OpTypePointer, {pointer, StorageClassPrivate, uint_});
    zero_ = constant(0);
    for (const std::uint32_t counter : counters_)
        put(OpVariable, {pointer, counter, StorageClassPrivate, zero_});
    constant(roundBudget);
    for (const Loop& loop : loops_) {
        if (loop.free) continue;
        constant(roundCost + static_cast<std::uint32_t>(loop.inside));
        if (loop.exit != nullptr) continue;
        const SpirvInstruction* type = definition(loop.header->returns);
        const bool returnsNothing = type != nullptr && type->opcode == OpTypeVoid;
        if (returnsNothing || nothing_.contains(loop.header->returns)) continue;
        put(OpConstantNull, {loop.header->returns, nothing_[loop.header->returns] = newId()});
    }
    if (!report_) return;
    slotPointer_ = newId();
    const std::uint32_t structPointer = newId();
    put(OpTypeStruct, {slot_, uint_});
    put(OpTypePointer, {structPointer, StorageClassStorageBuffer, slot_});
    put(OpVariable, {structPointer, reported_, StorageClassStorageBuffer});
    put(OpTypePointer, {slotPointer_, StorageClassStorageBuffer, uint_});
    for (const Loop& loop : loops_)
        if (!loop.free) constant(numbers_[&loop] = report_->number(loop.header->place));
}

// Computes whether one more round is within the budget, and so whether the fork at the block's end goes on.
// A loop's number is reported from a block of its own: with a report, the present block ends here, and the
// original's end follows in a new one.
void LoopLimiter::putCheck(const Loop& loop) {
    const std::uint32_t counter = counters_[loop.waits ? 1 : 0];
    const std::uint32_t before = made(OpLoad, uint_, {counter});
    const std::uint32_t cost = constant(roundCost + static_cast<std::uint32_t>(loop.inside));
    const std::uint32_t spentBefore = made(OpUGreaterThanEqual, bool_, {before, constant(roundBudget)});
    const std::uint32_t sum = made(OpIAdd, uint_, {before, cost});
    const std::uint32_t after = made(OpSelect, uint_, {spentBefore, before, sum}); // which so never wraps
    put(OpStore, {counter, after});
    within_ = made(OpULessThan, bool_, {after, constant(roundBudget)});
    if (loop.exit == nullptr) return;
    if (report_) {
        const std::uint32_t on = renamed_.at(loop.exit->label);
        const std::uint32_t spent = newId();
        const std::uint32_t silent = made(OpLogicalOr, bool_, {within_, spentBefore}); // the first is named
        put(OpSelectionMerge, {on, SelectionControlMaskNone});
        put(OpBranchConditional, {silent, on, spent});
        put(OpLabel, {spent});
        putReport(loop);
        put(OpBranch, {on});
        put(OpLabel, {on});
    }
    const std::uint32_t original = operand(code_[loop.exit->end], 0);
    if (loop.leavesIfTrue)
        condition_ = made(OpLogicalOr, bool_, {original, made(OpLogicalNot, bool_, {within_})});
    else
        condition_ = made(OpLogicalAnd, bool_, {original, within_});
}

void LoopLimiter::putReport(const Loop& loop) {
    if (!report_) return;
    const std::uint32_t slot = made(OpAccessChain, slotPointer_, {reported_, zero_});
    put(OpStore, {slot, constant(numbers_.at(&loop))});
}

// The end of the block with the check, which leaves the loop, too, once the budget is spent.
void LoopLimiter::putExit(const Loop& loop, const SpirvInstruction& terminator) {
    if (terminator.opcode != OpBranch && terminator.opcode != OpBranchConditional)
        fail("has a loop of an unusual form");
    if (loop.exit != nullptr) {
        const std::size_t begin = out_.size();
        keep(terminator);
        out_[begin + 1] = condition_;
        return;
    }
    const std::uint32_t on = renamed_.at(loop.header->label);
    const std::uint32_t spent = newId();
    put(OpBranchConditional, {within_, on, spent});
    put(OpLabel, {spent});
    putReport(loop);
    if (const auto nothing = nothing_.find(loop.header->returns); nothing != nothing_.end())
        put(OpReturnValue, {nothing->second});
    else
        put(OpReturn, {});
    put(OpLabel, {on});
    keep(terminator);
}

} // namespace

std::vector<std::uint32_t> limitLoops(std::span<const std::uint32_t> words, const SpecConstants& constants,
                                      const std::string& shader, const std::optional<LoopReport>& report) {
    return LoopLimiter(words, constants, shader).limited(report);
}

} // namespace lockstep::gpu
