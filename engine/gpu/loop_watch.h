// What became of loops that limitLoops() has made to end.
#pragma once

#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "engine/gpu/buffer.h"
#include "engine/gpu/error.h"

namespace lockstep::gpu {

/// The buffer in which a device's shaders write the number of a loop that ran out of rounds. Any thread.
class LoopWatch {
  public:
    explicit LoopWatch(Device& device) : report_(device, 4, Memory::readback, "loops that ran out") {}

    BufferView view() const { return report_.view(); }

    /// The number of the loop at "dense_naive.comp:23".
    std::uint32_t add(const std::string& place) {
        const std::lock_guard lock(mutex_);
        places_.push_back(place);
        return static_cast<std::uint32_t>(places_.size());
    }

    /// Throws LoopError once a loop of a completed submission has run out of rounds.
    void check() {
        std::uint32_t number = 0;
        std::memcpy(&number, report_.mapped().data(), sizeof(number));
        if (number == 0) return;
        const std::lock_guard lock(mutex_);
        const bool known = number <= places_.size() && !places_[number - 1].empty();
        throw LoopError((known ? places_[number - 1] + ": the" : std::string("A")) +
                        " loop was stopped after 65,000 rounds; it may have no end");
    }

  private:
    std::mutex mutex_;
    Buffer report_;
    std::vector<std::string> places_;
};

} // namespace lockstep::gpu
