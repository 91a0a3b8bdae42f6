// What programs that rewrite a shader's SPIR-V have in common: its instructions, and a copy that grows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <spirv/unified1/spirv.hpp>

namespace lockstep::gpu {

struct SpirvInstruction {
    std::uint32_t opcode = 0;
    std::span<const std::uint32_t> operands;
    std::span<const std::uint32_t> words; ///< with the opcode
};

class SpirvRewriter {
  protected:
    /// `words` and `shader`, its name for messages, outlive this. Throws std::runtime_error for a module
    /// whose instructions do not end where it does.
    SpirvRewriter(std::span<const std::uint32_t> words, const std::string& shader)
        : words_(words), shader_(shader) {
        if (words.size() < headerWords) fail("is damaged");
        bound_ = words[3];
        for (std::size_t at = headerWords; at < words.size();) {
            const std::size_t length = words[at] >> 16;
            if (length == 0 || at + length > words.size()) fail("is damaged");
            const auto all = words.subspan(at, length);
            code_.push_back({all[0] & 0xFFFFu, all.subspan(1), all});
            at += length;
        }
    }
    ~SpirvRewriter() = default;

    [[noreturn]] void fail(const std::string& reason) const {
        throw std::runtime_error("shader '" + shader_ + "' " + reason);
    }
    /// What an instruction makes; type 0: it has none.
    struct Result {
        std::uint32_t type = 0, id = 0;
    };
    std::optional<Result> resultOf(const SpirvInstruction& now) const {
        // Cooperative matrices of Khronos, not in the headers of Debian 12: type, load, product, length.
        const bool khrType = now.opcode == 4456;
        bool has = khrType, typed = now.opcode == 4457 || now.opcode == 4459 || now.opcode == 4460;
        if (!khrType && !typed) spv::HasResultAndType(static_cast<spv::Op>(now.opcode), &has, &typed);
        if (typed) return Result{operand(now, 0), operand(now, 1)};
        if (has) return Result{0, operand(now, 0)};
        return std::nullopt;
    }
    /// Where in the text the instructions are that are read now: "dense_naive.comp, line 23". Call for each.
    const std::string& placeOf(const SpirvInstruction& now) {
        if (now.opcode == spv::OpString) {
            operand(now, 1);
            const auto words = std::span(now.operands).subspan(1);
            const std::string_view text(reinterpret_cast<const char*>(words.data()), words.size_bytes());
            files_[now.operands[0]] = text.substr(0, text.find('\0'));
        }
        if (now.opcode == spv::OpLine)
            place_ = files_[operand(now, 0)] + ":" + std::to_string(operand(now, 1));
        return place_;
    }
    std::uint32_t operand(const SpirvInstruction& of, std::size_t index) const {
        if (index >= of.operands.size()) fail("is damaged: an instruction is cut off");
        return of.operands[index];
    }

    // The copy, which begins with the header.
    void begin() { out_.assign(words_.begin(), words_.begin() + headerWords); }
    std::vector<std::uint32_t> ended() {
        out_[3] = bound_;
        return std::move(out_);
    }
    void keep(const SpirvInstruction& old) { out_.insert(out_.end(), old.words.begin(), old.words.end()); }
    std::uint32_t newId() { return bound_++; }
    void put(std::uint32_t opcode, std::initializer_list<std::uint32_t> operands) {
        out_.push_back((static_cast<std::uint32_t>(operands.size()) + 1) << 16 | opcode);
        out_.insert(out_.end(), operands);
    }
    /// An instruction with a result, whose id is returned.
    std::uint32_t made(std::uint32_t opcode, std::uint32_t type, std::initializer_list<std::uint32_t> rest) {
        const std::uint32_t id = newId();
        out_.push_back((static_cast<std::uint32_t>(rest.size()) + 3) << 16 | opcode);
        out_.push_back(type);
        out_.push_back(id);
        out_.insert(out_.end(), rest);
        return id;
    }
    /// The entry point with further variables. From SPIR-V 1.4 on it lists all of them, before that only its
    /// inputs and outputs.
    void putEntryPoint(const SpirvInstruction& old, std::uint32_t function,
                       const std::vector<std::uint32_t>& inputs, const std::vector<std::uint32_t>& others) {
        constexpr std::uint32_t version14 = 0x00010400;
        const std::size_t start = out_.size();
        keep(old);
        out_[start + 2] = function;
        out_.insert(out_.end(), inputs.begin(), inputs.end());
        if (words_[1] >= version14) out_.insert(out_.end(), others.begin(), others.end());
        out_[start] = static_cast<std::uint32_t>(out_.size() - start) << 16 | old.opcode;
    }
    /// Where new decorations go (after this instruction) and new types, constants and variables (before it).
    std::size_t lastDecoration() const {
        std::size_t last = 0;
        for (std::size_t at = 0; at < code_.size(); ++at)
            if (code_[at].opcode == spv::OpDecorate || code_[at].opcode == spv::OpMemberDecorate) last = at;
        return last;
    }
    std::size_t firstFunction() const {
        const auto found =
            std::ranges::find(code_, std::uint32_t{spv::OpFunction}, &SpirvInstruction::opcode);
        return static_cast<std::size_t>(found - code_.begin());
    }

    static constexpr std::size_t headerWords = 5;
    std::span<const std::uint32_t> words_;
    const std::string& shader_;
    std::vector<SpirvInstruction> code_;
    std::vector<std::uint32_t> out_;

  private:
    std::uint32_t bound_ = 0;
    std::map<std::uint32_t, std::string> files_; // names, by id
    std::string place_;
};

} // namespace lockstep::gpu
