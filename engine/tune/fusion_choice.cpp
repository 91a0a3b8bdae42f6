#include "engine/tune/fusion_choice.h"

#include <iterator>
#include <vector>

#include "engine/net/names.h"
#include "engine/tune/comparison.h"

namespace lockstep {

void chooseFusions(StepFusions& fusions, KernelCache* cache, const std::string& key,
                   const std::function<double(std::uint64_t)>& stepMilliseconds, Tuning& tuning) {
    constexpr double worthwhile = 0.99; // of the time without
    constexpr double hopeless = 1.5;
    constexpr int rounds = 3;
    constexpr std::uint64_t steps = 8; // of a sample
    for (const Operation fusion : joinedOperations) {
        if (!fusions.possible(fusion)) continue;
        const std::string entry = concat("fusion ", name(fusion), key);
        if (const auto known = cache ? cache->find(entry) : std::nullopt) {
            fusions.set(fusion, known->usable());
            continue;
        }
        if (tuning.skipped()) continue;
        if (!tuning.progress().going()) tuning.beginLast(std::string(wholeTrainingStep));
        const auto time = [&](bool fused, std::uint64_t count) {
            fusions.set(fusion, fused);
            return stepMilliseconds(count);
        };
        time(true, 1); // compiles
        std::vector<double> least{time(false, 2), time(true, 2)};
        if (least[1] <= hopeless * least[0])
            least = leastInTurn(
                2, rounds, [&](std::size_t at) { return time(at == 1, steps); }, [] { return true; });
        fusions.set(fusion, least[1] < worthwhile * least[0]);
        if (cache) cache->remember(entry, {{}, fusions.on(fusion) ? least[1] : MeasuredKernel::unusable});
        tuning.tell([](TuningProgress& progress) { progress.done += 1.0 / std::size(joinedOperations); });
    }
    if (cache) cache->store();
}

} // namespace lockstep
