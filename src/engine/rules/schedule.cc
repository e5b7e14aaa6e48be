#include "engine/rules/schedule.h"

#include <chrono>

#include <duewheel/jitter.h>

namespace duewheel {

DueMs Schedule::due_of(DueMs nominal_ms) const {
    const Jitter jitter{std::chrono::milliseconds(state.rule.jitter_ms), 0};
    const Instant nominal(std::chrono::milliseconds{nominal_ms});
    return with_jitter(nominal, name_space() + "/" + name(), jitter).time_since_epoch().count();
}

}  // namespace duewheel
