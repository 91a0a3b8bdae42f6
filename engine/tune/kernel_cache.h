// What was measured or compiled on a device, remembered between runs in DeviceOptions::cacheFolder. A library
// writes nothing to a user's folders unless it is asked: useCache() asks. A cache that is missing, damaged or
// not writable is never an error: the work is done again.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "engine/step/kernels.h"

namespace lockstep {

/// $LOCKSTEP_CACHE_DIR, else $XDG_CACHE_HOME/lockstep (if that is an absolute path), else ~/.cache/lockstep;
/// empty when there is no home either.
std::filesystem::path cacheFolder();

/// A device that is made with these options will find its choices of kernels and its driver's compiled
/// pipelines in the folder. Choices are stored there as they are made, pipelines by storePipelines(). Each
/// device and driver has a file for its pipelines, so that a machine's devices do not overwrite each other's.
void useCache(gpu::DeviceOptions& options, std::filesystem::path folder = cacheFolder());
/// Stores the pipelines that the driver has compiled. Nothing without a folder.
void storePipelines(const gpu::Device& device);

struct MeasuredKernel {
    ProductKernel kernel;
    /// In place of a time, also in the file: the kernel is wrong, or what was tried is slower than without.
    static constexpr double unusable = -1;

    double milliseconds = 0; ///< of one call (population: of a network's step), or `unusable`
    bool complete = true;    ///< all candidates were compared

    bool usable() const { return milliseconds >= 0; }
};

/// What was chosen and measured, by device (with its driver's version) and operation: kernels of products,
/// layouts of populations (whose name is the rung), and whether whole steps are faster. In the folder's
/// kernels.json; without a folder, in memory as long as the process lives.
class KernelCache {
  public:
    explicit KernelCache(const gpu::Device& device);
    /// Where a device's choices are stored. Empty: nowhere.
    static std::filesystem::path file(const gpu::Device& device);
    std::optional<MeasuredKernel> find(const std::string& operation) const;
    /// What is not `complete` is kept for people to look at, and not found.
    void remember(const std::string& operation, const MeasuredKernel& kernel);
    /// Writes what was remembered since the last call.
    void store();

  private:
    using Choices = std::map<std::string, MeasuredKernel>; // by operation
    struct Memory;
    static Memory& memory();

    std::filesystem::path folder_;
    std::string identity_;
    Choices known_;
    bool changed_ = false;
};

} // namespace lockstep
