#include <stdexcept>

#include <duewheel/timer_descriptor.h>

namespace duewheel {

TimerDescriptor::TimerDescriptor(TimerService& service) : service_(service), alarm_(service.clock().make_alarm()) {
    if (alarm_->descriptor() < 0) {
        throw std::invalid_argument("TimerDescriptor: the service's clock has no descriptors. Take a system's clock.");
    }
    service_.set_alarm(alarm_.get());
    service_.rest();
}

TimerDescriptor::~TimerDescriptor() {
    service_.set_alarm(nullptr);
}

std::size_t TimerDescriptor::advance() {
    alarm_->rung();
    const std::size_t fired = service_.advance();
    service_.rest();
    return fired;
}

}  // namespace duewheel
