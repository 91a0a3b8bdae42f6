// What was measured or compiled on a device, remembered between runs. A cache that is missing, damaged or not
// writable is never an error: the work is done again.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "engine/step/kernels.h"

namespace lockstep {

/// $LOCKSTEP_CACHE_DIR, else $XDG_CACHE_HOME/lockstep (if that is an absolute path), else ~/.cache/lockstep;
/// empty when there is no home either.
std::filesystem::path cacheFolder();

struct MeasuredKernel {
    ProductKernel kernel;
    /// In place of a time, also in the file: the kernel is wrong, or what was tried is slower than without.
    static constexpr double unusable = -1;

    double milliseconds = 0; ///< of one call (population: of a network's step), or `unusable`
    bool complete = true;    ///< all candidates were compared

    bool usable() const { return milliseconds >= 0; }
};

/// What was chosen and measured, by device (with its driver's version) and operation, in kernels.json:
/// kernels of products, layouts of populations (whose name is the rung), and whether whole steps are faster.
class KernelCache {
  public:
    explicit KernelCache(const gpu::Device& device);
    std::optional<MeasuredKernel> find(const std::string& operation) const;
    /// What is not `complete` is kept for people to look at, and not found.
    void remember(const std::string& operation, const MeasuredKernel& kernel);
    /// Writes what was remembered since the last call.
    void store();

  private:
    std::string identity_;
    std::map<std::string, MeasuredKernel> known_;
    bool changed_ = false;
};

/// The driver's compiled pipelines, in a file per device and driver, so that a machine's devices do not
/// overwrite each other's: read when a device is made with these options, and stored from it.
void loadPipelines(gpu::DeviceOptions& options);
void storePipelines(const gpu::Device& device);

} // namespace lockstep
