#include "engine/run/energy.h"

#include <fstream>
#include <set>
#include <utility>

namespace lockstep {

namespace {

namespace fs = std::filesystem;

template <class T> std::optional<T> firstWord(const fs::path& file) {
    std::ifstream stream(file);
    T word{};
    if (stream >> word) return word;
    return std::nullopt;
}

/// NVIDIA's management library, as much of it as counts energy.
class Nvml {
  public:
    using Handle = void*;

    /// Empty: the library is missing, or knows no such card.
    ///   uuid   32 hexadecimal digits
    static std::function<std::optional<double>()> counterOf(const std::string& uuid,
                                                            const std::string& file) {
        const platform::Library library = platform::Library::open(file);
        if (!library || uuid.size() != 32) return {};
        const auto start = library.function<int (*)()>("nvmlInit_v2");
        const auto find = library.function<int (*)(const char*, Handle*)>("nvmlDeviceGetHandleByUUID");
        const auto count =
            library.function<int (*)(Handle, unsigned long long*)>("nvmlDeviceGetTotalEnergyConsumption");
        if (start == nullptr || find == nullptr || count == nullptr || start() != 0) return {};
        std::string name = "GPU-" + uuid;
        for (const std::size_t at : {12u, 17u, 22u, 27u}) name.insert(at, "-"); // 8-4-4-4-12 digits
        Handle card = nullptr;
        if (find(name.c_str(), &card) != 0) return {};
        return [count, card]() -> std::optional<double> {
            unsigned long long millijoules = 0;
            if (count(card, &millijoules) != 0) return std::nullopt;
            return 1e-3 * static_cast<double>(millijoules);
        };
    }
};

} // namespace

std::optional<double> processorJoules(const EnergySources& sources) {
    double sum = 0;
    std::set<std::string> counted; // some kernels offer a package twice: intel-rapl and intel-rapl-mmio
    std::error_code failure;
    for (fs::directory_iterator entry(sources.powercap, failure);
         !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
        const auto name = firstWord<std::string>(entry->path() / "name");
        if (!name || !name->starts_with("package")) continue; // cores and memory are parts of it
        if (!counted.insert(*name).second) continue;
        const auto microjoules = firstWord<double>(entry->path() / "energy_uj");
        if (!microjoules) return std::nullopt; // a part would be less than the truth
        sum += 1e-6 * *microjoules;
    }
    return counted.empty() ? std::nullopt : std::optional(sum);
}

EnergyMeter::EnergyMeter(const MachineInfo& machine, const EnergySources& sources) {
    if (machine.gpu && !machine.software)
        counter_ = Nvml::counterOf(machine.uuid, sources.nvml);
    else
        counter_ = [sources] { return processorJoules(sources); };
    if (counter_) last_ = counter_();
}

std::optional<double> EnergyMeter::joules() {
    if (!last_) return std::nullopt;
    const std::optional<double> now = counter_();
    if (!now || *now < *last_) { // a counter that began again at zero has lost count
        last_.reset();
        return std::nullopt;
    }
    used_ += *now - std::exchange(*last_, *now);
    return used_;
}

} // namespace lockstep
