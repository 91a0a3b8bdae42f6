#include "engine/platform/messages.h"

namespace lockstep::platform {

bool waitForMessages(double) { return false; }

} // namespace lockstep::platform
