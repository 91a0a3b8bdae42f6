// Counters of energy: of processors in a folder that looks like powercap's, of cards through a library that
// looks like NVML.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include "engine/run/energy.h"

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

struct Powercap {
    fs::path path = fs::temp_directory_path() / ("lockstep-powercap-" + std::to_string(::getpid()));
    ~Powercap() { fs::remove_all(path); }
    void write(const char* domain, const char* name, double joules) const {
        fs::create_directories(path / domain);
        std::ofstream(path / domain / "name") << name << "\n";
        std::ofstream(path / domain / "energy_uj") << static_cast<std::uint64_t>(1e6 * joules) << "\n";
    }
    EnergySources sources() const { return {.powercap = path, .nvml = LOCKSTEP_FAKE_NVML}; }
};

} // namespace

TEST_CASE("a processor's energy is that of its packages, and a meter counts from its beginning") {
    const Powercap folder;
    CHECK_FALSE(processorJoules(folder.sources()));
    folder.write("intel-rapl:0", "package-0", 100);
    folder.write("intel-rapl:1", "package-1", 50);
    folder.write("intel-rapl:0:0", "core", 70); // a part of the first package
    CHECK(processorJoules(folder.sources()).value_or(0) == doctest::Approx(150));
    EnergyMeter meter({}, folder.sources());
    CHECK(meter.joules().value_or(-1) == 0);
    folder.write("intel-rapl:0", "package-0", 120);
    CHECK(meter.joules().value_or(0) == doctest::Approx(20));
    folder.write("intel-rapl:1", "package-1", 55);
    CHECK(meter.joules().value_or(0) == doctest::Approx(25));
    folder.write("intel-rapl:0", "package-0", 1); // it has begun again
    CHECK_FALSE(meter.joules());
    CHECK_FALSE(meter.joules());
    const MachineInfo software{.device = "llvmpipe", .gpu = true, .software = true};
    CHECK(EnergyMeter(software, folder.sources()).joules().value_or(-1) == 0);
    fs::remove(folder.path / "intel-rapl:1" / "energy_uj"); // not for everybody to read
    CHECK_FALSE(processorJoules(folder.sources()));
}

TEST_CASE("a card's energy is asked of the management library, by the card's UUID") {
    const Powercap folder;
    const MachineInfo card{.device = "Card", .uuid = "0123456789abcdef0123456789abcdef", .gpu = true};
    EnergyMeter meter(card, folder.sources());
    CHECK(meter.joules().value_or(0) == doctest::Approx(2.5)); // more with each call
    CHECK(meter.joules().value_or(0) == doctest::Approx(5));
    MachineInfo other = card;
    other.uuid[0] = '1';
    CHECK_FALSE(EnergyMeter(other, folder.sources()).joules());
    CHECK_FALSE(EnergyMeter(card, {.powercap = folder.path, .nvml = "libnowhere.so"}).joules());
}
