// What a Vulkan device does at best: the roof that every kernel's speed is compared with.
#pragma once

#include <atomic>

#include "engine/gpu/device.h"
#include "engine/step/kernels.h"

namespace lockstep::demos {

/// Measured, not read off a data sheet: the fastest right kernel on a large square product, and a copy within
/// the device's memory (read and written bytes). 0: not measured.
struct Roof {
    double gflops = 0;
    double gigabytesPerSecond = 0;

    bool measured() const { return gflops > 0 && gigabytesPerSecond > 0; }
    /// Operations per byte from which on arithmetic is the limit, not memory.
    double ridge() const { return gflops / gigabytesPerSecond; }
};

/// Takes seconds, in submissions of milliseconds. `cancelled` becoming true ends it early, with what it has.
/// `rough`, it takes a fraction of that, on a product too small to be the roof: where nobody reads the
/// number.
Roof measureRoof(gpu::Device& device, Kernels& kernels, const std::atomic<bool>* cancelled = nullptr,
                 bool rough = false);

} // namespace lockstep::demos
