#include "engine/gpu/matrix_dialect.h"

#include <array>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>

#include <spirv/unified1/spirv.hpp>

namespace lockstep::gpu {

namespace {

using namespace spv;

// Not in the headers of Debian 12.
enum Khr : std::uint32_t {
    typeKhr = 4456,
    loadKhr = 4457,
    storeKhr = 4458,
    mulAddKhr = 4459,
    lengthKhr = 4460,
    capabilityKhr = 6022
};
enum class MatrixUse : std::uint32_t {
    left,
    right,
    sum
};                                                 // the specification's MatrixA, MatrixB, MatrixAccumulator
constexpr std::uint32_t allSigned = 1 | 2 | 4 | 8; // factors, sum and result are signed integers
constexpr std::uint32_t rowMajor = 0, columnMajor = 1;

constexpr std::size_t moduleBegin = 5; // behind the header
constexpr std::size_t boundWord = 3;   // of the header: one more than the largest id

constexpr std::string_view extensionNv = "SPV_NV_cooperative_matrix";
constexpr std::string_view extensionKhr = "SPV_KHR_cooperative_matrix";

class DialectChange {
  public:
    DialectChange(std::span<const std::uint32_t> words, const std::string& shader)
        : words_(words), shader_(shader) {}

    std::vector<std::uint32_t> changed() {
        each([this](std::uint32_t opcode, Operands operands) { learn(opcode, operands); });
        out_.assign(words_.begin(), words_.begin() + moduleBegin);
        each([this](std::uint32_t opcode, Operands operands) { write(opcode, operands); });
        return std::move(out_);
    }

  private:
    using Operands = std::span<const std::uint32_t>;

    [[noreturn]] void fail(const char* reason) const {
        throw std::runtime_error("shader '" + shader_ + "' " + reason);
    }

    template <class Visit> void each(Visit visit) const {
        for (std::size_t at = moduleBegin; at < words_.size();) {
            const std::size_t count = words_[at] >> 16;
            if (count == 0 || at + count > words_.size()) fail("is damaged: an instruction is cut off");
            visit(words_[at] & 0xFFFFu, words_.subspan(at + 1, count - 1));
            at += count;
        }
    }

    void require(Operands operands, std::size_t count) const {
        if (operands.size() < count) fail("is damaged: an instruction is too short");
    }

    void setUse(std::uint32_t value, MatrixUse use) {
        const auto type = typeOf_.find(value);
        if (type == typeOf_.end()) fail("multiplies a matrix of unknown type");
        const auto [known, isNew] = uses_.try_emplace(type->second, use);
        if (!isNew && known->second != use) fail("uses one type of matrix both as factor and as sum");
    }

    void learn(std::uint32_t opcode, Operands operands) {
        switch (opcode) {
        case OpName:
        case OpDecorate: return; // these begin with what they are about
        case OpTypeInt:
            require(operands, 3);
            if (operands[1] == 32 && operands[2] == 0) uint_ = operands[0];
            if (operands[2] == 1) signedTypes_.insert(operands[0]);
            return;
        case OpConstantTrue:
        case OpConstantFalse:
            require(operands, 2);
            flags_[operands[1]] = opcode == OpConstantTrue;
            return;
        case OpTypeCooperativeMatrixNV:
            require(operands, 5);
            components_[operands[0]] = operands[1];
            return;
        default: break;
        }
        if (operands.size() >= 2 && components_.contains(operands[0])) typeOf_[operands[1]] = operands[0];
        if (opcode != OpCooperativeMatrixMulAddNV) return;
        require(operands, 5);
        setUse(operands[2], MatrixUse::left);
        setUse(operands[3], MatrixUse::right);
        setUse(operands[4], MatrixUse::sum);
        setUse(operands[1], MatrixUse::sum);
    }

    void put(std::uint32_t opcode, std::initializer_list<std::uint32_t> first, Operands rest = {}) {
        out_.push_back(static_cast<std::uint32_t>(first.size() + rest.size() + 1) << 16 | opcode);
        out_.insert(out_.end(), first);
        out_.insert(out_.end(), rest.begin(), rest.end());
    }

    // Constants 0, 1 and 2, before the first type that needs them.
    void putNumbers() {
        if (numbers_[0] != 0) return;
        if (uint_ == 0) fail("has matrices, but no unsigned integers");
        for (std::uint32_t value = 0; value < numbers_.size(); ++value) {
            numbers_[value] = out_[boundWord]++;
            put(OpConstant, {uint_, numbers_[value], value});
        }
    }

    std::uint32_t order(std::uint32_t flag) const {
        const auto found = flags_.find(flag);
        if (found == flags_.end()) fail("stores matrices in an order that is no constant");
        return numbers_[found->second ? columnMajor : rowMajor];
    }

    void write(std::uint32_t opcode, Operands operands) {
        switch (opcode) {
        case OpCapability:
            require(operands, 1);
            return put(opcode, {operands[0] == CapabilityCooperativeMatrixNV ? std::uint32_t{capabilityKhr}
                                                                             : operands[0]});
        case OpExtension: return writeExtension(operands);
        case OpTypeCooperativeMatrixNV: {
            putNumbers();
            const auto use = uses_.find(operands[0]);
            return put(
                typeKhr,
                {operands[0], operands[1], operands[2], operands[3], operands[4],
                 numbers_[static_cast<std::size_t>(use == uses_.end() ? MatrixUse::sum : use->second)]});
        }
        case OpCooperativeMatrixLoadNV:
            require(operands, 5);
            return put(loadKhr, {operands[0], operands[1], operands[2], order(operands[4]), operands[3]},
                       operands.subspan(5));
        case OpCooperativeMatrixStoreNV:
            require(operands, 4);
            return put(storeKhr, {operands[0], operands[1], order(operands[3]), operands[2]},
                       operands.subspan(4));
        case OpCooperativeMatrixMulAddNV:
            if (signedTypes_.contains(components_[operands[0]]))
                return put(mulAddKhr, {}, withSigns(operands));
            return put(mulAddKhr, {}, operands);
        case OpCooperativeMatrixLengthNV: return put(lengthKhr, {}, operands);
        default: return put(opcode, {}, operands);
        }
    }

    Operands withSigns(Operands operands) {
        signed_.assign(operands.begin(), operands.end());
        signed_.push_back(allSigned);
        return signed_;
    }

    void writeExtension(Operands operands) {
        std::string name(operands.size() * 4, '\0');
        std::memcpy(name.data(), operands.data(), name.size());
        if (std::string_view(name.c_str()) != extensionNv) return put(OpExtension, {}, operands);
        std::array<std::uint32_t, extensionKhr.size() / 4 + 1> text{};
        std::memcpy(text.data(), extensionKhr.data(), extensionKhr.size());
        put(OpExtension, {}, text);
    }

    std::span<const std::uint32_t> words_;
    const std::string& shader_;
    std::uint32_t uint_ = 0;                            // the type
    std::set<std::uint32_t> signedTypes_;               // of integers
    std::map<std::uint32_t, bool> flags_;               // constants
    std::map<std::uint32_t, std::uint32_t> components_; // of the types of matrices
    std::map<std::uint32_t, std::uint32_t> typeOf_;     // of values that are matrices
    std::map<std::uint32_t, MatrixUse> uses_;           // by type
    std::array<std::uint32_t, 3> numbers_{};            // ids of 0, 1, 2
    std::vector<std::uint32_t> signed_;
    std::vector<std::uint32_t> out_;
};

} // namespace

std::vector<std::uint32_t> toKhrMatrices(std::span<const std::uint32_t> words, const std::string& shader) {
    if (words.size() < moduleBegin)
        throw std::runtime_error("shader '" + shader + "' is damaged: it has no header");
    return DialectChange(words, shader).changed();
}

} // namespace lockstep::gpu
