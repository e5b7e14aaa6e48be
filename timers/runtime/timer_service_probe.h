// Lets tests look inside a timer service.
#pragma once

#include <cstddef>
#include <mutex>

#include "runtime/timer_core.h"
#include <duewheel/timer_service.h>

namespace duewheel {

struct TimerServiceProbe {
    static void check_wheel(TimerService& service) {
        const std::lock_guard lock(service.core_->baton_);
        service.core_->wheel_.check();
    }
    // What is in the wheel, with cancelled ones that are not removed yet.
    static std::size_t filed(TimerService& service) {
        const std::lock_guard lock(service.core_->baton_);
        return service.core_->wheel_.size();
    }
    static bool lists_any_at_wall(TimerService& service) {
        const std::lock_guard lock(service.core_->baton_);
        return service.core_->at_wall_ != nullptr;
    }
};

}  // namespace duewheel
