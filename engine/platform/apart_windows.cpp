#include "engine/platform/apart.h"

#include <new>

namespace lockstep::platform {

ApartOutcome runApart(const std::function<std::string()>& work, const ApartLimits&) {
    try {
        return {ApartEnd::finished, work()};
    } catch (const std::bad_alloc&) {
        return {ApartEnd::outOfMemory, {}};
    } catch (...) {
        return {ApartEnd::threw, {}};
    }
}

} // namespace lockstep::platform
