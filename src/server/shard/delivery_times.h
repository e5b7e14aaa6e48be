// How late the messages of a shard were delivered, and how long they had waited before they were due.
#pragma once

#include <cstdint>

#include "engine/commands/command.h"
#include "engine/commands/lateness.h"
#include "port/lateness_history.h"

namespace duewheel {

class DeliveryTimes {
  public:
    // `now_us` is by the clock and not by the engine's time `now`, which is the start of the iteration in whole
    // milliseconds.
    void measure(const LeaseAnswer& delivery, DueMs now, std::int64_t now_us) {
        if (delivery.messages.empty()) return;
        LatenessHistory::Deliveries deliveries =
            history_.deliver(now, {delivery.name_space, delivery.queue}, delivery.messages.size());
        for (const Delivered& message : delivery.messages) {
            const std::int64_t late_us = now_us - message.late_from_ms * 1000;
            lateness_.record(now, late_us);
            wait_.record(now, message.wait_ms * 1000);
            deliveries.record(late_us / 1000, message.wait_ms);
        }
    }

    DeliveryLevels recent(DueMs now) const { return {lateness_.recent(now), wait_.recent(now)}; }
    const LatenessHistory& history() const { return history_; }
    const Histogram& lateness_us() const { return lateness_.all_us(); }
    const Histogram& wait_us() const { return wait_.all_us(); }

  private:
    Durations lateness_;  // of messages as they are delivered
    Durations wait_;      // before that
    LatenessHistory history_;
};

}  // namespace duewheel
