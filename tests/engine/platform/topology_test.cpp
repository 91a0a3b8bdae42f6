// Fast physical cores, counted in made-up descriptions of processors; what this machine tells of itself.
#include "engine/platform/topology.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "engine/cpu/cpu_info.h"
#include "engine/platform/processors.h"

using namespace lockstep;
using namespace lockstep::platform;

namespace {

namespace fs = std::filesystem;

/// A folder like /sys/devices/system/cpu.
class MadeUpProcessor {
  public:
    explicit MadeUpProcessor(const std::string& name)
        : folder_(fs::temp_directory_path() / ("lockstep_topology_test_" + name)) {
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    ~MadeUpProcessor() { fs::remove_all(folder_); }
    MadeUpProcessor(const MadeUpProcessor&) = delete;
    MadeUpProcessor& operator=(const MadeUpProcessor&) = delete;

    /// A core of `threads` siblings, numbered from the next free number on.
    void addCore(std::size_t threads, const std::string& speedFile, const std::string& speed) {
        const std::size_t first = count_;
        const std::string siblings = threads == 1
                                         ? std::to_string(first)
                                         : std::to_string(first) + "-" + std::to_string(first + threads - 1);
        for (; count_ < first + threads; ++count_) {
            const fs::path cpu = folder_ / ("cpu" + std::to_string(count_));
            write(cpu / "topology/thread_siblings_list", siblings);
            if (!speedFile.empty()) write(cpu / speedFile, speed);
        }
    }
    CoreCount cores() const {
        std::vector<std::size_t> all(count_);
        std::iota(all.begin(), all.end(), std::size_t{0});
        return cores(all);
    }
    CoreCount cores(const std::vector<std::size_t>& usable) const { return countCores(folder_, usable); }

  private:
    static void write(const fs::path& file, const std::string& text) {
        fs::create_directories(file.parent_path());
        std::ofstream(file) << text << "\n";
    }

    fs::path folder_;
    std::size_t count_ = 0;
};

constexpr const char* frequency = "cpufreq/cpuinfo_max_freq";

} // namespace

TEST_CASE("a hybrid processor: eight fast cores with two threads each, eight efficient ones") {
    MadeUpProcessor processor("hybrid");
    for (int core = 0; core < 8; ++core)
        processor.addCore(2, frequency, core < 2 ? "5800000" : "5500000"); // two are favoured
    for (int core = 0; core < 8; ++core) processor.addCore(1, frequency, "4300000");
    CHECK(processor.cores() == CoreCount{16, 8});
    CHECK(processor.cores({2, 3, 16, 17}) == CoreCount{3, 1});   // one fast core, two efficient ones
    CHECK(processor.cores({16, 17, 18, 19}) == CoreCount{4, 4}); // the fastest that there are
    CHECK(processor.cores({0, 2, 4, 17, 18, 19}) == CoreCount{6, 3});
}

TEST_CASE("capacities tell cores apart, too, and count before frequencies") {
    MadeUpProcessor processor("capacities");
    for (int core = 0; core < 2; ++core) processor.addCore(1, "cpu_capacity", "1024");
    for (int core = 0; core < 4; ++core) processor.addCore(1, "cpu_capacity", "446");
    CHECK(processor.cores() == CoreCount{6, 2});
}

TEST_CASE("a server's siblings share cores") {
    MadeUpProcessor processor("server");
    for (int core = 0; core < 16; ++core) processor.addCore(2, frequency, "3700000");
    CHECK(processor.cores() == CoreCount{16, 16});
    CHECK(processor.cores({0, 2, 4, 6}) == CoreCount{4, 4}); // a container's
    CHECK(processor.cores({0, 1, 2, 3}) == CoreCount{2, 2});
}

TEST_CASE("a single core, and systems that do not tell") {
    MadeUpProcessor single("single");
    single.addCore(1, "", "");
    CHECK(single.cores() == CoreCount{1, 1});
    MadeUpProcessor silent("silent");
    CHECK(silent.cores({0, 1, 2, 3}) == CoreCount{4, 4});
    CHECK(silent.cores({}) == CoreCount{1, 1});
    MadeUpProcessor broken("broken");
    for (int core = 0; core < 3; ++core) broken.addCore(2, frequency, core == 0 ? "none" : "");
    CHECK(broken.cores() == CoreCount{3, 3});
}

TEST_CASE("the processor at hand") {
    const CoreCount cores = usablePhysicalCores();
    CHECK(cores.fast >= 1);
    CHECK(cores.fast <= cores.physical);
    CHECK(cores.physical <= usableCores());
}

TEST_CASE("caches come with their size, the nearest first, and memory is larger than they are") {
    const std::vector<DataCache> caches = dataCaches();
    std::uint64_t largest = 0;
    for (const DataCache& cache : caches) {
        CHECK(cache.level >= 1);
        CHECK(cache.bytes >= 1024);
        largest = std::max(largest, cache.bytes);
    }
    CHECK(std::ranges::is_sorted(caches, {}, &DataCache::level));
    CHECK(machineMemory() > largest);
}
