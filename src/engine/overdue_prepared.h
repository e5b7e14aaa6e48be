// Prepared messages past the deadline of their producer: what waits for the next batch, and what a restart must find.
//
// When the deadline passes, the content of the message is read, because it contains the rule of the transaction, and a
// batch then creates a check message or settles it. Until that record is durable, the load cursor does not pass its
// row.
//
// Plain state of the engine, like its schedules; no I/O, no clock.
#pragma once

#include <cstddef>
#include <deque>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "message/message.h"
#include "store/store.h"

namespace duewheel {

struct OverduePreparedMessage {
    MessageId id = 0;
    Sequence log_position = 0;
    std::string record_body;  // of its whole record; empty: being read
};

class OverduePrepared {
  public:
    // Its deadline has passed: `at` is the deadline and the id.
    void meet(DuePosition at) {
        unsettled_.insert(at);
        due_.push_back(at.id);
    }
    // It found no space, and is tried again.
    void add_again(MessageId id) { due_.push_back(id); }
    // Its record is durable, or another one that changes or ends it.
    void settled(DuePosition at) { unsettled_.erase(at); }
    bool is_unsettled(DuePosition at) const { return unsettled_.contains(at); }
    // The load cursor may not pass this; the greatest time if there is no bound.
    DueMs bound_ms() const {
        return unsettled_.empty() ? std::numeric_limits<DueMs>::max() : unsettled_.begin()->due_ms;
    }

    bool has_to_read() const { return !due_.empty() && ready_.empty() && !is_reading_; }
    bool has_next() const { return !due_.empty(); }
    MessageId next() const { return due_.front(); }
    void pop_next() { due_.pop_front(); }

    // Those whose contents were read or are being read, in the order in which they were found.
    void prepare(OverduePreparedMessage message) { ready_.push_back(std::move(message)); }
    std::deque<OverduePreparedMessage>& in_preparation() { return ready_; }
    void begin_reading() { is_reading_ = true; }
    void end_reading() { is_reading_ = false; }

    bool has_ready() const { return !ready_.empty() && !is_reading_; }
    std::size_t ready_count() const { return ready_.size(); }
    const OverduePreparedMessage& next_ready() const { return ready_.front(); }
    OverduePreparedMessage take_ready() {
        OverduePreparedMessage message = std::move(ready_.front());
        ready_.pop_front();
        return message;
    }

    bool is_idle() const { return due_.empty() && ready_.empty(); }

  private:
    std::deque<MessageId> due_;
    std::deque<OverduePreparedMessage> ready_;
    bool is_reading_ = false;
    std::set<DuePosition> unsettled_;
};

}  // namespace duewheel
