#include "engine/tune/fusion_choice.h"

#include <algorithm>
#include <iterator>

#include "engine/net/names.h"

namespace lockstep {

void chooseFusions(StepFusions& fusions, KernelCache* cache, const std::string& key,
                   const std::function<double(std::uint64_t)>& stepMilliseconds, Tuning& tuning) {
    constexpr double worthwhile = 0.99; // of the time without
    constexpr double hopeless = 1.5;
    const auto time = [&] { return std::min(stepMilliseconds(16), stepMilliseconds(16)); };
    double best = 0; // not measured
    for (const Operation fusion : joinedOperations) {
        if (!fusions.possible(fusion)) continue;
        const std::string entry = concat("fusion ", name(fusion), key);
        if (const auto known = cache ? cache->find(entry) : std::nullopt) {
            fusions.set(fusion, known->usable());
            continue;
        }
        if (tuning.skipped()) continue;
        if (!tuning.progress().going()) tuning.beginLast(std::string(wholeTrainingStep));
        if (best == 0) best = time();
        fusions.set(fusion, true);
        stepMilliseconds(1); // compiles
        const double few = stepMilliseconds(2);
        const double now = few > hopeless * best ? few : time();
        fusions.set(fusion, now < worthwhile * best);
        if (cache) cache->remember(entry, {{}, fusions.on(fusion) ? now : MeasuredKernel::unusable});
        best = std::min(best, now);
        tuning.tell([](TuningProgress& progress) { progress.done += 1.0 / std::size(joinedOperations); });
    }
    if (cache) cache->store();
}

} // namespace lockstep
