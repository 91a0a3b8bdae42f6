// What the environment asks for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "tests/faults/cards.h"

namespace lockstep::faults {

class Plan {
  public:
    /// Reads LOCKSTEP_FAULT. Throws std::invalid_argument, naming the word, for a fault that does not exist:
    /// a test that misspells one must not pass.
    static Plan fromEnvironment();

    bool has(std::string_view fault) const { return faults_.contains(fault); }
    /// The number after the colon; 0 for a fault that was not asked for.
    std::uint64_t number(std::string_view fault) const;
    /// The card that devices pretend to be, if any.
    const Card* card() const { return card_; }
    /// Queues and families are the layer's, and all of them the driver's first one.
    bool pretendsQueues() const { return card_ != nullptr || has("second-queue"); }
    void setNumber(std::string_view fault, std::uint64_t number) { faults_[std::string(fault)] = number; }

  private:
    std::map<std::string, std::uint64_t, std::less<>> faults_;
    const Card* card_ = nullptr;
};

} // namespace lockstep::faults
