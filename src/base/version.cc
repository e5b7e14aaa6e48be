#include "base/version.h"

namespace duewheel {

const char* const kVersion = DUEWHEEL_VERSION;
const char* const kFullVersion = DUEWHEEL_VERSION DUEWHEEL_REVISION;

}  // namespace duewheel
