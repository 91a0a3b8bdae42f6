// What a machine does at best: the roof that every kernel's speed is compared with.
#pragma once

#include <atomic>

#include "engine/gpu/buffer.h"
#include "engine/gpu/device.h"
#include "engine/step/kernels.h"
#include "engine/step/lane_spec.h"

namespace lockstep::demos {

/// Measured, not read off a data sheet. 0: not measured, or the machine has none.
struct Roof {
    double gflops = 0;             ///< fused multiply-adds in registers, fp32
    double gigabytesPerSecond = 0; ///< a copy within the machine's memory, read and written
    double matrixGflops = 0;       ///< products of fp16 tiles in registers with fp32 sums, by matrix units
    double productGflops = 0;      ///< not a roof: fastestProduct(), for comparison

    bool measured() const { return gflops > 0 && gigabytesPerSecond > 0; }
    /// Operations per byte from which on arithmetic is the limit, not memory.
    double ridge() const { return gflops / gigabytesPerSecond; }
    /// The limit of a rung's arithmetic. fp16 operands alone do not raise it: sums are fp32.
    double gflopsFor(Rung rung) const {
        return rung == Rung::matrix && matrixGflops > 0 ? matrixGflops : gflops;
    }
};

/// Billions of operations per second of a kernel that keeps everything in registers
/// (shaders/roof/roof*.comp): its dispatches grow until they fill the device; the best of half a second
/// counts. With `rough`, of fewer: the work is the same, so that it finds the same or a little less.
///   operations   of one invocation in one round
///   bytes        that an invocation writes
double registerRate(gpu::Device& device, const gpu::Kernel<shared::RoofParams>& kernel, double operations,
                    std::uint64_t bytes, bool rough = false);

/// Bytes of each of the two buffers of copyRate(): more than most caches hold.
std::uint64_t copyBytes(gpu::Device& device);
/// Gigabytes per second, each counted once, that the device's queue copies between two buffers: the best of
/// half a second. With `rough`, of fewer rounds with the same buffers.
double copyRate(gpu::Device& device, gpu::Memory from, gpu::Memory to, bool rough = false);

/// Billions of operations per second in products of fp16 tiles with fp32 sums, or of int8 tiles with int32
/// sums, by the device's matrix units; 0: it has none for them.
double matrixRoof(gpu::Device& device, Kernels& kernels, bool int8, bool rough = false);

/// The roof of a Vulkan device, in submissions of milliseconds. With `rough` it takes a fraction of the time
/// and comes out a little too low: for tests and pictures whose numbers are masked.
Roof measureRoof(gpu::Device& device, Kernels& kernels, bool rough = false);

/// GFLOP/s of the fastest right kernel on a large square product. Takes seconds, in submissions of
/// milliseconds; `cancelled` becoming true ends it early, with what it has.
double fastestProduct(gpu::Device& device, Kernels& kernels, const std::atomic<bool>* cancelled = nullptr,
                      bool rough = false);

/// The roof of the processor with that many threads.
Roof measureCpuRoof(std::size_t threads);

} // namespace lockstep::demos
